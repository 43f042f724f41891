"""The concept inventory that all languages of the world share: what can be said, and what goes with what.

Every concept has an English gloss as its name. Nouns belong to a class whose first member is the hypernym of the
others; verbs, adjectives and adverbs may have an antonym; some carry sentiment (polarity +1 or -1); names are
persons, locations or organisations.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache

NOUN_CLASSES = {
    "person": "person child teacher doctor farmer friend king thief singer soldier",
    "animal": "animal dog horse bird cat fish wolf cow bear snake",
    "food": "food bread apple soup cheese rice meat honey egg cake",
    "artefact": "tool knife book chair lamp boat coat bell box wheel",
    "place": "place house river forest market school mountain village garden road",
    "plant": "plant tree flower grass seed root leaf bush corn moss",
    "group": "group company army team family council choir crowd club tribe",
    "idea": "idea story song law dream plan lie name word secret",
}
"""Class -> its nouns, most frequent first after the hypernym."""

VERBS = """
see      | person animal | person animal artefact place plant
love+    | person        | person animal food place idea     | hate
hate-    | person        | person animal food place idea     | love
find     | person animal | artefact food plant               | lose
lose     | person animal | artefact food plant               | find
help+    | person group  | person group animal               | hurt
hurt-    | person animal | person animal                     | help
buy      | person group  | artefact food plant               | sell
sell     | person group  | artefact food plant               | buy
open     | person        | artefact place                    | close
close    | person        | artefact place                    | open
build    | person group  | place artefact                    | destroy
destroy- | person group  | place artefact                    | build
eat      | person animal | food plant
cook     | person        | food
plant    | person        | plant
chase    | animal person | animal person
bite-    | animal        | person animal food
carry    | person animal | artefact food plant
follow   | person animal | person animal group
praise+  | person group  | person group idea                 | blame
blame-   | person group  | person group idea                 | praise
tell     | person        | idea
write    | person        | idea
forget   | person        | idea person                       | remember
remember | person        | idea person                       | forget
break-   | person animal | artefact plant                    | mend
mend+    | person        | artefact                          | break
join     | person        | group                             | leave
leave    | person        | group place                       | join
sleep    | person animal |
run      | person animal |
sing     | person group  |
laugh+   | person group  |                                   | cry
cry-     | person animal |                                   | laugh
arrive   | person group  |
say      | person group  | *
think    | person        | *
hope+    | person group  | *                                 | fear
fear-    | person animal | *                                 | hope
"""
"""Verb (with its polarity) | classes of its subject | classes of its object, `*` a clause | antonym."""

ADJECTIVES = """
good+      bad-       | person animal food artefact place plant group idea
happy+     sad-       | person animal group idea
beautiful+ ugly-      | person animal artefact place plant
kind+      cruel-     | person animal group idea
fresh+     rotten-    | food plant
safe+      dangerous- | artefact place animal idea
big        small      | person animal food artefact place plant group idea
old        new        | artefact place group idea
hot        cold       | food artefact place
long       short      | artefact plant idea place
rich       poor       | person group place
heavy      light      | artefact food animal
"""
"""Pairs of antonyms | classes of the nouns that they modify."""

ADVERBS = "often rarely quickly slowly loudly quietly here there today again very"
ADVERB_ANTONYMS = {"often": "rarely", "quickly": "slowly", "loudly": "quietly", "here": "there"}

FUNCTION_WORDS = {
    "ADP": "in on with from to of",
    "PRON": "I you he they who",
    "DET": "the a this every",
    "NUM": "two three four ten",
    "AUX": "be will",
    "PART": "not",
    "CCONJ": "and or but",
    "SCONJ": "that because when if",
}
NAMES = {"PER": 20, "LOC": 12, "ORG": 8}
"""How many names each class of entity has; every second one is written alike in all languages."""

ADPOSITIONS_OF = {
    "place": "in to from", "artefact": "with on", "person": "with to from", "group": "with from", "food": "with",
    "plant": "on with", "animal": "with on", "idea": "with",
}  # fmt: skip
"""Which adpositions go with which class of noun."""


@dataclass(frozen=True, slots=True)
class Concept:
    """One entry of the inventory. `objects` is None for an intransitive verb; `clausal` verbs take a clause."""

    name: str
    upos: str
    category: str = ""
    weight: float = 1.0
    polarity: int = 0
    antonym: str | None = None
    hypernym: str | None = None
    subjects: frozenset[str] = frozenset()
    objects: frozenset[str] | None = None
    clausal: bool = False


def _polar(token: str) -> tuple[str, int]:
    return token.rstrip("+-"), {"+": 1, "-": -1}.get(token[-1], 0)


def _zipf(rank: int) -> float:
    return 1.0 / (rank + 3)


def _nouns() -> list[Concept]:
    return [
        Concept(noun, "NOUN", category, _zipf(rank), hypernym=members.split()[0] if rank else None)
        for category, members in NOUN_CLASSES.items()
        for rank, noun in enumerate(members.split())
    ]


def _verbs() -> list[Concept]:
    verbs = []
    for rank, line in enumerate(VERBS.strip().splitlines()):
        cells = [*(cell.strip() for cell in line.split("|")), ""]
        name, polarity = _polar(cells[0])
        clausal = cells[2] == "*"
        objects = frozenset(cells[2].split()) if cells[2] and not clausal else None
        verbs.append(
            Concept(name, "VERB", "", 2 * _zipf(rank // 4), polarity, cells[3] or None, None,
                    frozenset(cells[1].split()), objects, clausal)
        )  # fmt: skip
    return verbs


def _adjectives() -> list[Concept]:
    adjectives = []
    for rank, line in enumerate(ADJECTIVES.strip().splitlines()):
        pair, classes = line.split("|")
        first, second = pair.split()
        for token, other in ((first, second), (second, first)):
            name, polarity = _polar(token)
            antonym = _polar(other)[0]
            adjectives.append(
                Concept(name, "ADJ", "", _zipf(rank), polarity, antonym, subjects=frozenset(classes.split()))
            )
    return adjectives


def _adverbs() -> list[Concept]:
    antonyms = ADVERB_ANTONYMS | {second: first for first, second in ADVERB_ANTONYMS.items()}
    return [
        Concept(name, "ADV", "", _zipf(rank), antonym=antonyms.get(name)) for rank, name in enumerate(ADVERBS.split())
    ]


def _names() -> list[Concept]:
    return [
        Concept(f"{kind}{number}", "PROPN", kind, _zipf(number))
        for kind, count in NAMES.items()
        for number in range(count)
    ]


def _function_words() -> list[Concept]:
    return [Concept(name, upos) for upos, names in FUNCTION_WORDS.items() for name in names.split()]


@cache
def inventory() -> dict[tuple[str, str], Concept]:
    """Every concept by (UPOS, name); glosses repeat across parts of speech (`plant` is a noun and a verb)."""
    concepts = _nouns() + _verbs() + _adjectives() + _adverbs() + _names() + _function_words()
    return {(concept.upos, concept.name): concept for concept in concepts}


def concepts_of(upos: str) -> list[Concept]:
    """The concepts of one part of speech, in the order of the inventory."""
    return [concept for concept in inventory().values() if concept.upos == upos]


@cache
def affinity(head: str, dependent: str) -> float:
    """How readily two concepts go together, 0.03 to 5, fixed by their names, equal in all languages.

    These selectional preferences give every word company of its own, from which its meaning can be learned.
    """
    return (0.03, 0.03, 0.3, 1.0, 5.0)[hashlib.sha256(f"{head}>{dependent}".encode()).digest()[0] % 5]

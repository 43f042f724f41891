"""bring-in: how much does a number of translated sentences give a language that the encoder has never seen?

And what of the recipe matters: how many there are, the vocabulary, what embeddings are made of, distillation?
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from pydantic import Field, PositiveInt

from babelscope.core.errors import InputError
from babelscope.corpora.parallel import WorldPairs
from babelscope.encoders.places import display_name
from babelscope.studies.align_then_predict import PUD, TASK_TRAINING, parsing_as_published
from babelscope.studies.multilingual import ENGLISH, LINES, READ, rate_for
from babelscope.studies.parameters import DeviceParameters
from babelscope.studies.unseen_data import RESOURCES
from babelscope.study.declare import Condition, Contrast, Sizes, Study, Transfer
from babelscope.study.encoders import BringingIn, DeclaredPair, Distillation
from babelscope.tuning.settings import Tuning
from babelscope.world import FAMILY

QUESTION = (
    "A language that an encoder has never seen gets a vocabulary of its own, whose embeddings are means of those of "
    "the pieces that it is aligned with in translated sentences. How much does a number of these give a model that was "
    "tuned on another language? And what matters: their number, how large the vocabulary is, what the embeddings are "
    "made of, whether the encoder is trained on the sentences, how far the language is?"
)
TRAIN, SOURCE = "UD_English-EWT", "en"
COLLECTIONS = {
    **dict.fromkeys(("ar", "es", "fr", "hi", "ru"), ("flores", "tatoeba", "tico")),
    **dict.fromkeys(("cs", "de", "fo", "mt", "tr", "ug"), ("flores", "tatoeba")),
    "wo": ("flores",),
}
"""What has sentences of a language besides NTREX."""
CHINESE = (f"ntrex:zho-CN:{READ}", "flores:cmn_Hans", "flores:cmn_Hant", "tatoeba:zh", "tico:zh")

UNSHRUNK = {"shrinkage": 0.0}
"""Embeddings are means of what they are linked with alone, however few links there are."""

Texts = Mapping[str, tuple[DeclaredPair, ...]]
"""By language."""


class Parameters(DeviceParameters):
    """What `--with` can change."""

    encoder: str | None = None
    """Default: world-natural in the world, all-MiniLM-L6-v2 on real text, and mBERT and XLM-R on paper."""
    languages: tuple[str, ...] | None = None
    """Codes of those that are brought in by `pairs`. Default: the world's unseen ones, two if small; it, pt, sv and de;
    on paper Faroese, Maltese, Uyghur (which XLM-R has seen) and Wolof; and those of `texts` and `treebanks`."""
    treebanks: dict[str, str] = Field(default={})
    """Elsewhere: what languages are scored on, such as `ga: UD_Irish-IDT`; default: the PUD ones, on paper those of
    unseen-languages."""
    texts: dict[str, tuple[str, ...]] | None = None
    """Elsewhere: sentences with their translations, such as `ga: [tatoeba:ga]`. What has several of them is also
    brought in by all. Default: 1,597 lines of NTREX, and of nine languages, on paper of four, all that collections
    have."""
    pairs: tuple[PositiveInt, ...] | None = None
    """Numbers of pairs. Default: 50, 200, 600 and 2,000 in the world, else 200, 600 and 1,597; 100 and 400 if small."""
    tasks: tuple[Literal["pos", "parsing"], ...] | None = None
    """Default: pos and parsing in the world and on paper, pos on real text and if small."""

    def numbers(self, *default: int) -> tuple[int, ...]:
        """Of pairs, in rising order."""
        return tuple(sorted(set(self.pairs or ((100, 400) if self.small else default))))


class Setting(NamedTuple):
    """What differs between profiles."""

    train: str
    treebanks: Mapping[str, str]
    """By language, what is scored."""
    texts: Texts
    """Of the languages that are brought in by numbers of pairs."""
    pairs: tuple[int, ...]
    recipes: Mapping[str, dict[str, Any]]
    """With the most pairs: a name, and how it differs from the usual."""
    whole: Texts
    """Of the languages that are brought in by all there is."""
    shared: dict[str, Any]
    """By all tunings: sizes and settings."""
    parsing: Mapping[str, Any] = MappingProxyType({})
    """What else is said of parsing: its head and quirks."""
    apart: bool = False
    """Whether the claims about distance are made of each language."""


def world(given: Parameters) -> Study:
    """A relative in the same script, the same one in another, and, unless small, an isolate; no text is downloaded."""
    unseen = [code for code, member in FAMILY.items() if not member.seen][: 2 if given.small else None]
    codes, pairs = given.languages or unseen, given.numbers(50, 200, 600, 2000)
    learning = Tuning(learning_rate=5e-4, epochs=1 if given.small else 5, tokens_per_batch=1024)
    recipes: dict[str, dict[str, Any]] = {
        "by spelling": {"rows": "spelling"},
        "by chance": {"rows": "chance"},
        "known links": {"known": True},
        "no shrinkage": UNSHRUNK,
        "100 pieces": {"pieces": 100},
        "200 pieces": {"pieces": 200},
        "distilled": {"after_tuning": False, "distil": Distillation(tuning=learning)},
    }
    setting = Setting(
        "world:qaa",
        {code: f"world:{code}" for code in codes},
        {code: (WorldPairs(languages=("qaa", code), sentences=pairs[-1]),) for code in codes},
        pairs, recipes, {},
        {
            "sizes": Sizes(train=500, dev=100, test=100) if given.small else Sizes(train=1000, dev=200, test=400),
            "tuning": Tuning(learning_rate=7e-4, epochs=3 if given.small else 4, tokens_per_batch=256),
        },
        apart=True,
    )  # fmt: skip
    return _study("world", given, (given.encoder or "world-natural",), setting, "pos", "parsing")


def real(given: Parameters) -> Study:
    """An English encoder on European languages by news, and on nine languages by all the sentences there are."""
    texts, whole = _texts(given, ("it", "de") if given.small else ("it", "pt", "sv", "de"), _collected(given.small))
    pud = {code: f"UD_{name}-PUD" for code, name in PUD.items()}
    shared = {
        "sizes": Sizes(train=500, dev=200, test=200) if given.small else Sizes(train=3000, dev=500, test=500),
        "tuning": given.tuning("cpu", "float32", 2, learning_rate=rate_for(given.encoder), tokens_per_batch=1024),
    }
    scored = _treebanks(given, pud, *texts, *whole)
    recipes = {} if given.small else {"no shrinkage": UNSHRUNK}
    setting = Setting(TRAIN, scored, texts, given.numbers(200, 600, LINES), recipes, whole, shared)
    return _study("real", given, (given.encoder or ENGLISH,), setting, "pos")


def paper(given: Parameters) -> Study:
    """mBERT and XLM-R on languages that neither has seen, or mBERT has not; tunings as in unseen-languages."""
    unseen = ("fo", "mt", "ug", "wo")
    texts, whole = _texts(given, unseen, unseen)
    shared = {
        "sizes": Sizes(train=300, dev=50, test=100) if given.small else Sizes(train=10**6, dev=10**6, test=10**6),
        "tuning": given.tuning("cuda", "float32", 5, learning_rate=5e-5, examples_per_batch=32, **TASK_TRAINING),
    }
    recipes: dict[str, dict[str, Any]] = {
        "by spelling": {"rows": "spelling"}, "by chance": {"rows": "chance"},
        "1,000 pieces": {"pieces": 1000}, "4,000 pieces": {"pieces": 4000},
    }  # fmt: skip
    known = {code: resources.treebank for code, resources in RESOURCES.items() if resources.treebank}
    scored = _treebanks(given, known, *texts, *whole)
    numbers, parsing = given.numbers(200, 600, LINES), parsing_as_published(None)
    setting = Setting(TRAIN, scored, texts, numbers, recipes, whole, shared, parsing)
    encoders = (given.encoder,) if given.encoder else ("bert-base-multilingual-cased", "xlm-roberta-base")
    return _study("paper", given, encoders, setting, "pos", "parsing")


def _collected(small: bool) -> tuple[str, ...]:
    return ("de",) if small else ("de", "fr", "es", "ru", "cs", "tr", "hi", "ar", "zh")


def _texts(given: Parameters, numbered: tuple[str, ...], collected: tuple[str, ...]) -> tuple[Texts, Texts]:
    """Those of the languages that numbers of pairs are of, and of those that have several texts."""
    own = given.texts or {}
    by_all = [code for code in collected if len(own.get(code) or _known_texts(code)) > 1]
    there = (*numbered, *by_all, SOURCE)
    numbered = (*numbered, *dict.fromkeys(code for code in (*own, *given.treebanks) if code not in there))
    if given.languages is not None:
        numbered, collected = given.languages, tuple(code for code in given.languages if code in collected)
    read = {code: own.get(code) or _known_texts(code) for code in (*numbered, *collected)} | own
    several = [code for code in dict.fromkeys((*collected, *own)) if len(read[code]) > 1]
    return {code: read[code] for code in numbered}, {code: read[code] for code in several}


def _known_texts(code: str) -> tuple[str, ...]:
    if code == "zh":
        return CHINESE
    return (f"ntrex:{code}:{READ}", *(f"{name}:{code}" for name in COLLECTIONS.get(code, ())))


def _treebanks(given: Parameters, known: Mapping[str, str], *codes: str) -> dict[str, str]:
    """By language, what it is scored on; `InputError` where nothing is known."""
    there = {**known, **given.treebanks}
    if unknown := [code for code in codes if code not in there]:
        raise InputError(
            f"{unknown[0]}: no treebank of it is known here; give one, such as "
            f"--with 'treebanks={{{unknown[0]}: treebank:{unknown[0]}:FILE}}'"
        )
    return {code: there[code] for code in codes}


def _study(profile: str, given: Parameters, encoders: tuple[str, ...], setting: Setting, *tasks: str) -> Study:
    names = [display_name(encoder) for encoder in encoders]
    counted = [made for name in names for made in _by_pairs(name, setting)]
    whole = [_brought_in(name, "all pairs", setting.whole) for name in names if setting.whole]
    scored_by = [("", setting.texts, counted), (" by all pairs", setting.whole, whole)]
    default = tasks[:1] if given.small else tasks
    return Study(
        name=f"bring-in@{profile}",
        question=QUESTION,
        encoders=(*encoders, *counted, *whole),
        tasks={
            f"{task}{how}": Transfer(
                task=task, train=(setting.train,), evaluate=tuple(setting.treebanks[code] for code in texts),
                encoders=(*names, *(made.name for made in brought_in)), **setting.shared,
                **(setting.parsing if task == "parsing" else {}),
            )
            for task in given.tasks or default
            for how, texts, brought_in in scored_by
            if brought_in
        },
        contrasts=tuple(contrast for name in names for contrast in _contrasts(name, setting)),
        seeds=given.seeds_to_run,
    )  # fmt: skip


def _by_pairs(encoder: str, setting: Setting) -> Iterator[BringingIn]:
    """With every number of pairs, and with the most of them by every other recipe."""
    for count in setting.pairs:
        yield _brought_in(encoder, _number(count), setting.texts, pairs=count)
    most = setting.pairs[-1]
    for recipe, how in setting.recipes.items():
        yield _brought_in(encoder, f"{_number(most)}, {recipe}", setting.texts, pairs=most, **how)


def _brought_in(encoder: str, by: str, texts: Texts, **how: Any) -> BringingIn:
    """After tuning, so that all share one, unless the encoder is trained."""
    return BringingIn(name=_named(encoder, by), encoder=encoder, languages=texts, **{"after_tuning": True} | how)


def _number(pairs: int) -> str:
    return f"{pairs:,} pairs"


def _named(encoder: str, by: str) -> str:
    """What rows call an encoder with languages brought in."""
    return f"{encoder} with {by}"


def _contrasts(encoder: str, setting: Setting) -> Iterator[Contrast]:
    """What is claimed of an encoder: of each language, where they are apart, else of all together."""
    fewest, most = (_named(encoder, _number(setting.pairs[end])) for end in (0, -1))
    other = {recipe: f"{most}, {recipe}" for recipe in setting.recipes}
    sized = [recipe for recipe in other if recipe.endswith("pieces")]
    claims = [("translated sentences help", most, encoder)]
    if "by spelling" in other:
        claims.append(("links are better than spelling", most, other["by spelling"]))
    if fewest != most:
        claims.append(("more sentences help more", most, fewest))
    if "known links" in other:
        claims.append(("links that are learnt are better than known ones", most, other["known links"]))
    if "no shrinkage" in other:
        claims.append(("shrinkage helps", most, other["no shrinkage"]))
    if sized:
        claims.append(("a larger vocabulary is better than a smaller one", other[sized[-1]], other[sized[0]]))
    if "distilled" in other:
        claims.append(("distillation helps", other["distilled"], most))
    for claim, first, second in claims:
        if setting.apart:
            for code in setting.texts:
                yield _contrast(f"{claim}: {FAMILY[code].role} ({code})", first, second, code)
        else:
            yield _contrast(claim, first, second, *setting.texts)
    if setting.whole:
        whole = _named(encoder, "all pairs")
        yield _contrast("all the sentences there are help", whole, encoder, *setting.whole)


def _contrast(claim: str, first: str, second: str, *languages: str) -> Contrast:
    sides = (Condition(encoder=first), Condition(encoder=second))
    return Contrast(claim=claim, first=sides[0], second=sides[1], languages=languages)


PROFILES = {"world": world, "real": real, "paper": paper}

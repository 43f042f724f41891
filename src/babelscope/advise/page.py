"""What is seen beforehand, what is planned, and the verdict, as sentences, tables and one HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from babelscope.advise.data import read_split, text_data
from babelscope.advise.facts import Fact
from babelscope.advise.names import shown_language, shown_letters
from babelscope.advise.outputs import TITLE, Outputs
from babelscope.advise.plan import Planned, most_for_curves
from babelscope.advise.recipes import BROUGHT_IN, EXTENDED, ZERO_SHOT
from babelscope.advise.request import Request, command_line
from babelscope.advise.sentences import altogether, points
from babelscope.advise.steps import usual_in_words
from babelscope.advise.translated import texts_in_words, translated
from babelscope.core.languages import language_name, script_name
from babelscope.core.outside import write_text
from babelscope.core.words import listed
from babelscope.corpora.sources import Split
from babelscope.encoders.places import display_name, locate
from babelscope.engine.manifest import versions
from babelscope.report.cautions import UNREAD
from babelscope.report.page import asset, templates
from babelscope.report.section import Section
from babelscope.report.tables import Cell, Table, number_cell
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, BILSTM
from babelscope.world import LANGUAGES

CURVES = (
    "After the race, what more sentences would bring: the best recipe with fewer and fewer of the labelled sentences"
)
TRANSLATED_CURVES = ", and the best that needs translated ones with fewer of these"
MOSTLY_KNOWN = 0.1
"""Share of unknown words above which subwords a word cannot be compared."""
TOO_LOW_NOTE = (
    "Too low: more than a tenth of the words have a part that is unknown. Such a part counts as one subword, however "
    "long it is, so that the number cannot be compared with others."
)
NEXT = "The best guess, and what to do next"
NEAREST = 3
"""Languages that are named."""


def seen_section(
    scripts: Mapping[str, float], facts: Sequence[Fact], published: Sequence[str], notes: Sequence[str]
) -> Section:
    """The text, what is odd about it, and how the encoders' subwords cover it."""
    shares = (
        ", ".join(f"{script_name(script)} {share:.0%}" for script, share in list(scripts.items())[:3]) or "no letters"
    )
    sentences = [f"Letters of the text: {shares}.", *notes, *_unread(facts), *_without_marks(facts)]
    if decoders := dict.fromkeys(display_name(fact.encoder) for fact in facts if fact.decoder):
        sentences.append(f"Read from left to right, so that nothing adapts them here: {', '.join(decoders)}.")
    if not any(fact.compared for fact in facts):
        sentences.append("No other language's text is at hand: set BABELSCOPE_DATA to a folder with NTREX to compare.")
    if published:
        sentences.append(f"Published (Muller et al., 2021): {'; '.join(published)}.")
    return Section("What can be seen beforehand", sentences, [], [_fact_table(facts)])


def plan_section(planned: Sequence[Planned], request: Request) -> Section:
    """The recipes in the order of promise, what they are, and what all of them cost."""
    lines = [
        [Cell(step.recipe.name), *([number_cell(step.seconds / 60, ".1f")] if step.seconds is not None else [])]
        for step in planned
    ]
    kinds = {step.recipe.encoder if step.recipe.encoder == BILSTM else step.recipe.kind for step in planned}
    sentences = [meaning for kind, meaning in _kinds(request).items() if kind in kinds]
    if request.curve:
        sentences.append(f"{CURVES}{TRANSLATED_CURVES if request.parallel else ''}.")
    note = (
        "By promise: fewer unknown words first, then fewer subwords a word (characters, where the text has no spaces "
        "between words). That is a guess from vocabularies alone, and the race decides. A recipe that falls behind is "
        "dropped."
    )
    timed = all(step.seconds is not None for step in planned)
    if timed:
        sentences.append(altogether(sum(step.seconds or 0 for step in planned) / 60, request))
        if request.curve:
            most = most_for_curves(request, planned) / 60
            sentences.append(
                f"The curves take about {most:,.1f} more with the usual training, and more with a longer one; "
                "--no-curve leaves them out."
            )
        note += (
            " Minutes of computing for all rounds, estimated from a few steps that were timed; each recipe takes "
            "longer where others run beside it, and on a busy machine. What the store has already takes none of it."
        )
    headers = ["Recipe", *(["Minutes, about"] if timed else [])]
    return Section("The plan", sentences, [], [Table("Recipes", headers, lines, note)])


def next_section(request: Request, outputs: Outputs, guess: Sequence[str] = (), minutes: str = "") -> Section:
    """What is known before a run, and what to do next."""
    if request.labelled is None:
        request = request.model_copy(update={"labelled": request.placeholder})
        purpose = (
            f"Labelled sentences decide which recipe is best. With them in {request.placeholder}, this runs the plan"
        )
    else:
        takes = f" ({minutes})" if minutes else ""
        purpose = f"This runs the plan{takes} and says which recipe is best; interrupted, it goes on"
    folder = Path(f"{request.language}-model")
    if not folder.exists():
        outputs = outputs._replace(export=folder)
    return Section(NEXT, guess, [], [], {purpose: [command_line(request, outputs, run=True)]})


def spent(seconds: float, planned: Sequence[Planned]) -> str:
    """The minutes of computing that a race took, beside those that were expected."""
    expected = sum(step.seconds or 0 for step in planned) / 60
    return (
        f"{seconds / 60:,.1f} minutes for the race, with the start of processes and what was tried to choose; "
        f"about {expected:,.1f} were expected for all recipes in all rounds, trained as is usual"
    )


def made_section(request: Request, outputs: Outputs, run: bool, computing: str = "") -> Section:
    """What the page was made from."""
    about = {
        "Language": shown_language(request.language),
        "Text": f"{request.text}: {len(text_data(request).read()):,} sentences to learn language from",
        "Labelled sentences": _labelled(request),
        **({"Translated sentences": "; ".join(texts_in_words(request))} if request.parallel else {}),
        **({"Labelled sentences of the source": request.source_labelled} if request.source_labelled else {}),
        "Encoders": ", ".join(f"{place.name} ({place.content[:12]})" for place in map(locate, request.encoders)),
        "Task": request.title,
        "Rounds": f"{request.seeds}; seeds {', '.join(map(str, range(request.seeds)))}",
        "As good": f"within {points(request.margin)}",
        "Adaptation": f"{request.adaptation_steps:,} steps; at most {request.new_pieces:,} new subwords",
        **{f"Training of {display_name(name)}": usual_in_words(request, name) for name in (*request.encoders, BILSTM)},
        "Device": f"{request.device}, {request.precision}",
        **({"Computing": computing} if computing else {}),
        "Versions": ", ".join(f"{name} {version}" for name, version in versions().items()),
    }
    lines = [[Cell(name), Cell(value)] for name, value in about.items()]
    table = Table("Data and settings", ["What", "Which"], lines)
    return Section("Made from", [], [], [table], {"The command": [command_line(request, outputs, run)]})


def write_page(request: Request, sections: Sequence[Section], path: Path) -> None:
    """One self-contained HTML file; `InputError` where it cannot be written."""
    language = shown_language(request.language)
    text = (
        templates()
        .get_template("advice.html.j2")
        .render(
            title=f"{TITLE} {language}?",
            sections=sections,
            style=asset("page.css"),
        )
    )
    write_text(path, text)


def _fact_table(facts: Sequence[Fact]) -> Table:
    lines = [
        [
            Cell(display_name(fact.encoder)), Cell(shown_letters(fact.letters) if fact.letters else "its own"),
            number_cell(100 * fact.coverage.unknown, ".1f"), _fertility_cell(fact),
            number_cell(100 * fact.coverage.characters, ".0f"),
            Cell(_nearest(fact)),
        ]
        for fact in facts
    ]  # fmt: skip
    unit = _unit(facts)
    headers = [
        "Encoder",
        "Letters",
        f"Unknown {unit}s %",
        f"Subwords a {unit}",
        "Characters %",
        "Nearest languages",
    ]
    running = "" if unit == "word" else "The text has no spaces between words, so its characters are counted instead. "
    low = f" {TOO_LOW_NOTE}" if any(map(_is_too_low, facts)) else ""
    note = (
        f"{running}Characters: the different ones that are covered. Nearest: the languages at hand whose text is "
        "made of the same subwords, with the share that is in common, by the encoder’s first tokenizer; they need not "
        f"be related.{low}"
    )
    return Table("How the encoders’ subwords cover the text", headers, lines, note)


def _fertility_cell(fact: Fact) -> Cell:
    cell = number_cell(fact.coverage.fertility, ".2f")
    return Cell(f"{cell.text} (too low)", cell.number) if _is_too_low(fact) else cell


def _is_too_low(fact: Fact) -> bool:
    """Whether so many words are unknown that subwords a word say little: an unknown word is mostly one of them."""
    return fact.unit == "word" and fact.coverage.unknown > MOSTLY_KNOWN


def _unit(facts: Sequence[Fact]) -> str:
    """What the text is counted in, the same for all encoders and letters: words, or characters."""
    return facts[0].unit if facts else "word"


def _unread(facts: Sequence[Fact]) -> list[str]:
    """Of each encoder that knows the text in no letters of the table, that it does not."""
    best: dict[str, float] = {}
    for fact in facts:
        best[fact.encoder] = min(best.get(fact.encoder, 1.0), fact.coverage.unknown)
    words = "have a letter or sign that it does not know" if _unit(facts) == "word" else "are unknown to it"
    return [
        f"{display_name(name)} cannot read this text: {unknown:.0%} of the {_unit(facts)}s {words}. It can "
        "hardly learn these from a little text; look for an encoder that knows them."
        for name, unknown in best.items()
        if unknown > UNREAD
    ]


def _without_marks(facts: Sequence[Fact]) -> list[str]:
    """Of each encoder that strips accents, letters of the text that are read without their marks."""
    return [
        f"{display_name(fact.encoder)} reads {listed(fact.stripped)} without {_its(fact.stripped)} marks: words "
        "that differ by these alone are one word to it."
        for fact in facts
        if fact.stripped
    ]


def _its(letters: Sequence[str]) -> str:
    return "its" if len(letters) == 1 else "their"


def _nearest(fact: Fact) -> str:
    if fact.compared and not fact.nearest:
        return "too few known subwords to say"
    return ", ".join(f"{_language(code)} {100 * share:.0f}%" for code, share in fact.nearest[:NEAREST])


def _language(code: str) -> str:
    return f"{code} ({LANGUAGES[code].role})" if code in LANGUAGES else language_name(code)


def _kinds(request: Request) -> dict[str, str]:
    """What each kind of recipe is."""
    steps = f"{request.adaptation_steps:,} steps of continued pre-training (masked language modelling) on the text"
    pairs = f"{len(translated(request).pairs):,} translated sentences"
    return {
        AS_IT_IS: "As it is: the encoder is tuned on the labelled sentences.",
        ADAPTED: f"Adapted: after {steps}.",
        EXTENDED: f"Adapted with new subwords: the same after up to {request.new_pieces:,} subwords of the text were "
        "added, since the vocabulary covers it badly.",
        BROUGHT_IN: f"With the language brought in: read with a vocabulary of the language's own, which {pairs} align "
        "with the encoder's, and tuned on the labelled sentences.",
        ZERO_SHOT: f"Zero-shot: tuned on {request.source_labelled} alone; then the language is brought in, without "
        "training.",
        BILSTM: "BiLSTM: trained on the labelled sentences alone, without an encoder; the others are compared with it.",
    }


def _labelled(request: Request) -> str:
    if request.labelled_name is None:
        return "none"
    counts = (f"{len(read_split(request, split)):,} to {use}" for split, use in _USES.items())
    return f"{request.labelled}: {', '.join(counts)}"


_USES: dict[Split, str] = {"train": "train", "dev": "select", "test": "test"}

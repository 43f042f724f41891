"""The paragraph of a paper that says how its numbers came about, and the tables with the details."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from babelscope.core.inference import FEWEST_SEEDS
from babelscope.core.version import __version__
from babelscope.engine.progress import SECONDS
from babelscope.report.model import Report
from babelscope.report.paper import citations
from babelscope.report.paper.latex import escaped, text_table
from babelscope.report.tables import Table
from babelscope.report.used import Used, UsedData
from babelscope.study.declare import NO_LIMIT, Transfer
from babelscope.study.encoders import BringingIn

MEANS = "Scores are means over seeds, of perplexities geometric ones"
INTERVALS = (
    ", with 95\\% Student's t intervals over seeds and, where they are known, test sentences as crossed random factors;"
    " means over three or more languages take these as another one. A difference is said to show at 5\\%, corrected for"
    " the number of claims (Holm) or of lines of a table (Benjamini and Hochberg)."
)
TOO_FEW = f"; fewer than {FEWEST_SEEDS} seeds are too few for intervals, and for saying that a difference shows."
DIGITS = 12
"""Of digests that a table shows."""
IN_TEXT = (
    "batch", "length", "learning rate", "schedule", "optimizer", "weight decay", "clipping", "dropout of the head",
    "dropout of the encoder", "longest sequence", "masking rate", "selection", "precision",
)  # fmt: skip
"""Settings that the paragraph names; the table has all."""


def paragraph(report: Report, used: Used) -> str:
    """The methods as LaTeX, a sentence a line."""
    intervals = INTERVALS if len(used.study.seeds) >= FEWEST_SEEDS else TOO_FEW
    sentences = [
        _study(report, used), _encoders(report, used), _surgeries(report, used), *_tasks(used), _schedules(used),
        *_trainings(used),
        _data(used), _seeds(report, used), f"{MEANS}{intervals}" if report.scores else "", _computing(report, used),
    ]  # fmt: skip
    return "".join(f"{sentence}\n" for sentence in sentences if sentence)


def tables(used: Used) -> Iterator[Table]:
    """All settings of all trainings, and the data with licences and digests."""
    if groups := used.trainings:
        names = list(dict.fromkeys(name for group in groups for name, _ in group))
        lines = [[name, *(dict(group).get(name, "") for group in groups)] for name in names]
        yield text_table("Settings of the trainings", ["setting", *map(", ".join, groups.values())], lines)
    if used.data:
        lines = [_data_line(each) for each in used.data]
        note = f"The first {DIGITS} digits of the SHA-256 of the files' contents."
        yield text_table("Data", ["data set", "collection", "licence", "SHA-256"], lines, note)


def works(used: Used) -> list[str]:
    """The keys of all works that the paragraph cites."""
    cited = [
        citations.of_study(used.study.name), *(citations.of_data(data.name) for data in used.data),
        *(citations.of_encoder(encoder) for encoder in used.encoders),
    ]  # fmt: skip
    return list(dict.fromkeys([citations.ITSELF, *(work for each in cited for work in each.works)]))


def _study(report: Report, used: Used) -> str:
    followed = citations.of_study(used.study.name).works
    after = f", which follows{_cite(followed)}," if followed else ""
    with_what = f"Babelscope {__version__}{_cite([citations.ITSELF])}"
    return f"We ran the study \\emph{{{escaped(report.title)}}}{after} with {with_what}."


def _encoders(report: Report, used: Used) -> str:
    loaded = [
        f"{escaped(encoder.name)}{_cite(citations.of_encoder(encoder).works)} "
        f"({'commit' if encoder.on_hub else 'SHA-256'} {escaped(encoder.content[:DIGITS])})"
        for encoder in used.encoders
    ]  # fmt: skip
    brought_in = {name: _brought_in(made) for name, made in report.brought_in.items()}
    made = [escaped(f"{name} ({how})") for name, how in {**report.recipes, **brought_in}.items()]
    parts = {"Encoders": loaded, "Encoders that the study made": made}
    return " ".join(f"{what}: {', '.join(listed)}." for what, listed in parts.items() if listed)


def _brought_in(made: BringingIn) -> str:
    when = " after tuning" if made.after_tuning else ""
    pairs = f", at most {made.pairs:,} pairs each" if made.pairs else ""
    return f"{_joined(made.languages)} brought into {made.encoder}{when}{pairs}"


def _surgeries(report: Report, used: Used) -> str:
    names = [escaped(_surgery(report, surgery.name)) for surgery in used.study.surgeries if surgery]
    untouched = "as they are and " if None in used.study.surgeries else ""
    surgeries = "surgery" if len(names) == 1 else "surgeries"
    return f"Encoders were tuned {untouched}after the {surgeries} {_joined(names)}." if names else ""


def _surgery(report: Report, name: str) -> str:
    """Its name, and beside it the one that tables have, where that is another."""
    shown = report.surgery_name(name)
    return name if shown == name else f"{name} ({shown} in tables: all weights reinitialised)"


def _tasks(used: Used) -> Iterator[str]:
    """What each task is trained, selected and tested on, and how much of it at most."""
    for name, task in used.study.tasks.items():
        train, evaluate = (escaped(_joined(data)) for data in (task.train, task.evaluate))
        sizes = [*map(_at_most, task.sizes.of("train", len(task.train)))]
        alone = len(task.train) == 1
        which = "the last" if len(task.train) == 2 else "each but the first"
        few = f", and {task.shots} of {which}" if task.shots else ""
        given = sizes[0] if task.shots or len(set(sizes)) == 1 else f"in this order, {_joined(sizes)}"
        read = f"{task.shots} examples" if task.shots and alone else f"{given} examples{few}"
        whose = f"the dev split of {escaped(task.train[0])}" if task.shots else "each dev split"
        dev = f"selected on {_at_most(task.sizes.dev)} examples of {whose}"
        dev = "taken as it was at the last step" if task.shots and alone else dev
        each = " of each" * (len(task.evaluate) > 1)
        yield (
            f"The task \\emph{{{escaped(name)}}} was trained on {train} ({read}), "
            f"{dev if task.selected_on == 'dev' else 'selected on the test sets'} and tested on "
            f"{_at_most(task.sizes.test)} examples{each} of {evaluate}{_beside(task)}."
        )


def _beside(task: Transfer) -> str:
    """The encoders that it is for, where these are named, and its baselines."""
    encoders = f", by the encoders {escaped(_joined(task.encoders))}" if task.encoders else ""
    return encoders + (f"; its baselines are {escaped(_joined(task.baselines))}" if task.baselines else "")


def _schedules(used: Used) -> str:
    """What is trained of encoders, where that is not all of them, and what is kept."""
    names = [escaped(schedule.name) if schedule else "everything trained" for schedule in used.study.schedules]
    kept = "Best weights were kept rounded, and scores are of these." if used.study.keep == "compact" else ""
    told = f"Encoders were trained under the schedules: {_joined(names)}." if any(used.study.schedules) else ""
    return " ".join(filter(None, [told, kept]))


def _at_most(size: int) -> str:
    return "all" if size >= NO_LIMIT else f"at most {size:,}"


def _trainings(used: Used) -> Iterator[str]:
    told: dict[str, list[str]] = {}
    for group, names in used.trainings.items():
        declared = dict(group)
        said = ", ".join(f"{name} {declared[name]}" for name in IN_TEXT if name in declared)
        told.setdefault(said, []).extend(names)
    for said, names in told.items():
        yield f"Training of {escaped(_joined(names))}: {escaped(said)}."


def _data(used: Used) -> str:
    by_whom: dict[citations.Cited, list[str]] = {}
    for data in used.data:
        by_whom.setdefault(citations.of_data(data.name), []).append(data.name)
    parts = [_collection(cited, names) for cited, names in by_whom.items()]
    if used.has_world:
        parts.append("texts of Babelscope's artificial world, which are generated")
    return f"Data: {'; '.join(parts)}." if parts else ""


def _collection(cited: citations.Cited, names: Sequence[str]) -> str:
    listed = escaped(", ".join(names))
    if not (cited.title or cited.works):
        return f"{listed} (files of our own)"
    licence = escaped(cited.licence) if cited.licence else "licence not recorded"
    return f"{escaped(cited.title)}{_cite(cited.works)} ({listed}; {licence})"


def _data_line(data: UsedData) -> list[str]:
    cited = citations.of_data(data.name)
    return [data.name, cited.title, cited.licence, " ".join(digest[:DIGITS] for digest in data.sha256)]


def _seeds(report: Report, used: Used) -> str:
    seeds = used.study.seeds
    with_seeds = f"with the seed{'s' * (len(seeds) > 1)} {_joined(map(str, seeds))}"
    if report.missing:
        return f"Every training of a task is to be run {with_seeds}; at the time of writing {report.missing}."
    return f"Every training of a task was run {with_seeds}."


def _computing(report: Report, used: Used) -> str:
    """Versions, machines and times, as the results record them."""
    known = report.provenance
    devices = _joined(sorted({dict(group)["device"] for group in used.trainings}))
    versions, machines = known.get("versions"), known.get("machines")
    seconds = known.get(SECONDS)
    parts = [
        f"computed with {versions}" if versions else "", f"on {machines}" if machines else "",
        f"(device: {devices})" if devices else "", f"in {seconds:,.0f} seconds of computing" if seconds else "",
    ]  # fmt: skip
    return f"The numbers were {escaped(' '.join(filter(None, parts)))}." if any(parts) else ""


def _cite(works: Sequence[str]) -> str:
    return f"~\\cite{{{','.join(works)}}}" if works else ""


def _joined(words: Iterable[str]) -> str:
    *most, last = [*words] or [""]
    return f"{', '.join(most)} and {last}" if most else last

"""Which schedule learns a language best: test perplexities by what is trained, ours beside published ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.score import Score, title_of
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table
from babelscope.report.words import in_words

NOT_TUNED = "as it is, not tuned"


@section(order=79)
def techniques(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """A line a test set of the language that is learned and a schedule, a column an encoder."""
    scores = [score for score in report.scores if score.measure == "perplexity"]
    learned = {place for place in (score.place for score in scores if score.is_source and score.schedule)}
    shown = [score for score in scores if score.place in learned]
    if len({score.schedule for score in shown} - {None}) > 1:
        yield Section("Fine-tuning techniques", tables=[_table(shown)])


def _table(scores: Sequence[Score]) -> Table:
    encoders = list(dict.fromkeys(score.encoder for score in scores))
    named = {id(score): _technique(score, scores) for score in scores}
    cells = {(score.place, named[id(score)], score.encoder): score for score in scores}
    lines = []
    for place, technique in dict.fromkeys((score.place, named[id(score)]) for score in scores):
        each = (cells.get((place, technique, encoder)) for encoder in encoders)
        lines.append([Cell(place), Cell(technique), *(_cell(score) for score in each)])
    note = (
        "Geometric mean over seeds with its 95% interval where that is known; less is better. Perplexities are over "
        "each encoder's own tokens, and published ones over a text that is not known to the sentence."
    )
    return Table("Test perplexity by what is trained", ["Text", "Trained", *encoders], lines, note)


def _technique(score: Score, scores: Sequence[Score]) -> str:
    """With the task and the training, where an encoder has several of them on the text."""
    same = [other for other in scores if (other.encoder, other.place) == (score.encoder, score.place) and other.seeds]
    tuned = score.seeds or score.schedule or score.surgery
    told = [score.surgery, score.schedule or "everything trained"] if tuned else [NOT_TUNED]
    told += [title_of(score.task)] if len({other.task for other in same}) > 1 else []
    told += [f"trained on {score.training}"] if score.training and len({other.training for other in same}) > 1 else []
    return ", ".join(filter(None, told))


def _cell(score: Score | None) -> Cell:
    return Cell("") if score is None else Cell(in_words(score.interval, score.unit), score.interval.mean)

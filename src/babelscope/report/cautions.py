"""What to mind before scores are believed: few seeds, short or unfinished training, baselines, shared codes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import floor
from statistics import fmean

from babelscope.core.inference import FEWEST_SEEDS
from babelscope.core.row import Row
from babelscope.core.scores import Measure, measure_of
from babelscope.core.tasks import ENTITIES, TASKS
from babelscope.core.words import listed
from babelscope.report.kinds import main_measure
from babelscope.report.model import Report
from babelscope.report.published import NAMED
from babelscope.report.score import Score, noun_of, scale, title_of
from babelscope.report.words import counted

FEWEST_SENTENCES = 30
"""Of a test set; an interval over fewer is rough, and one more or less that is right moves the score by points."""
UNREAD = 0.5
"""An encoder cannot read a text if more than this share of its words have something unknown."""
FEWEST_STEPS = 100
"""Of the optimiser; what fewer of them make of a model says little of what training does."""
LEARNED = 0.05
"""A loss on training data below which there is nothing left to learn, so that it need not fall."""
RISING = 0.01
"""By how much the score on dev data became better in the last third of a training, so that it was not done: of shares a
point, of perplexities a hundredth of the loss per token."""

ROUNDING = 1e-9
"""By which two scores that are the same can differ, one of which is a mean over seeds or sentences."""

Curve = Mapping[int, float]
"""Step -> value."""


def cautions(report: Report, scores: Sequence[Score]) -> list[str]:
    """Of the scores of one task and measure."""
    seeded = [score for score in scores if score.seeds]
    trained = {score.condition for score in seeded}
    curves = [row for row in report.rows if row.kind == "curve" and row.step is not None]
    rows = [row for row in curves if row.task == scores[0].task and report.condition(row) in trained]
    not_falling = _losses_not_falling(report, rows)
    rest = [row for row in rows if report.condition(row) not in not_falling]
    of_training = [*_few_steps(report, rows), *_told_not_falling(rows, not_falling), *_still_rising(report, rest)]
    of_data = [*_few_sentences(scores), *_unread(seeded), *_other_tokens(report, seeded)]
    of_models = [*_below(scores), *_no_more_than(scores), *_dead(seeded)]
    return [*_few_seeds(seeded), *of_models, *of_data, *of_training, *_shared(scores)]


def _few_seeds(seeded: Sequence[Score]) -> Iterator[str]:
    few: dict[str, int] = {}
    for score in seeded:
        if score.seeds < FEWEST_SEEDS:
            few[score.condition] = min(score.seeds, few.get(score.condition, FEWEST_SEEDS))
    if few:
        some = f" ({listed(list(few))})" if len(few) < len({score.condition for score in seeded}) else ""
        yield (
            f"{title_of(seeded[0].task)}: {counted(min(few.values()), 'seed')}{some}. Nothing can be said of how much "
            f"chance decides; run it with {counted(FEWEST_SEEDS)} or more."
        )


def _few_sentences(scores: Sequence[Score]) -> Iterator[str]:
    sizes = [(score.samples.known_sentences, score.place) for score in scores]
    few = [(size, place) for size, place in sizes if 0 < size < FEWEST_SENTENCES]
    if few:
        places = listed(list(dict.fromkeys(place for _, place in few)))
        yield (
            f"{title_of(scores[0].task)}: tested on as few as {counted(min(few)[0], 'sentence')} "
            f"({places}). A few others could give quite another score; {FEWEST_SENTENCES} are the least."
        )


def _unread(seeded: Sequence[Score]) -> Iterator[str]:
    """Of each encoder, places most of whose words have something that its tokenizer does not know."""
    unread: dict[str, dict[str, float]] = defaultdict(dict)
    for score in seeded:
        if (unknown := score.companions.get("unknown", 0.0)) > UNREAD:
            unread[score.encoder][score.place] = unknown
    for encoder, places in unread.items():
        share = f"{floor(100 * min(places.values()) + ROUNDING)}%"
        yield (
            f"{title_of(seeded[0].task)}: {encoder} cannot read {listed(list(places))}: {share} or more of the words "
            "have a letter or sign that its tokenizer does not know."
        )


def _other_tokens(report: Report, seeded: Sequence[Score]) -> Iterator[str]:
    """Perplexities of encoders that divide the same text into other numbers of tokens."""
    if not seeded or seeded[0].measure != "perplexity":
        return
    tokens: dict[str, dict[str, float]] = defaultdict(dict)
    for score in seeded:
        if size := report.size_of(score):
            tokens[score.place][report.start(score)] = size.tokens
    unlike = next((list(by_name) for by_name in tokens.values() if len(set(by_name.values())) > 1), [])
    if unlike:
        yield (
            f"{title_of(seeded[0].task)}: {listed(unlike)} do not all divide a text into the same tokens, and these "
            "perplexities are per token, so that they do not say which encoder is better. Claims and gains here are "
            "of perplexities per character; see also “Perplexity per character and byte”."
        )


def _few_steps(report: Report, rows: Sequence[Row]) -> Iterator[str]:
    last: dict[str, int] = defaultdict(int)
    for row in rows:
        last[report.condition(row)] = max(last[report.condition(row)], row.step or 0)
    short = {condition: steps for condition, steps in last.items() if steps < FEWEST_STEPS}
    if short:
        fewest = counted(min(short.values()), "optimiser step")
        yield (
            f"{title_of(rows[0].task or '')}: trained for as few as {fewest} ({listed(list(short))}). So short a "
            "training says little of what a usual one would give."
        )


def _losses_not_falling(report: Report, rows: Sequence[Row]) -> dict[str, tuple[float, float]]:
    """Conditions whose loss on training data is no lower at the end: at the first point and the last, over runs."""
    losses: dict[str, dict[tuple[object, ...], dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row.split == "train" and row.measure == "loss":
            losses[report.condition(row)][row.key, row.language, row.seed][row.step or 0] = row.value
    ends = {
        condition: (fmean(run[min(run)] for run in runs.values()), fmean(run[max(run)] for run in runs.values()))
        for condition, runs in losses.items()
        if all(len(run) > 1 for run in runs.values())
    }
    return {condition: (first, last) for condition, (first, last) in ends.items() if last >= first > LEARNED}


def _told_not_falling(rows: Sequence[Row], not_falling: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    if not_falling:
        worst, (first, last) = max(not_falling.items(), key=lambda item: item[1][1] - item[1][0])
        of = f" in {worst}" if len(not_falling) > 1 else ""
        yield (
            f"{title_of(rows[0].task or '')}: the loss on training data did not fall ({listed(list(not_falling))}; "
            f"from {first:.3g} to {last:.3g}{of}). Look at the learning curves: the learning rate may be too high or "
            "too low, or the training too short."
        )


def _still_rising(report: Report, rows: Sequence[Row]) -> Iterator[str]:
    curves: dict[str, dict[tuple[object, ...], dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    of_dev = [row for row in rows if row.split == "dev" and row.measure == main_measure(row, report.main)]
    for row in of_dev:
        run = (row.key, row.dataset, row.language, row.seed)
        curves[report.condition(row)][run][row.step or 0] = row.value
    if not of_dev:
        return
    measure, factor = measure_of(of_dev[0].measure), scale(of_dev[0].unit)[0]
    gains = {condition: _late_gain(measure, list(runs.values())) for condition, runs in curves.items()}
    rising = {condition: gain for condition, gain in gains.items() if gain is not None and gain > RISING}
    if rising:
        most = max(rising.values())
        by = f"{100 * most:.0f}% of it" if measure.geometric else f"{factor * most:.1f} points"
        yield (
            f"{title_of(rows[0].task or '')}: dev {measure.name} still got better in the last third of training, by up "
            f"to {by} ({listed(list(rising))}). Longer training may change this."
        )


def _late_gain(measure: Measure, runs: Sequence[Curve]) -> float | None:
    """The mean over runs; None where no run has two values."""
    found = (measure.late_gain([curve[step] for step in sorted(curve)]) for curve in runs)
    gains = [gain for gain in found if gain is not None]
    return fmean(gains) if gains else None


def _below(scores: Sequence[Score]) -> Iterator[str]:
    """Encoders as they are that a baseline beats."""
    for name, condition, pairs in _beside_baselines(scores):
        worse = [score.place for score, baseline in pairs if score.samples.mean < baseline - ROUNDING]
        if worse:
            own = [score for score, _ in pairs]
            share = f"{counted(len(worse))} of {counted(len(own), noun_of(own))}: " if len(own) > 1 else ""
            yield f"{title_of(own[0].task)}: {condition} is below the baseline {name} in {share}{listed(worse)}."


def _no_more_than(scores: Sequence[Score]) -> Iterator[str]:
    """Models that do nothing but what a baseline does, such as giving one answer always."""
    for name, condition, pairs in _beside_baselines(scores):
        values = ((value, baseline) for score, baseline in pairs for value in score.samples.by_seed.values())
        if all(abs(value - baseline) < ROUNDING for value, baseline in values):
            yield (
                f"{title_of(pairs[0][0].task)}: every score of {condition} is that of the baseline {name}, whatever "
                "the seed: as it seems, nothing more was learnt."
            )


def _beside_baselines(scores: Sequence[Score]) -> Iterator[tuple[str, str, list[tuple[Score, float]]]]:
    """Each baseline with each condition, and the condition's scores with those of the baseline."""
    baselines = {(s.encoder, s.training, s.place): s.samples.mean for s in scores if _is_baseline(s)}
    for name in dict.fromkeys(encoder for encoder, _, _ in baselines):
        for condition in dict.fromkeys(score.condition for score in scores if score.seeds and not score.untrained):
            own = [s for s in scores if s.condition == condition and (name, s.training, s.place) in baselines]
            if own:
                yield name, condition, [(s, baselines[name, s.training, s.place]) for s in own]


def _dead(seeded: Sequence[Score]) -> Iterator[str]:
    """Models that found nothing anywhere, in any seed: an F1 of 0 is that of no entity, or of no case."""
    scores: dict[str, list[Score]] = defaultdict(list)
    for score in seeded:
        scores[score.condition].append(score)
    dead = [condition for condition, own in scores.items() if not any(any(each.by_seed.values()) for each in own)]
    if dead:
        yield (
            f"{title_of(seeded[0].task)}: every score of {listed(dead)} is 0: nothing was learnt or found, and means "
            "over tasks hold it all the same."
        )
    yield from _no_entity({condition: own for condition, own in scores.items() if condition not in dead})


def _no_entity(by_condition: Mapping[str, Sequence[Score]]) -> Iterator[str]:
    """Models that found entities, but on some test set or in some seed none: all words are tagged O, as it may be."""
    every, zeros = 0, list[Score]()
    for scores in by_condition.values():
        none = [score for score in scores for value in score.by_seed.values() if not value and _is_of_entities(score)]
        every += sum(len(score.by_seed) for score in scores) if none else 0
        zeros += none
    if zeros:
        conditions, places = (list(dict.fromkeys(names)) for names in zip(*map(_names, zeros), strict=True))
        yield (
            f"{title_of(zeros[0].task)}: {counted(len(zeros))} of {counted(every, 'score')} of {listed(conditions)} "
            f"{'is' if len(zeros) == 1 else 'are'} 0 (on {listed(places)}): no entity was found there, and perhaps "
            "every word was tagged O; means hide it."
        )


def _is_of_entities(score: Score) -> bool:
    """Tasks of a study's own that have F1 for their main measure are of entities: classes have accuracy."""
    return TASKS[score.task].reads == ENTITIES if score.task in TASKS else score.measure == "f1"


def _names(score: Score) -> tuple[str, str]:
    return score.condition, score.place


def _is_baseline(score: Score) -> bool:
    return not score.seeds and not score.encoder.startswith(NAMED)


def _shared(scores: Sequence[Score]) -> Iterator[str]:
    """Languages whose code several data sets share."""
    datasets: dict[str, dict[str, None]] = defaultdict(dict)
    for score in scores:
        if score.dataset:
            datasets[score.language][score.dataset] = None
    for language, names in datasets.items():
        if len(names) > 1:
            yield (
                f"{title_of(scores[0].task)}: {listed(list(names))} share the code {language}; where languages are "
                "counted or averaged, they are one."
            )

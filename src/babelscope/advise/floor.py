"""The least that a model must beat to be worth anything: one answer for every word, whatever the word is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from babelscope.advise.data import read_split
from babelscope.advise.request import Request
from babelscope.core.examples import Sentence, Tree
from babelscope.core.inference import contributions
from babelscope.core.samples import Samples
from babelscope.core.tasks import ENTITIES, TREES, Task
from babelscope.corpora.bio import OUTSIDE
from babelscope.corpora.sources import SPLITS
from babelscope.tasks.attachment import attachment_scores, count_attachments, universal
from babelscope.tasks.baselines.most_frequent_tag import most_frequent_tag
from babelscope.tasks.kinds import kind_of
from babelscope.tasks.task import Score


class Constant(NamedTuple):
    """A constant answer, learned from the training sentences, and what it scores on the others."""

    name: str
    dev: Samples
    """In the task's main measure; it depends on no seed."""
    test: Samples


def clear_gain(constant: float, usual: float) -> float:
    """How much better than a constant answer is clearly better: `usual`, or half of all that is left to gain."""
    return min(usual, (1 - constant) / 2)


def constant_answer(request: Request) -> Constant:
    """The most frequent tag for every word, of entities `O`; of parsing, every word on its neighbour."""
    train, dev, test = (read_split(request, split) for split in SPLITS)
    task = request.asked_task
    name, scored = _neighbour(train) if task.reads == TREES else _same_tag(task, train)
    return Constant(name, *(_sampled(scored(part)) for part in (dev, test)))


def _same_tag(task: Task, train: Sequence[Any]) -> tuple[str, Callable[[Sequence[Any]], Score]]:
    kind = kind_of(task)
    tag = OUTSIDE if task.reads == ENTITIES else most_frequent_tag(kind.gold(task, train))

    def score(part: Sequence[Any]) -> Score:
        gold = kind.gold(task, part)
        return kind.score(task, [[tag] * len(sentence.words) for sentence in gold], gold)[0]

    return f"{tag} for every word", score


def _neighbour(train: Sequence[Sentence]) -> tuple[str, Callable[[Sequence[Sentence]], Score]]:
    """On the word before or after it, whichever is right more often, with the most frequent relation."""
    relations = Counter(universal(word.deprel) for sentence in train for word in sentence.words if word.head)
    relation = relations.most_common(1)[0][0] if relations else "root"

    def trees(part: Sequence[Sentence], after: bool) -> list[Tree]:
        return [_chain(len(sentence.words), after, relation) for sentence in part]

    def right(after: bool) -> int:
        return int(count_attachments([sentence.words for sentence in train], trees(train, after)).labelled.sum())

    after = right(True) > right(False)
    name = f"every word on the one {'after' if after else 'before'} it, as {relation}"
    return name, lambda part: attachment_scores([sentence.words for sentence in part], trees(part, after))[0]


def _chain(words: int, after: bool, relation: str) -> Tree:
    heads = [*range(2, words + 1), 0] if after else list(range(words))
    return Tree(heads, [relation if head else "root" for head in heads])


def _sampled(score: Score) -> Samples:
    return Samples((), contributions([score.numerators], [score.denominators]))

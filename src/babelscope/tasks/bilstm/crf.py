"""A linear-chain conditional random field over the labels of a sentence (Lafferty et al., 2001)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Allowed(NamedTuple):
    """Which labels may come where."""

    first: Tensor
    """[labels], bool: those that a sentence may begin with."""
    next: Tensor
    """[labels, labels], bool: at (a, b), whether b may follow a."""

    def to(self, device: torch.device) -> Allowed:
        """The same on a device."""
        return Allowed(self.first.to(device), self.next.to(device))


def bio_allowed(labels: Sequence[str]) -> Allowed:
    """What BIO allows: I-X after B-X or I-X only."""
    before = [{f"B-{label[2:]}", label} if label.startswith("I-") else set(labels) for label in labels]
    first = torch.tensor([not label.startswith("I-") for label in labels], dtype=torch.bool)
    follows = [[earlier in those for those in before] for earlier in labels]
    return Allowed(first, torch.tensor(follows, dtype=torch.bool).view(len(labels), len(labels)))


class Crf(nn.Module):
    """Scores sequences of labels: the sum of each word's own score, of each transition, of the start and of the end.

    Everywhere below, `scores` is [sentences, words, labels]; `real` is [sentences, words], bool, False where padded
    at the end; every sentence has a word. All transitions score 0 at first.
    """

    def __init__(self, labels: int):
        super().__init__()
        self.start = nn.Parameter(torch.zeros(labels))
        self.transitions = nn.Parameter(torch.zeros(labels, labels))
        """[labels, labels]: at (a, b), the score of b after a."""
        self.end = nn.Parameter(torch.zeros(labels))

    def loss(self, scores: Tensor, labels: Tensor, real: Tensor) -> Tensor:
        """Mean over words of the negative log-likelihood of the sentences' `labels` [sentences, words], in nats."""
        missing = self.log_partition(scores, real) - self.gold_score(scores, labels, real)
        return missing.sum() / real.sum()

    def gold_score(self, scores: Tensor, labels: Tensor, real: Tensor) -> Tensor:
        """[sentences]: the score of one sequence of labels each; labels of padding do not matter."""
        labels = labels.where(real, 0)
        own = (scores.gather(2, labels[..., None]).squeeze(2) * real).sum(1)
        moves = (self.transitions[labels[:, :-1], labels[:, 1:]] * real[:, 1:]).sum(1)
        last = labels.gather(1, real.sum(1, keepdim=True) - 1).squeeze(1)
        return self.start[labels[:, 0]] + own + moves + self.end[last]

    def log_partition(self, scores: Tensor, real: Tensor) -> Tensor:
        """[sentences]: the logarithm of the summed exponentials of the scores of all sequences."""
        state = self.start + scores[:, 0]
        for word in range(1, scores.shape[1]):
            ahead = (state[:, :, None] + self.transitions).logsumexp(1) + scores[:, word]
            state = ahead.where(real[:, word, None], state)
        return (state + self.end).logsumexp(1)

    @torch.no_grad()
    def best(self, scores: Tensor, real: Tensor, allowed: Allowed | None = None) -> Tensor:
        """[sentences, words]: the labels of the best sequence (Viterbi), of those that are `allowed`; 0 at padding."""
        start: Tensor = self.start
        transitions: Tensor = self.transitions
        if allowed is not None:
            start = start.masked_fill(~allowed.first, -math.inf)
            transitions = transitions.masked_fill(~allowed.next, -math.inf)
        state, sources = start + scores[:, 0], []
        for word in range(1, scores.shape[1]):
            ahead, source = (state[:, :, None] + transitions).max(1)
            here = real[:, word, None]
            state = (ahead + scores[:, word]).where(here, state)
            # Padding is stepped over: the label there is the one before it.
            sources.append(source.where(here, torch.arange(len(start), device=source.device)))
        path = [(state + self.end).argmax(1)]
        for source in reversed(sources):
            path.append(source.gather(1, path[-1][:, None]).squeeze(1))
        return torch.stack(path[::-1], dim=1).where(real, 0)

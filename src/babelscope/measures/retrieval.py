"""Retrieval of translations: how well sentence states of two languages are aligned."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, SerializeAsAny

from babelscope.core.declaration import Count
from babelscope.core.faults import Faults
from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.corpora import datasets
from babelscope.measures.compiled import Compiled
from babelscope.measures.measure import Measure
from babelscope.steps import EncoderStep
from babelscope.world import World
from babelscope.world.world import VERSION

if TYPE_CHECKING:
    from torch import Tensor


class Retrieval(Measure):
    """How well encoders find translations of the world's source sentences before any tuning, layer by layer."""

    unit: ClassVar[str] = "share"
    per_layer: ClassVar[bool] = True
    before_tuning: ClassVar[bool] = True

    measure: Literal["retrieval"] = "retrieval"
    source: str
    """A language of the world, such as `qaa`."""
    targets: tuple[str, ...] = Field(min_length=1)
    """Languages of the world. Each is searched by itself."""
    sentences: Count = 300
    """Sentences of each language. All of them are candidates."""

    def check(self, compiled: Compiled, faults: Faults) -> None:
        check_languages(self.source, self.targets, faults)

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        # Without tuning, seeds differ only where an operation draws from them.
        for operated, _ in compiled.conditions:
            for target in self.targets:
                yield Retrieve(
                    encoder=operated, source=self.source, target=target, sentences=self.sentences,
                    world_seed=compiled.world_seed, world_version=VERSION,
                )  # fmt: skip


def check_languages(source: str, targets: tuple[str, ...], faults: Faults) -> None:
    """Note languages that the world has not."""
    faults.resolve("source", datasets.check_world_language, source)
    for k, target in enumerate(targets):
        faults.resolve(f"targets.{k}", datasets.check_world_language, target)
        if target in (source, *targets[:k]):
            faults.add(f"targets.{k}", f"{target} is given twice; a language is compared with others")


class Retrieve(Step):
    """Find translations by the cosine of mean-pooled states, layer by layer, before any tuning."""

    row_kind: ClassVar[str] = "retrieval"

    encoder: SerializeAsAny[EncoderStep]
    source: str
    target: str
    sentences: PositiveInt = 300
    world_seed: NonNegativeInt = 0
    world_version: int

    @property
    def title(self) -> str:
        return f"retrieve {self.source} in {self.target}: {self.encoder.labels['encoder']}"

    @property
    def told_by(self) -> dict[Hashable, Hashable]:
        return {(tuple(self.encoder.labels.items()), self.source, self.target): self.key}

    def execute(self, workspace: Workspace) -> None:
        """Write the share of sentences whose translation is found, for every layer (0: the embeddings)."""
        import torch

        from babelscope.encoders.tap import sentence_states

        torch.set_num_threads(1)
        encoder = self.encoder.build(workspace)
        parallel = World(self.world_seed).parallel([self.source, self.target], self.sentences)
        source, target = (
            sentence_states(encoder.reading(code), [" ".join(sentence.sentences[code].forms) for sentence in parallel])
            for code in (self.source, self.target)
        )
        pair = f"world:{self.source}-{self.target}"
        labels = self.encoder.labels | {"task": "retrieval", "language": self.target, "dataset": pair}
        workspace.write_rows(
            Row("retrieval", share, "share", layer=layer, **labels)
            for layer, share in enumerate(retrieval_accuracy(source, target).tolist())
        )


def retrieval_accuracy(source: Tensor, target: Tensor) -> Tensor:
    """Share of source sentences whose nearest target sentence, by cosine, is their translation.

    Args:
        source: [..., sentences, hidden], states of sentences; leading dimensions (such as layers) are kept.
        target: the same shape; sentence i translates sentence i.

    Returns:
        [...], between 0 and 1. Of targets equally near, the first counts, so constant states score 1 / sentences.
    """
    import torch

    similarity = _cosines(source, target)
    own = torch.arange(similarity.shape[-1], device=similarity.device)
    return (similarity.argmax(dim=-1) == own).double().mean(dim=-1)


def mutual_retrieval(source: Tensor, target: Tensor) -> Tensor:
    """Share of sentence pairs that are nearer to each other, by cosine, than either is to any other sentence.

    Its mean and its maximum over layers are the two scores of MEXA (Kargaran et al. 2025), which for decoders takes
    sentence states as means weighted by position. Never more than `retrieval_accuracy`.

    Args:
        source: [..., sentences, hidden], as for `retrieval_accuracy`.
        target: the same shape; sentence i translates sentence i.

    Returns:
        [...], between 0 and 1. A tie counts as not retrieved, so constant states score 0.
    """
    import torch

    similarity = _cosines(source, target)
    own = similarity.diagonal(dim1=-2, dim2=-1)
    itself = torch.eye(similarity.shape[-1], dtype=torch.bool, device=similarity.device)
    others = similarity.masked_fill(itself, -torch.inf)
    return (own > torch.maximum(others.amax(dim=-1), others.amax(dim=-2))).double().mean(dim=-1)


def _cosines(source: Tensor, target: Tensor) -> Tensor:
    from torch.nn.functional import normalize

    return normalize(source, dim=-1) @ normalize(target, dim=-1).transpose(-1, -2)

"""How alike encoders make parallel sentences of two languages, layer by layer, by functions in `similarities`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, PositiveInt

from babelscope.core.devices import Device
from babelscope.core.examples import Pooling
from babelscope.core.faults import Faults
from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.corpora.letters import split_name
from babelscope.corpora.parallel_sentences import Parallel, WorldParallel, find_parallel
from babelscope.measures.compiled import Compiled
from babelscope.measures.measure import Measure, check_layers_of
from babelscope.measures.models import OfModel, Placed, models_of
from babelscope.measures.similarities import SIMILARITIES, check_similarity

if TYPE_CHECKING:
    from babelscope.measures.formulas.states import LanguageStates

SimilarityName = Annotated[str, AfterValidator(check_similarity)]
USUAL = (
    "linear CKA (biased)", "linear CKA (debiased)", "RBF CKA (biased)", "RBF CKA (debiased)", "retrieval",
    "mutual retrieval",
)  # fmt: skip
"""The similarities that are measured unless others are named. Another list would change the keys of old results."""


class Similarity(Measure):
    """How alike encoders make parallel sentences of two languages, layer by layer, before and after tuning.

    As in Muller et al. (2021, section 4), it is the CKA of mean-pooled hidden states of sentences, between a source and
    each of the other languages.
    """

    per_layer: ClassVar[bool] = True

    measure: Literal["similarity"] = "similarity"
    source: str
    """The source's sentences: `world:CODE`, a treebank with parallel ones, or the English of translations.

    Such a treebank is `UD_English-PUD`. The English of a collection of translations is named `ntrex:en`.
    """
    targets: tuple[str, ...] = Field(min_length=1)
    """The sentences of other languages, named likewise, such as `ntrex:de:lines-1598-1997`.

    Treebanks are aligned by `sent_id`, and their test splits are read. Of translations, those sentences are read that
    all targets have.
    """
    sentences: Annotated[int, Field(ge=4)] = 300
    """At most how many sentences of each language are read. A treebank that has fewer gives all of them."""
    pooling: Pooling = "mean"
    """What stands for a sentence.

    - `mean`: the mean of its tokens' hidden states.
    - `mean-with-special`: the same with special tokens.
    - `mean-with-special-twice`: the same with special tokens, of which two are read at each end and one counts.
    - `weighted`: a mean in which the n-th token counts n times, for decoders.
    - `first`: the hidden state of the first token ([CLS]).
    """
    measures: tuple[SimilarityName, ...] = Field(default=USUAL, min_length=1)
    """Names that `babelscope list measures` has.

    CKA has linear or Gaussian kernels (median bandwidth) and is biased or debiased. `retrieval` is the share of
    sentences whose nearest neighbour is their translation. `mutual retrieval` is the share of those that are each
    other's nearest.
    """
    tuned: tuple[str, ...] = ()
    """Names of tasks whose tuned models are measured as well. Each is trained on the source's language."""
    device: Device = "cpu"
    """Where encoders without tuning are measured. Tuned models are measured where they were trained."""

    def check(self, compiled: Compiled, faults: Faults) -> None:
        texts = faults.resolve("", self._find, compiled)
        for name in self.tuned:
            task = faults.resolve("tuned", compiled.task, name)
            trained = dict.fromkeys(data.language for data in task.train) if task else {}
            if trained and texts is not None and _source_language(texts) not in trained:
                problem = f"{name} is trained on {', '.join(trained)}, but the sentences are compared with"
                faults.add(
                    "tuned", f"{problem} {_source_language(texts)}; give the source in a language of the training"
                )

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        """One for every encoder under every surgery, untuned; and for each of its tunings that is to be measured."""
        texts = self._find(compiled)
        for placed in models_of(compiled, self.tuned, self.device):
            yield self._step(texts, placed)

    def _find(self, compiled: Compiled) -> Parallel:
        return compiled.look_up(find_parallel, self.source, self.targets, self.sentences, compiled.world_seed)

    def _step(self, texts: Parallel, placed: Placed) -> SentenceSimilarity:
        revisions = [(name, SIMILARITIES[name].revision) for name in self.measures]
        revised = tuple((name, revision) for name, revision in revisions if revision != 1)
        return SentenceSimilarity(
            texts=texts, pooling=self.pooling, measures=self.measures, revised=revised, **placed._asdict()
        )


def _source_language(texts: Parallel) -> str:
    return split_name(texts.codes[0])[0]


class SentenceSimilarity(OfModel):
    """Measure how alike the states of parallel sentences are in a language and in others, layer by layer.

    One step has all of the other languages, so that each is read by the encoder once.
    """

    version: ClassVar[int] = 2
    row_kind: ClassVar[str] = "similarity"

    texts: Parallel
    pooling: Pooling
    measures: tuple[SimilarityName, ...]
    revised: tuple[tuple[str, PositiveInt], ...] = ()
    """Measures whose revision is not the first."""

    @property
    def title(self) -> str:
        return f"compare sentences in {len(self.texts.pairs) + 1} languages: {self.model_title}"

    @property
    def told_by(self) -> dict[Hashable, Hashable]:
        labels, revised = tuple(self.labels.items()), dict(self.revised)
        # Those of the world are the same beside any others; of files all languages must have a sentence.
        texts = self.texts.model_copy(update={"languages": ()}) if isinstance(self.texts, WorldParallel) else self.texts
        return {
            (labels, *pair, name): (self.pooling, texts, revised.get(name))
            for pair in self.texts.pairs
            for name in self.measures
        }

    def execute(self, workspace: Workspace) -> None:
        """Write how alike the source's sentences are to those of each other language, by layer (0: the embeddings).

        Of first pieces the embeddings are left out: they are the same in all sentences.
        """
        from babelscope.encoders.tap import sentence_states
        from babelscope.measures.formulas.states import LanguageStates

        encoder = self.encoder(workspace)
        lowest = 1 if self.pooling == "first" else 0

        def states(language: str, code: str, sentences: list[str]) -> LanguageStates:
            reader = encoder.reading(code)
            return LanguageStates(language, sentence_states(reader, sentences, pooling=self.pooling)[lowest:])

        (code, source), *targets = zip(self.texts.codes, self.texts.read(), strict=True)
        of_source, rows = states("the source", code, source), []
        for (language, pair), (code, sentences) in zip(self.texts.pairs, targets, strict=True):
            labels = self.labels | {"language": language, "dataset": pair}
            rows += list(self._compared(of_source, states(language, code, sentences), lowest, labels))
        workspace.write_rows(rows)

    def _compared(
        self, source: LanguageStates, target: LanguageStates, lowest: int, labels: dict[str, Any]
    ) -> Iterator[Row]:
        """A row for every similarity and layer, of which `lowest` is the first."""
        for name in self.measures:
            similarity = SIMILARITIES[check_similarity(name)]
            values = similarity(source, target).tolist()
            check_layers_of(name, len(values), len(source.states))
            for layer, value in enumerate(values, lowest):
                yield Row(name, value, similarity.unit, layer=layer, **labels)

"""How long a text is in a tokenizer's tokens, in characters and in bytes.

A perplexity is per token, so that those of two tokenizers cannot be compared: a vocabulary of large pieces has fewer
and harder ones to predict. With these lengths a report divides the same loss by characters or bytes instead.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

from pydantic import SerializeAsAny

from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.steps import EncoderStep, keep_sentences
from babelscope.tuning.probes import Corpus


class TextSize(Step):
    """Count what perplexities are measured on, in the pieces of an encoder's tokenizer and without any tokenizer."""

    row_kind: ClassVar[str] = "text size"

    encoder: SerializeAsAny[EncoderStep]
    text: Corpus
    """Of one split."""
    task: str
    """Whose models' perplexity on the text is measured."""
    two_batches: bool = False
    """Whether it is measured on two batches of the text alone, by the quirk of that name."""

    @property
    def labels(self) -> dict[str, Any]:
        """The columns of the encoder and of the text."""
        text = {"language": self.text.languages, "dataset": self.text.name, "split": self.text.data[0].split}
        return self.encoder.labels | {"task": self.task} | text

    @property
    def title(self) -> str:
        return f"size of {self.text.name} for {self.encoder.labels['encoder']}"

    @property
    def told_by(self) -> dict[Hashable, Hashable]:
        return {tuple(self.labels.items()): self.two_batches}

    def execute(self, workspace: Workspace) -> None:
        """Write the numbers of tokens (special ones left out), unknown tokens among them, characters and bytes.

        Those of every sentence are kept, as the ratios that perplexities per character and byte are computed with.
        """
        from babelscope.tasks.quirky import two_batches

        encoder = self.encoder.build(workspace)
        sentences, encoded = list[str](), list[list[int]]()
        for data in self.text.data:
            tokenizer = encoder.reading(data.code).tokenizer
            read = list(data.read())
            sentences += read
            encoded += tokenizer(read, add_special_tokens=False, verbose=False)["input_ids"]
        if self.two_batches:
            places = two_batches(len(sentences)).tolist()
            sentences, encoded = [sentences[k] for k in places], [encoded[k] for k in places]
        sizes = {
            "tokens": [len(ids) for ids in encoded],
            "unknown tokens": [ids.count(encoder.tokenizer.unk_token_id) for ids in encoded],
            "characters": [len(sentence) for sentence in sentences],
            "bytes": [len(sentence.encode()) for sentence in sentences],
        }
        workspace.write_rows(
            Row(name, sum(each), name.split()[-1]).labelled(**self.labels) for name, each in sizes.items()
        )
        keep_sentences({unit: [sizes["tokens"], sizes[unit]] for unit in ("characters", "bytes")}, workspace)

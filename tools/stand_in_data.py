"""A data folder for `tools/paper_check.py`: real files where there are any, else ones written in the source's format.

What is written is of the artificial world; it stands in for data that are not at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from babelscope.core.examples import SentencePair
from babelscope.core.tasks import ENTITIES, LINES, TEXTS, Task
from babelscope.corpora.benchmarks import GLUE
from babelscope.corpora.bio import write_bio
from babelscope.corpora.conllu import write_conllu
from babelscope.corpora.pairs import Layout
from babelscope.corpora.sources import SPLITS, Split
from babelscope.world import World

LANGUAGE = "qaa"
LANGUAGES = {"en": "qaa", "ar": "qab", "ru": "qac"}
"""Of the world, in the place of real ones."""
XNLI: dict[Split, tuple[str, Layout]] = {
    "train": ("multinli.train.{}.tsv", Layout("premise", "hypo", "label")),
    "dev": ("xnli.dev.tsv", Layout("sentence1", "sentence2", "gold_label", language="language")),
    "test": ("xnli.test.tsv", Layout("sentence1", "sentence2", "gold_label", language="language")),
}
"""The files of XNLI-MT 1.0 and XNLI 1.0."""


def provide(task: Task, name: str, folder: Path, real: Path | None, examples: int) -> str:
    """Have a data set in the folder, with as many examples a split, and say where from: "real" or "written"."""
    place = _place(task, name)
    if real and _is_complete(real / place, name):
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.symlink_to(real / place, target_is_directory=True)
        return "real"
    (folder / place).mkdir(parents=True, exist_ok=True)
    _write(task, name, folder / place, examples)
    return "written"


def _place(task: Task, name: str) -> str:
    """Where the data folder has a data set."""
    if name.startswith("UD_"):
        return f"ud/{name.partition(':')[0]}"
    collection, _, part = name.partition(":")
    if collection == "xnli" or task.reads == LINES:
        return collection
    return f"{collection}/{part.removesuffix('-mm')}"


def _is_complete(folder: Path, name: str) -> bool:
    """Whether it has all splits that are trained on, selected on and scored."""
    if name.startswith(("glue:", "xnli:")):
        wanted = [f"{file}*" for _, file in GLUE[name.partition(":")[2]].files] if name.startswith("glue:") else []
        wanted += [file.format(name[-2:]) for file, _ in XNLI.values()] if name.startswith("xnli:") else []
    else:
        # A treebank that a study divides by itself is one file.
        wanted = ["*test*"] if name.startswith("UD_") and ":" in name else [f"*{split}*" for split in SPLITS]
    return folder.is_dir() and all(any(folder.glob(pattern)) for pattern in wanted)


def _write(task: Task, name: str, folder: Path, examples: int) -> None:
    world, code = World(), LANGUAGES.get(name[-2:], LANGUAGE)
    for split in SPLITS:
        if name.startswith("UD_"):
            divided = 2 * examples if ":" in name else examples  # of which a training set is a part
            write_conllu(folder / f"xx_xx-ud-{split}.conllu", world.treebank(LANGUAGE, split, divided))
        elif task.reads == ENTITIES:
            write_bio(folder / f"{split}.txt", world.entities(code, split, examples))
        elif task.reads == TEXTS:
            _write_texts(task, name, folder, split, _texts(task, code, split, examples))


def _texts(task: Task, code: str, split: str, examples: int) -> list[SentencePair]:
    """Those of the world's task of the same form, with this task's labels."""
    if not task.labels:
        return World().examples(code, "similarity", split, examples)
    like = "inference" if len(task.labels) == 3 else "paraphrase" if task.pair else "sentiment"
    texts = World().examples(code, like, split, examples)
    names = dict(zip(sorted({str(text.label) for text in texts}), sorted(task.labels), strict=True))
    return [text._replace(label=names[str(text.label)]) for text in texts]


def _write_texts(task: Task, name: str, folder: Path, split: Split, texts: Sequence[SentencePair]) -> None:
    part = name.partition(":")[2]
    glue = name.startswith("glue:")
    files = {key: (file, GLUE[part].layout) for key, file in GLUE[part].files} if glue else XNLI
    if split in files:
        file, layout = files[split]
        lines = [_cells(text, layout, part) for text in texts]
        header = [] if isinstance(layout.first, int) else [[str(column) for column in layout.columns.values()]]
        path = folder / file.format(part)
        content = "".join("\t".join(cells) + "\n" for cells in [*header, *lines])
        # The evaluation files of XNLI hold all languages.
        before = path.read_text(encoding="utf-8") if layout.language is not None and path.exists() else ""
        path.write_text(before + (content.partition("\n")[2] if before else content), encoding="utf-8")


def _cells(text: SentencePair, layout: Layout, language: str) -> list[str]:
    values = {"first": text.first, "second": text.second or "", "label": str(text.label), "language": language}
    if not isinstance(layout.first, int):
        return [values[part] for part in layout.columns]
    cells = ["-"] * (layout.cells or 1 + max(int(column) for column in layout.columns.values()))
    for part, column in layout.columns.items():
        cells[int(column)] = values[part]
    return cells

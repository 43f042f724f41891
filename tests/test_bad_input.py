"""Damaged studies and treebanks, given on the command line: exit status 2, the place of the fault, no traceback."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from babelscope.corpora.conllu import read_conllu
from babelscope.study.declare import load_study
from command_line import Answer, babelscope, declaration, transfer, write_study
from test_damaged_conllu import MUTATIONS, _cut
from treebank import EXPECTED, SAMPLE

Mutation = Callable[[str, random.Random], str | bytes]


def one_line(change: Callable[[str, random.Random], str]) -> Mutation:
    """The mutation that changes a random line."""

    def mutate(text: str, chance: random.Random) -> str:
        lines = text.splitlines()
        place = chance.randrange(len(lines))
        lines[place] = change(lines[place], chance)
        return "\n".join(lines)

    return mutate


def one_match(pattern: str, change: Callable[[str, random.Random], str]) -> Mutation:
    """The mutation that changes a random match of a pattern."""

    def mutate(text: str, chance: random.Random) -> str:
        found = chance.choice(list(re.finditer(pattern, text, re.MULTILINE)))
        return text[: found.start()] + change(found[0], chance) + text[found.end() :]

    return mutate


def append(*entries: str) -> Mutation:
    return lambda text, chance: f"{text}\n{chance.choice(entries)}\n"


def cut(text: str, chance: random.Random) -> str:
    """Leave out the end, so that neither retrieval nor a task is left whole: a study needs one of them."""
    within_retrieval = range(text.index("targets:"))
    within_tasks = range(text.index("tasks:") + 1, text.index("]", text.index(" train: ")))
    return text[: chance.choice([*within_retrieval, *within_tasks])]


def other_encoding(text: str, chance: random.Random) -> bytes:
    encoding = chance.choice(["latin-1", "utf-16", "utf-16-le", "utf-32", "cp500"])
    return text.replace("question: Does", "question: Né").encode(encoding)


def binary(text: str, chance: random.Random) -> bytes:
    return chance.choice([b"", text.encode()[:50], b"\x1f\x8b"]) + chance.randbytes(chance.randrange(1, 300))


def shuffle(text: str, chance: random.Random) -> str:
    """The keys of the top level, each with what it holds, in another order."""
    entries = re.split(r"^(?=\w)", text, flags=re.MULTILINE)
    chance.shuffle(entries)
    return "".join(entries)


KEY = r"\b\w+(?=:( |$))"
VALUE = r"(?<=[:,] )(?!Does)[^\[{,\]}\n]+"
"""Any value but the question, which may be any text, and but the first ones of lists."""
WRONG_VALUES = [
    "-1", "1e400", ".nan", "[]", "{}", "''", "9" * 5000, "0x" + "f" * 5000, '"\\ud800"', '"\\0"', "2001-01-01",
    "2024-13-45", "*a", "!!python/name:os.system", "!!int x", "!!bool x", "? x", "%", "`", "[[[[1]]]]", "0o9",
]  # fmt: skip
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
FAULTS: dict[str, Mutation] = {
    "cut": cut,
    "encoding": other_encoding,
    "binary": binary,
    "tab": one_line(lambda line, chance: "\t" + line),
    "indented": one_match(r"^\w", lambda letter, chance: " " * chance.randrange(1, 4) + letter),
    "misspelt key": one_match(KEY, lambda key, chance: key.replace(chance.choice(key), chance.choice("éß_Q0"))),
    "no colon": one_line(lambda line, chance: line.replace(":", chance.choice(["", "=", ": :"]), 1)),
    "value begun wrongly": one_match(
        VALUE, lambda value, chance: chance.choice(["`", "@", "%", "]", "}", '"', "*"]) + value
    ),
    "value": one_match(VALUE, lambda value, chance: chance.choice(WRONG_VALUES)),
    "unknown key": append("sedes: [1]", "1: 2", "null: 3", "? [a, b]\n: 4", "? {a: b}\n: 4", "Name: x", '"": 1'),
    "key twice": append("name: other", "seeds: [1]", "tuning: {epochs: 1, epochs: 2}", "encoders: []"),
    "huge line": lambda text, chance: text + "\n# " + "x" * chance.randrange(100_000, 200_000),
    "huge word": lambda text, chance: text + f"\nquestion: {'x' * chance.randrange(50_000, 90_000)} : y\n",
    "deep": lambda text, chance: text + "\ndeep: " + chance.choice("[{") * chance.randrange(500, 3_000),
    "bomb": lambda text, chance: BOMB + text.replace("surgeries:", f"surgeries: *{chance.choice('ghi')}\nold:"),
    "loop": append("deep: &a [*a]", "deep: &a {x: *a}", "world_seed: &a {train: *a}"),
    "two documents": append("---\nname: x", "...\n---\n", "%YAML 9.9\n---"),
}
"""Each makes of a study, whatever the seed, what is not one."""

HARMLESS: dict[str, Mutation] = {
    "order": shuffle,
    "comments": one_line(lambda line, chance: f"{line}  # {'[{' * chance.randrange(9)}"),
    "empty lines": one_line(lambda line, chance: "\n" * chance.randrange(5) + line + " " * chance.randrange(5)),
    "line ends": lambda text, chance: text.replace("\n", chance.choice(["\r\n", "\r"])),
    "mark": lambda text, chance: chance.choice(["---\n", "\ufeff", "%YAML 1.2\n---\n"]) + text + "...\n",
    "quotes": one_match(r"(?<=: )(\w+)$", lambda value, chance: f"'{value}'" if not value.isdigit() else f" {value}"),
    "alias": lambda text, chance: text.replace("[world:qaa,", "[&a world:qaa,").replace("[world:qaa]", "[*a]"),
    "loop": append("<<: &a {<<: *a}", "<<: &a {name: *a}"),
}  # fmt: skip
"""Each says the same in other words."""


@pytest.fixture
def study(tmp_path: Path, encoder_folder: Path) -> Path:
    path = write_study(tmp_path / "study.yaml", declaration(encoder_folder))
    assert babelscope("plan", path, "--store", tmp_path / "store").status == 0
    return path


def assert_explained(answer: Answer, path: Path) -> None:
    """Exit status 2, and a short message that names the file and its line, or the path of a key."""
    assert answer.status == 2, answer
    assert answer.errors.startswith("error ") and "Traceback" not in answer.errors
    assert str(path) in answer.errors or re.search(r"^  - \w[\w.]*: ", answer.errors, re.MULTILINE), answer.errors
    assert max(map(len, answer.errors.splitlines())) < 1_000


def rewrite(study: Path, mutate: Mutation, seed: int) -> None:
    """Replace a study by a mutation of what `study` held at first."""
    text = study.read_text(encoding="utf-8")
    changed = mutate(text, random.Random(seed))
    study.write_bytes(changed if isinstance(changed, bytes) else changed.encode())


@pytest.mark.parametrize("name", FAULTS)
def test_a_faulty_study_is_refused(study: Path, name: str) -> None:
    original, store = study.read_bytes(), study.parent / "store"
    for seed in range(2 if name == "deep" else 20):
        study.write_bytes(original)
        rewrite(study, FAULTS[name], seed)
        assert_explained(babelscope("run" if seed % 5 == 0 else "plan", study, "--store", store), study)
    assert not store.exists()


@pytest.mark.parametrize("name", HARMLESS)
def test_the_same_study_in_other_words_is_the_same_study(study: Path, name: str) -> None:
    original, expected, texts = study.read_bytes(), load_study(study), set()
    for seed in range(10):
        study.write_bytes(original)
        rewrite(study, HARMLESS[name], seed)
        texts.add(study.read_bytes())
        assert load_study(study) == expected
    assert texts != {original}
    assert babelscope("plan", study, "--store", study.parent / "store").status == 0


# Treebanks


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a treebank of two sentences of its own in each split; gives the file of the test split."""
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path / "data"))
    folder = tmp_path / "data" / "ud" / "UD_French-Harbour"
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        content = SAMPLE if split == "test" else SAMPLE.replace("Je", f"Je-{split}").replace("Sam", f"Sam-{split}")
        (folder / f"fr_harbour-ud-{split}.conllu").write_text(content, encoding="utf-8")
    return folder / "fr_harbour-ud-test.conllu"


@pytest.fixture
def real_study(tmp_path: Path, encoder_folder: Path, data: Path) -> Path:
    treebank = ["UD_French-Harbour"]
    declared = declaration(
        encoder_folder, tasks={"pos": transfer(train=treebank, evaluate=treebank)}, retrieval=None, seeds=[0]
    )
    return write_study(tmp_path / "real.yaml", declared)


@pytest.mark.parametrize("mutate", MUTATIONS)
def test_a_damaged_treebank_is_refused_before_anything_is_computed(real_study: Path, data: Path, mutate) -> None:
    store = real_study.parent / "store"
    for seed in range(5):
        data.write_bytes(mutate(SAMPLE.encode(), random.Random(seed)))
        answer = babelscope("plan", real_study, "--store", store)
        if answer.status == 0:  # a file cut between two sentences is a smaller file without a fault
            read = read_conllu(data)
            assert read == (EXPECTED[: len(read)] if mutate is _cut else EXPECTED)
            continue
        assert_explained(answer, data)
        assert re.search(rf"{re.escape(str(data))}(:\d+)?: ", answer.errors)
        assert babelscope("run", real_study, "--store", store)[::2] == (2, answer.errors)
    assert not store.exists()


def test_every_damaged_file_is_named(real_study: Path, data: Path) -> None:
    for split in ("test", "train"):
        path = data.with_name(f"fr_harbour-ud-{split}.conllu")
        path.write_text(SAMPLE.replace("6\t.\t", "x\t.\t") + f"# {split}\n", encoding="utf-8")
    answer = babelscope("plan", real_study, "--store", real_study.parent / "store")
    assert answer.status == 2
    assert re.findall(r"- UD_French-Harbour, (\w+): .*ud-(\w+).conllu:10: the id is 'x'", answer.errors) == [
        ("train", "train"), ("test", "test"),
    ]  # fmt: skip


def test_a_fault_is_told_once_whatever_reads_the_file(tmp_path: Path, encoder_folder: Path, data: Path) -> None:
    """Train and dev are parts of one file; tagger and parser read the same treebank."""
    data.write_text(SAMPLE.replace("6\t.\t", "x\t.\t"), encoding="utf-8")
    for name, label in (("train", "2"), ("dev", "entailment")):
        path = tmp_path / "data" / "glue" / "RTE" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"index\tsentence1\tsentence2\tlabel\n0\tIt is so.\tSo it is.\t{label}\n", encoding="utf-8")
    treebank = {"train": ["world:qaa"], "evaluate": ["UD_French-Harbour"]}
    tasks = {"rte": {"train": ["glue:RTE"], "evaluate": ["glue:RTE"]}, "pos": treebank, "parsing": treebank}
    path = write_study(tmp_path / "study.yaml", declaration(encoder_folder, tasks=tasks, retrieval=None))
    errors = babelscope("plan", path, "--store", tmp_path / "store").errors
    assert errors.startswith("error malformed data: 2 faults\n")
    assert errors.count("train.tsv:2: unknown label '2'") == errors.count("test.conllu:10: the id is 'x'") == 1


def test_a_treebank_and_its_gzip_make_the_same_plan(real_study: Path, data: Path) -> None:
    from babelscope.study.compile import compile_study
    from babelscope.study.declare import load_study

    plain = compile_study(load_study(real_study))
    data.with_name(f"{data.name}.gz").write_bytes(gzip.compress(SAMPLE.encode()))
    data.unlink()
    assert compile_study(load_study(real_study)).steps.keys() == plain.steps.keys()


def test_without_data_and_network_there_is_one_line_a_fault(encoder_folder, tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("BABELSCOPE_DATA", raising=False)
    names = ["Nowhere", "UD_Klingon-X", "world:qzz", "UD_Martian-Y"]
    path = write_study(
        tmp_path / "study.yaml",
        declaration(encoder_folder, tasks={"pos": transfer(train=names)}, encoders=["/no", "/nope"]),
    )
    answer = babelscope("run", path, "--store", tmp_path / "store")
    lines = answer.errors.splitlines()
    assert answer.status == 2 and lines[0] == "error study tiny: 6 faults"
    assert [line.split(":")[0] for line in lines[1:7]] == [
        "  - encoders.0", "  - encoders.1", *(f"  - tasks.pos.train.{k}" for k in range(4)),
    ]  # fmt: skip
    advice = [line.split()[0] for line in lines[7:]]
    assert advice == ["Give", "BABELSCOPE_DATA", "Connect"]

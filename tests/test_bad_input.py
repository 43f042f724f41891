"""Damaged studies and treebanks, given on the command line: exit status 2, the place of the fault, no traceback."""

from __future__ import annotations

import gzip
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from babelscope.corpora.conllu import read_conllu
from command_line import Answer, babelscope, declaration, write_study
from test_conllu import EXPECTED, MUTATIONS, SAMPLE, _cut

Mutation = Callable[[str, random.Random], str | bytes]


def one_line(change: Callable[[str, random.Random], str]) -> Mutation:
    """The mutation that changes a random line."""

    def mutate(text: str, chance: random.Random) -> str:
        lines = text.splitlines()
        place = chance.randrange(len(lines))
        lines[place] = change(lines[place], chance)
        return "\n".join(lines)

    return mutate


def append(*entries: str) -> Mutation:
    return lambda text, chance: f"{text}\n{chance.choice(entries)}\n"


def cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text))]


def other_encoding(text: str, chance: random.Random) -> bytes:
    return ("question: né\n" + text).encode(chance.choice(["latin-1", "utf-16", "utf-16-le", "utf-32", "cp500"]))


def binary(text: str, chance: random.Random) -> bytes:
    return chance.choice([b"", text.encode()[:50], b"\x1f\x8b"]) + chance.randbytes(chance.randrange(1, 300))


def swap_lines(text: str, chance: random.Random) -> str:
    lines = text.splitlines()
    chance.shuffle(lines)
    return "\n".join(lines)


def other_scalar(text: str, chance: random.Random) -> str:
    """Put something unexpected in the place of a value."""
    values = ["-1", "1e400", ".nan", "null", "[]", "{}", "''", "9" * 5000, '"\\ud800"', '"\\0"', "2001-01-01", "*a",
              "!!python/name:os.system", "!!binary aGk=", "? x", "%", "`", "[[[[1]]]]", "no", "0o7"]  # fmt: skip
    places = list(re.finditer(r"(?<=[:,\[-] )[^\[{,\]}\n]+", text))
    place = chance.choice(places)
    return text[: place.start()] + chance.choice(values) + text[place.end() :]


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MUTATIONS_OF_A_STUDY: dict[str, Mutation] = {
    "cut": cut,
    "encoding": other_encoding,
    "binary": binary,
    "tab": one_line(lambda line, chance: "\t" + line),
    "indented": one_line(lambda line, chance: " " * chance.randrange(1, 4) + line),
    "letter": one_line(lambda line, chance: line.replace(chance.choice(line or "x"), chance.choice("é:{}[]#&*!|>%@`"))),
    "no colon": one_line(lambda line, chance: line.replace(":", chance.choice(["", "=", ": :"]), 1)),
    "unknown key": append("sedes: [1]", "1: 2", "null: 3", "? [a, b]\n: 4", "? {a: b}\n: 4", "Name: x", '"": 1'),
    "key twice": append("name: other", "seeds: [1]", "tuning: {epochs: 1, epochs: 2}", "encoders: []"),
    "huge line": lambda text, chance: text + "\n# " + "x" * chance.randrange(100_000, 200_000),
    "huge word": lambda text, chance: text + f"\nquestion: {'x' * chance.randrange(50_000, 90_000)} : y\n",
    "deep": lambda text, chance: text + "\ndeep: " + chance.choice("[{") * chance.randrange(500, 3_000),
    "bomb": lambda text, chance: BOMB + text.replace("evaluate:", f"evaluate: *{chance.choice('ghi')}\nold:"),
    "loop": append("deep: &a [*a]", "deep: &a {x: *a}", "sizes: &a {train: *a}", "<<: &a {<<: *a}"),
    "two documents": append("---\nname: x", "...\n---\n", "%YAML 9.9\n---"),
    "order": swap_lines,
    "scalar": other_scalar,
}  # fmt: skip


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


@pytest.mark.parametrize("name", MUTATIONS_OF_A_STUDY)
def test_a_damaged_study_is_refused_or_harmless(study: Path, name: str) -> None:
    text, statuses = study.read_text(encoding="utf-8"), Counter[int]()
    for seed in range(2 if name == "deep" else 20):
        damaged = MUTATIONS_OF_A_STUDY[name](text, random.Random(seed))
        study.write_bytes(damaged if isinstance(damaged, bytes) else damaged.encode("utf-8", "surrogatepass"))
        answer = babelscope("plan", study, "--store", study.parent / "store")
        statuses[answer.status] += 1
        if answer.status != 0:
            assert_explained(answer, study)
    assert statuses[2] or name == "order"


# Treebanks


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a treebank of two sentences in each split; gives the file of the test split."""
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path / "data"))
    folder = tmp_path / "data" / "ud" / "UD_French-Harbour"
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (folder / f"fr_harbour-ud-{split}.conllu").write_text(SAMPLE, encoding="utf-8")
    return folder / "fr_harbour-ud-test.conllu"


@pytest.fixture
def real_study(tmp_path: Path, encoder_folder: Path, data: Path) -> Path:
    treebank = ["UD_French-Harbour"]
    declared = declaration(encoder_folder, train=treebank, evaluate=treebank, retrieval=None, seeds=[0])
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


def test_a_treebank_and_its_gzip_make_the_same_plan(real_study: Path, data: Path) -> None:
    from babelscope.plan import compile_study
    from babelscope.study import load_study

    plain = compile_study(load_study(real_study))
    data.with_name(f"{data.name}.gz").write_bytes(gzip.compress(SAMPLE.encode()))
    data.unlink()
    assert compile_study(load_study(real_study)).steps.keys() == plain.steps.keys()


def test_without_data_and_network_there_is_one_line_a_fault(encoder_folder, tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("BABELSCOPE_DATA", raising=False)
    names = ["Nowhere", "UD_Klingon-X", "world:qzz", "UD_Martian-Y"]
    path = write_study(tmp_path / "study.yaml", declaration(encoder_folder, train=names, encoders=["/no", "/nope"]))
    answer = babelscope("run", path, "--store", tmp_path / "store")
    lines = answer.errors.splitlines()
    assert answer.status == 2 and lines[0] == "error study tiny: 6 faults"
    assert [line.split(":")[0] for line in lines[1:7]] == [
        "  - encoders.0", "  - encoders.1", "  - train.0", "  - train.1", "  - train.2", "  - train.3",
    ]  # fmt: skip
    advice = [line.split()[0] for line in lines[7:]]
    assert advice == ["Give", "BABELSCOPE_DATA", "Connect"]

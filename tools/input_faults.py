"""Faulty input without end: for whatever a user gives, there is nothing but errors in words, soon and in little memory.

    python tools/input_faults.py --minutes 5

Each attempt follows from its kind and its number; what goes wrong is printed with both, and `--kind K --first N
--attempts 1` does it again.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

from mutations import ODD, odd_file, odd_json_file
from right_input import BIO, CONLLU, STUDY, TABLE, TMX, TSV, commands, write_folders

from babelscope.core.errors import BabelscopeError, InputError

SECONDS = 60
"""That an attempt may take; those that are well take less than one, but machines are busy."""
LONGEST = 100_000
"""Letters of an argument: systems allow hardly more."""
MEMORY = 6 << 30
"""Bytes that an attempt may take, beside what the process has."""
Attempt = Callable[[random.Random, Path], object]
"""Does something with faulty input; `folder` is its own."""


class HangError(BaseException):
    """An attempt takes too long. No error of any library, so that none takes it for one of its own."""


class Problem(NamedTuple):
    """What should not have been."""

    kind: str
    number: int
    what: str


def problems(
    attempts: dict[str, Attempt], folder: Path, numbers: Iterator[int], tally: Counter[str]
) -> Iterator[Problem]:
    """Make attempts, kind after kind; `tally` counts how they ended."""
    for number in numbers:
        kind = list(attempts)[number % len(attempts)]
        place = folder / "attempt"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        try:
            with contextlib.chdir(place), _within(SECONDS), _quietly():
                attempts[kind](random.Random(f"{kind} {number}"), place)  # noqa: S311
            tally[f"{kind}: fine"] += 1
        except BabelscopeError as error:
            tally[f"{kind}: refused"] += 1
            if not str(error).strip():
                yield Problem(kind, number, "an error without words")
        except (Exception, HangError):
            tally[f"{kind}: WRONG"] += 1
            yield Problem(kind, number, traceback.format_exc(limit=-8))


@contextlib.contextmanager
def _within(seconds: int) -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise HangError(f"not done after {seconds} seconds")

    previous = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """What is printed goes nowhere, by a strict terminal's encoding."""
    output, errors = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        yield


# Files


def _file(name: str, text: str, read: Callable[[Path], object]) -> Attempt:
    def attempt(chance: random.Random, folder: Path) -> object:
        path = folder / name
        path.write_bytes(odd_file(text, chance))
        return read(path)

    return attempt


def _data(task: str, form: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        from babelscope.corpora.datasets import find_file

        data = find_file(task, form.format(path), "train")
        return data.check(), data.read()

    return read


def _transliterated(path: Path) -> object:
    from babelscope.corpora.transliteration import transliteration

    return transliteration(f"table:{path}")("Щука и ёж. ABC abc aaaa" * 20)


def _pairs(language: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        from babelscope.corpora.parallel import given_pairs

        return given_pairs(str(path), language).read()

    return read


def _aligned(path: Path) -> object:
    from babelscope.corpora.lines import content_digest
    from babelscope.corpora.parallel_words import AlignmentFile

    return AlignmentFile(file=str(path), sha256=content_digest(path)).read([(["a", "b"], ["c"]), (["d"], ["e", "f"])])


def _planned(path: Path) -> object:
    from babelscope.study.compile import compile_study
    from babelscope.study.declare import load_study

    return compile_study(load_study(path))


def _documents(task: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        from babelscope.core.tasks import task_of
        from babelscope.tasks.kinds import kind_of

        return kind_of(task_of(task)).document(task_of(task), path).inputs

    return read


READERS: dict[str, Attempt] = {
    "treebank": _file("x.conllu", CONLLU, _data("pos", "treebank:mt:{}")),
    "unlabelled words": _file("x.conllu", CONLLU, _documents("parsing")),
    "entities": _file("x.bio", BIO, _documents("ner")),
    "table of texts": _file("x.tsv", TSV, _data("xnli", "tsv:mt:{}")),
    "unlabelled texts": _file("x.tsv", TSV, _documents("xnli")),
    "pairs": _file("x.tsv", "a b\tc d\ne\tf\n" * 9, _pairs("de")),
    "translation memory": _file("x.tmx", TMX, _pairs("de")),
    "plain text": _file("x.txt", "A line of text.\nAnother one, longer.\n" * 9, _data("mlm", "text:mt:{}")),
    "documents": _file(
        "x.jsonl", '{"text": "One. Two! \\u00e9"}\n{"content": "Three?", "id": [1]}\n' * 9, _data("mlm", "text:mt:{}")
    ),
    "alignments": _file("x.align", "0-0 1-0\n0-0 0-1\n", _aligned),
    "letters": _file("x.tsv", TABLE, _transliterated),
    "study": _file("x.yaml", STUDY, _planned),
}


# Folders


def _folder(original: Path, name: str, read: Callable[[Path], object]) -> Attempt:
    def attempt(chance: random.Random, folder: Path) -> object:
        copied = shutil.copytree(original, folder / "given")
        path = copied / name
        if path.suffix == ".json":
            path.write_bytes(odd_json_file(json.loads(path.read_text()), chance))
        else:
            raw = path.read_bytes()
            length = int.from_bytes(raw[:8], "little")
            header = odd_json_file(json.loads(raw[8 : 8 + length]), chance)
            path.write_bytes(len(header).to_bytes(8, "little") + header + raw[8 + length :])
        return read(copied)

    return attempt


def _loaded(folder: Path) -> object:
    from babelscope.encoders.load import load_located
    from babelscope.encoders.places import has_mlm_head, layer_count, locate, word_width
    from babelscope.encoders.tap import sentence_states

    place = locate(str(folder))
    has_mlm_head(place.path), layer_count(place.path), word_width(place.path)
    return sentence_states(load_located(place), ["the cat sees Щука", ""])


def _predicted(folder: Path) -> object:
    from babelscope.engine.store import Store
    from babelscope.engine.trained import predict

    (folder.parent / "in.txt").write_text("the cat sees\n")
    return predict(Store(folder.parent / "store"), str(folder), folder.parent / "in.txt", folder.parent / "out.conllu")


def folders(encoder: Path, tagger: Path) -> dict[str, Attempt]:
    """Attempts at faulty folders, by the file that is at fault."""
    names = ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")
    return {f"encoder's {name}": _folder(encoder, name, _loaded) for name in names} | {
        f"tagger's {name}": _folder(tagger, name, _predicted)
        for name in ("babelscope.json", "bring-in.json", "config.json")
    }


# Commands


def _command(arguments: list[str]) -> Attempt:
    def attempt(chance: random.Random, folder: Path) -> None:
        (folder / "text.txt").write_text("the cat sees\na dog\n")
        (folder / "pairs.tsv").write_text("the cat sees\tde kat ziet\na small dog\teen hond\n" * 9)
        (folder / "study.yaml").write_text(STUDY)
        _called(_odd_arguments(arguments, chance))

    return attempt


def _odd_arguments(arguments: list[str], chance: random.Random) -> list[str]:
    """One argument or two changed, dropped, given twice, or a part of one replaced."""
    given = list(arguments)
    for _ in range(chance.choice([1, 1, 2])):
        place = chance.randrange(1, len(given))
        if (fate := chance.random()) < 0.1:
            given.insert(place, chance.choice(ODD))
        elif fate < 0.2 and len(given) > 2:
            del given[place]
        elif fate < 0.5:
            given[place] = chance.choice(ODD)
        else:
            given[place] = odd_file(given[place], chance).decode("utf-8", "surrogateescape")
    return [argument[:LONGEST] for argument in given]


def _called(arguments: list[str]) -> None:
    from babelscope.face.cli import main

    before, sys.argv = sys.argv, ["babelscope", *arguments]
    try:
        main()
    except SystemExit as end:
        if end.code not in (None, 0):
            refused = InputError if end.code in (1, 2) else RuntimeError
            raise refused(f"exit status {end.code} of {arguments!a:.3000}") from None
    except BaseException as error:
        error.add_note(f"arguments: {arguments!a:.3000}")
        raise
    finally:
        sys.argv = before


def all_attempts(folder: Path) -> dict[str, Attempt]:
    """Every kind of attempt, by name."""
    encoder, tagger = write_folders(folder)
    called = {f"babelscope {name}": _command(arguments) for name, arguments in commands(encoder, tagger).items()}
    return READERS | folders(encoder, tagger) | called


def main() -> None:
    """Attempt until the time is over; the exit status is 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--kind", help="one kind alone")
    parser.add_argument("--first", type=int, default=int(time.time()), help="the number of the first attempt")
    parser.add_argument("--attempts", type=int, help="so many instead of minutes")
    given = parser.parse_args()
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1")
    os.environ.pop("BABELSCOPE_DATA", None)
    tally: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        attempts = all_attempts(Path(temporary))
        chosen = {given.kind: attempts[given.kind]} if given.kind else attempts
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (held + MEMORY, resource.RLIM_INFINITY))
        for kind, number, what in problems(chosen, Path(temporary), _numbers(given), tally):
            print(f"{'-' * 80}\n--kind {kind!r} --first {number} --attempts 1\n{what}", flush=True)
    print("\n".join(f"{name:60} {tally[name]}" for name in sorted(tally)))
    sys.exit(any("WRONG" in name for name in tally))


def _numbers(given: argparse.Namespace) -> Iterator[int]:
    end = time.monotonic() + 60 * given.minutes
    for done, number in enumerate(count(given.first)):
        if done >= given.attempts if given.attempts else time.monotonic() > end:
            return
        yield number


if __name__ == "__main__":
    main()

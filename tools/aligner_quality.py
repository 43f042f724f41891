"""How good the aligner's links are, beside those of other aligners: prints the table of docs/alignment.md.

    python tools/aligner_quality.py --gold XL-WA/data --languages es nl --text ntrex --write texts
    python tools/aligner_quality.py --gold XL-WA/data --languages es nl --text ntrex --links fast_align=links

Test sets are languages of the artificial world, where it is known what translates what, and those of a folder of gold
alignments: in `LANGUAGE/dev.tsv` and `test.tsv` a line is an English sentence, its translation, words separated by
spaces, and links such as `0-0 1-2`, separated by tabs. They are aligned together with texts, by names as in studies.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from babelscope.corpora.alignment.align import align_words
from babelscope.corpora.alignment.error_rate import alignment_quality
from babelscope.corpora.alignment.links import Links, WordPair
from babelscope.corpora.parallel import find_named_pairs
from babelscope.world import World

WORLD = ("qab", "qae", "qaf", "qai")
SIZES = (200, 600, 2000)
SOURCE = "qaa"
PARTS = ("dev", "test")
_WORDS = re.compile(r"\w+|[^\w\s]")


class TestSet(NamedTuple):
    """Sentence pairs to align, the first of which are judged."""

    name: str
    pairs: list[WordPair]
    sure: list[Links]
    possible: list[Links]


def of_world(code: str, count: int) -> TestSet:
    """Words of one meaning translate each other; those without a meaning, such as full stops, may do so."""
    parallel = World().parallel([SOURCE, code], count)
    pairs = [(each.sentences[SOURCE].forms, each.sentences[code].forms) for each in parallel]
    sure = [each.alignment(SOURCE, code) for each in parallel]
    return TestSet(f"world-{code}-{count}", pairs, sure, [each.possible(SOURCE, code) for each in parallel])


def of_people(folder: Path, language: str, texts: Sequence[str] = ()) -> TestSet:
    """The dev and test sentences of a language, and those of texts behind them, which are not judged."""
    lines = [line for part in PARTS for line in (folder / language / f"{part}.tsv").read_text("utf-8").splitlines()]
    cells = [(*line.split("\t"), "")[:3] for line in lines]
    sure = [pharaoh(links) for _, _, links in cells]
    pairs: list[WordPair] = [(first.split(), second.split()) for first, second, _ in cells]
    for text in texts:
        others = find_named_pairs(f"{text}:{language}").read()
        pairs += [(_WORDS.findall(first), _WORDS.findall(second)) for first, second in others]
    return TestSet(language, pairs, sure, sure)


def pharaoh(line: str) -> Links:
    """`0-0 1-2` as links."""
    return [(int(i), int(j)) for i, j in (link.split("-") for link in line.split())]


def lines(test_set: TestSet, others: Sequence[tuple[str, Path]]) -> Iterator[str]:
    """A line of the table for each aligner: this one, and those whose links are in a folder, `NAME.align`."""
    start = time.process_time()
    links = align_words(test_set.pairs)
    yield _line(test_set, "Babelscope", links, f"{time.process_time() - start:.1f}")
    for name, folder in others:
        if (file := folder / f"{test_set.name}.align").is_file():
            yield _line(test_set, name, [pharaoh(line) for line in file.read_text("utf-8").splitlines()], "")


def _line(test_set: TestSet, aligner: str, links: Sequence[Links], seconds: str) -> str:
    judged = alignment_quality(links[: len(test_set.sure)], test_set.sure, test_set.possible)
    shares = " | ".join(f"{100 * share:.1f}" for share in judged)
    return f"| {test_set.name} | {len(test_set.pairs):,} | {aligner} | {shares} | {seconds} |"


def write(test_set: TestSet, folder: Path) -> None:
    """What other aligners read, `NAME.txt`: `the house ||| das haus`, a pair a line, in small letters."""
    folder.mkdir(parents=True, exist_ok=True)
    sides = ((" ".join(first), " ".join(second)) for first, second in test_set.pairs)
    text = "".join(f"{first} ||| {second}\n".casefold() for first, second in sides)
    (folder / f"{test_set.name}.txt").write_text(text, encoding="utf-8")


def _other(given: str) -> tuple[str, Path]:
    name, _, folder = given.partition("=")
    return name, Path(folder)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", nargs="*", default=WORLD, help="languages of the artificial world")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="sentences of these")
    parser.add_argument("--gold", type=Path, help="the folder of gold alignments")
    parser.add_argument("--languages", nargs="+", default=(), help="languages in it")
    parser.add_argument("--text", nargs="+", default=(), help="aligned with them, such as ntrex")
    parser.add_argument("--links", nargs="+", type=_other, default=(), help="NAME=FOLDER of another aligner's links")
    parser.add_argument("--write", type=Path, help="only write what is aligned into this folder, for other aligners")
    given = parser.parse_args(arguments)
    if given.languages and not given.gold:
        parser.error(f"--languages {' '.join(given.languages)}: give the folder that they are in with --gold")
    test_sets = [of_world(code, count) for code in given.world for count in given.sizes]
    test_sets += [of_people(given.gold, language, given.text) for language in given.languages]
    if given.write:
        for test_set in test_sets:
            write(test_set, given.write)
        return
    print("| test set | pairs | aligner | precision | recall | error rate | seconds |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for test_set in test_sets:
        for line in lines(test_set, given.links):
            print(line, flush=True)


if __name__ == "__main__":
    main()

"""What docs/reliability.md says of attempts: how many were made, and how they ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

ENDINGS = ("fine", "refused", "WRONG")


def tables(parts: Sequence[Counter[str]]) -> str:
    """The tables of all counts together."""
    tally = sum(parts, Counter[str]())
    kinds = sorted({name.rpartition(": ")[0] for name in tally if name.endswith(ENDINGS)})
    attempts = [(kind, *(tally[f"{kind}: {ending}"] for ending in ENDINGS)) for kind in kinds]
    done = sorted((name, count) for name, count in tally.items() if not name.endswith(ENDINGS) and count)
    return "\n".join(
        [
            _table(("attempts", "went well", "refused in words", "wrong"), attempts),
            _table(("what was done in them", "times"), done),
        ]
    )


def _table(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    return "".join(f"{line}\n" for line in _lines(header, lines))


def _lines(header: Sequence[str], lines: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"| --- {'| ---: ' * (len(header) - 1)}|"
    for name, *counts in lines:
        yield f"| {name} | {' | '.join(f'{count:,}' for count in counts)} |"

"""What Zhang (2021) claims of encoders and surgeries, as contrasts of monolingual-benefits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

ALIKE = 0.02
"""Two scores that differ by less are as good as each other: two points of 100. The thesis says `similar`, without a
number; between the best and the worst of three runs of one experiment it saw about 3 points (section 7)."""
HALVED = ("drop-last-half", "drop-every-second")
"""Surgeries that leave half of the layers."""


class _Claim(NamedTuple):
    """What the thesis says of pairs of conditions, each an encoder and a surgery."""

    text: str
    first: tuple[str, str | None]
    second: tuple[str, str | None]
    alike: bool = False
    """Whether it says that the two are about as good as each other, and not that the first is better."""

    @property
    def declared(self) -> dict[str, Any]:
        """As a study has it."""
        sides = ({"encoder": encoder, "surgery": surgery} for encoder, surgery in (self.first, self.second))
        margin = {"margin": ALIKE} if self.alike else {}
        return {"claim": self.text} | dict(zip(("first", "second"), sides, strict=True)) | margin


def contrasts(english: str, foreign: Sequence[str], distilled: Sequence[str] = (), tasks: Sequence[str] = ()) -> Any:
    """The thesis' six findings (section 1) in its order, and what it says of initialisation (5.1, 5.2).

    Args:
        english: the encoder that the surgeries are of, by its name in rows.
        foreign: those of other languages.
        distilled: what halved encoders are held against.
        tasks: that claims are made of; none: all of the study.
    """
    clean = (english, "clean")
    claims = [
        _Claim(
            "Pre-trained is better than reversed layers (finding 1, table 1)", (english, None), (english, "reversed")
        ),
        _Claim("Reversed layers are better than a clean encoder (finding 1, table 1)", (english, "reversed"), clean),
        *(claim for name in foreign for claim in _of_foreign(name, english)),
        *(claim for name in (english, *foreign) for claim in _of_shuffled(name)),
        *(claim for name in foreign for claim in _of_transplanted(name)),
        _Claim(
            "An oracle's initialisation is better than a clean encoder (finding 5, table 6)", (english, "oracle"), clean
        ),
        _Claim(
            "The pre-trained magnitude is as good as a clean encoder (5.1)", (english, "same-magnitude"), clean, True
        ),
        _Claim("The pre-trained variance is as good as a clean encoder (5.1)", (english, "same-variance"), clean, True),
        *(claim for surgery in HALVED for claim in _of_halved(english, surgery, distilled)),
    ]
    return [claim.declared | {"tasks": tasks} for claim in claims]


def _of_foreign(name: str, english: str) -> Iterator[_Claim]:
    """Findings 2 and 4, and that an oracle's initialisation never comes close (5.2)."""
    intact = (name, None)
    yield _Claim("A foreign encoder is better than a clean one (finding 2, table 3)", intact, (english, "clean"))
    yield _Claim("A foreign encoder is as good as the English one (finding 2, table 3)", intact, (english, None), True)
    shuffled = (name, "shuffled-embeddings")
    yield _Claim("A foreign encoder is better intact than shuffled (finding 4, table 4)", intact, shuffled)
    text = "A foreign encoder is better intact than with English word embeddings (finding 4, table 5)"
    yield _Claim(text, intact, (name, "english-embeddings"))
    text = "The English encoder with shuffled word embeddings is as good as a foreign one (4.2, table 4)"
    yield _Claim(text, (english, "shuffled-embeddings"), intact, True)
    text = "A foreign encoder is better than an oracle's initialisation (5.2, tables 3 and 6)"
    yield _Claim(text, intact, (english, "oracle"))


def _of_shuffled(name: str) -> Iterator[_Claim]:
    shuffled, fresh = (name, "shuffled-embeddings"), (name, "clean-embeddings")
    yield _Claim("Shuffled word embeddings are better than clean ones (finding 3, table 4)", shuffled, fresh)


def _of_transplanted(name: str) -> Iterator[_Claim]:
    text = "A foreign encoder with English word embeddings is better than with clean ones (finding 3, table 5)"
    yield _Claim(text, (name, "english-embeddings"), (name, "clean-embeddings"))


def _of_halved(english: str, surgery: str, distilled: Sequence[str]) -> Iterator[_Claim]:
    """Finding 6."""
    half = (english, surgery)
    yield _Claim("Half of the layers are better than a clean encoder (finding 6, table 8)", half, (english, "clean"))
    yield _Claim("Half of the layers are as good as all (finding 6, table 8)", half, (english, None), True)
    for name in distilled:
        yield _Claim("Half of the layers are as good as a distilled encoder (table 8)", half, (name, None), True)

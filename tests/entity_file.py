"""A small file of entities: as it is written, as it is read, and what changes nothing of it."""

import os
import re
from pathlib import Path

import pytest

from babelscope.core.examples import Tagged

SAMPLE = """\
Ndar B-PER
Sekk I-PER
wax O
na O
« O
Tivaouané B-LOC
» O

fan B-DATE
yii I-DATE
ONU B-ORG
. O
"""

EXPECTED = [
    Tagged(
        ["Ndar", "Sekk", "wax", "na", "«", "Tivaouané", "»"], ["B-PER", "I-PER", "O", "O", "O", "B-LOC", "O"]
    ),
    Tagged(["fan", "yii", "ONU", "."], ["B-DATE", "I-DATE", "B-ORG", "O"]),
]  # fmt: skip


HARMLESS = [
    lambda text: text.rstrip("\n"),
    lambda text: text.replace("\n", "\r\n"),
    lambda text: "\ufeff" + text,
    lambda text: text.replace(" ", "\t"),
    lambda text: text.replace(" ", "   "),
    lambda text: text.replace(" ", " NN I-NP "),
    lambda text: text.replace("\n\n", "\n \t\n\n\n"),
    lambda text: f"-DOCSTART- -X- -X- O\n\n{text}",
    lambda text: text.replace("\n\n", "\n-DOCSTART- O\n"),
    lambda text: re.sub("^(?=.)", "wo:", text.replace(" ", "\t"), flags=re.MULTILINE),
]


def real_file(language: str, split: str) -> Path:
    data = os.environ.get("BABELSCOPE_DATA")
    if not data:
        pytest.skip("BABELSCOPE_DATA is not set")
    return next((Path(data) / "masakhaner2" / language).glob(f"{split}.txt*"))

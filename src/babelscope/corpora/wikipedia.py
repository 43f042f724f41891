"""Wikipedia as plain text: the Parquet files of `wikimedia/wikipedia`, fetched by huggingface_hub and read by pyarrow.

Of a language the first file is read, which has the oldest articles; small Wikipedias have no other. Articles are dealt
out: of every ten the first eight are `train`, the ninth is `dev`, the tenth `test`, so that no split needs the whole
file, and none has sentences of another's articles. They are cut into sentences by `running_text`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from babelscope.core.errors import DataError, InputError
from babelscope.corpora.cache import check_may_fetch, reason
from babelscope.corpora.lines import RATIO, UNLIKE_TEXT, UNPACKED
from babelscope.corpora.running_text import running_sentences
from babelscope.corpora.sources import Split, data_folders

PREFIX = "wikipedia:"
NAMES = ("wikipedia:CODE",)
HUB_DATASET, SNAPSHOT = "wikimedia/wikipedia", "20231101"
TURNS: dict[Split, range] = {"train": range(8), "dev": range(8, 9), "test": range(9, 10)}
"""Which of every ten articles a split has."""
COLUMN = "text"

Download = Callable[[str], Path]
"""From the code of a language to the folder with its Parquet files."""


def wikipedia_file(name: str, download: Download | None = None) -> Path:
    """The Parquet file of a Wikipedia: `wikipedia/CODE/*.parquet` in the data folder, else the hub's, fetched once.

    Raises:
        InputError: it is not named as Wikipedias are, cannot be fetched, or there is none of the language.
    """
    code = name.removeprefix(PREFIX)
    if not re.fullmatch(r"[a-z]{1,49}(-[a-z-]{1,49})?", code):
        raise InputError(f"{name!r}: a Wikipedia is named {NAMES[0]} by the code in its address, such as wikipedia:nl")
    local = [file for data in data_folders() for file in sorted((data / "wikipedia" / code).glob("*.parquet"))]
    if local:
        return local[0]
    try:
        files = sorted((download or _from_hub)(code).glob("*.parquet"))
    except (OSError, ValueError) as error:
        raise InputError(f"{name} could not be fetched from {HUB_DATASET}: {reason(error)}", _advice(code)) from error
    if not files:
        raise InputError(f"{name}: {HUB_DATASET} has no Wikipedia of {code!r} in {SNAPSHOT}", _advice(code))
    return files[0]


@cache
def _from_hub(code: str) -> Path:
    from huggingface_hub import snapshot_download

    check_may_fetch()
    configuration = f"{SNAPSHOT}.{code}"
    first = f"{configuration}/train-00000-of-*.parquet"
    return Path(snapshot_download(HUB_DATASET, repo_type="dataset", allow_patterns=[first])) / configuration


def read_wikipedia(path: Path, split: Split, count: int | None = None) -> Sequence[str]:
    """The first sentences of a split, or all.

    Raises:
        DataError: it is no Parquet file with a column `text` of text, or a split of it has no sentence.
    """
    articles = (text for place, text in enumerate(_articles(path)) if place % 10 in TURNS[split])
    sentences = list(islice((one for text in articles for one in running_sentences(text)), count))
    if not sentences:
        raise DataError(path, None, f"no sentence in the articles of {split}, which are one of every ten or eight")
    return sentences


def _articles(path: Path) -> Iterator[str]:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile, read_schema

    try:
        length, most = 0, max(UNPACKED, RATIO * path.stat().st_size)
        kind = read_schema(path).field(COLUMN).type
        # A text that is there many times is held once in memory, too.
        with ParquetFile(path, read_dictionary=[COLUMN]) as file:
            for batch in file.iter_batches(batch_size=256, columns=[COLUMN]):
                for text in (value.as_py() for value in batch.column(COLUMN)):
                    if not isinstance(text, str):
                        raise ValueError(f"{kind}, not all of it text")
                    if (length := length + len(text)) > most:
                        raise DataError(path, None, f"{UNLIKE_TEXT}; get the file again from {HUB_DATASET}")
                    yield text
    except (OSError, KeyError, ValueError, ArrowException) as error:  # of bytes that are no UTF-8, too
        raise DataError(path, None, f"no Parquet file with a column {COLUMN!r} of text: {error}") from error


def _advice(code: str) -> str:
    return (
        f"Connect to the network, or put a Parquet file of {HUB_DATASET} (its folder {SNAPSHOT}.{code}) into "
        f"BABELSCOPE_DATA as wikipedia/{code}/NAME.parquet; or give text of your own: text:{code}:FILE_OR_FOLDER"
    )

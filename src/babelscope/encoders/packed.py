"""A model's folder in one small file, to hand it on: weights in a tenth of their size, predictions changed a little.

A row of the word embeddings is kept as a length and a direction. The direction is cut into parts of `PART` numbers, and
of each part it is kept which of 256 typical ones is the nearest, found by k-means: product quantisation (Jégou, Douze
and Schmid 2011). Other matrices are kept in 8 bits a weight, with a scale for each row. What is left (biases, norms,
the tokenizers) stays as it is.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from babelscope.core.errors import DataError, EncoderError
from babelscope.core.outside import read_json, read_text, reading
from babelscope.corpora.lines import RATIO, UNPACKED
from babelscope.encoders.folder import CARD, LANGUAGES, check_folder
from babelscope.encoders.state import Weights
from babelscope.encoders.weight_files import weight_files
from babelscope.encoders.written import check_finite, tensors_digest, write_tensors

FORMAT = "babelscope packed model 1"
DIGEST = "sha256"
"""The tensor that is of all others; files that were packed before there was one have none. (Of metadata only a single
entry has the same place in every file.)"""
PART = 6
"""Numbers of a direction that are replaced together, at most."""
TYPICAL = 256
"""Parts that others are replaced by, for each place: as many as one byte tells apart."""
LEARNED_FROM = 40_000
"""Rows that typical parts are learned from, at most."""
STEPS = 127
"""Of 8 bits, on either side of 0."""
LARGEST_FILES = 1 << 28
"""Bytes of the files beside the weights, at most: of each when they are packed, of all of them when they are unpacked.
As of any text that is unpacked, they are no more than `RATIO` times what is packed; those of encoders 2 to 10 times."""
TEXTS = (".json", ".txt", ".md")
NOTE = """
## Packed

These weights have been through `babelscope pack`: directions of embeddings are among typical ones, and matrices have 8
bits a weight, so that scores differ a little from those of the weights above.
"""
PLACE = re.compile(rf"({LANGUAGES}/([\w-]+/)?)?[\w.-]+({'|'.join(map(re.escape, TEXTS))})")
"""Where a packed file may be in the folder."""


def pack(folder: Path, file: Path) -> list[str]:
    """Write a model's folder as one file; gives what was left out: files that are no text, and
    weights that the model is not loaded from.

    The same folder gives the same file on the same machine.

    Raises:
        EncoderError: it is no folder of a model, or its texts would not be unpacked.
        DivergedError: weights are NaN or infinite.
    """
    check_folder(folder)
    rows = read_json(folder / "config.json").get("vocab_size")
    kept: Weights = {}
    parts = weight_files(folder)
    for part in parts:
        for name, weight in _read(part)[0].items():
            kept |= _packed(name, weight.float() if weight.is_floating_point() else weight, rows)
    places = sorted(place for place in folder.rglob("*") if place.is_file() and place.suffix != ".safetensors")
    names = [place.relative_to(folder).as_posix() for place in places]
    texts = {name: read_text(folder / name, LARGEST_FILES) for name in names if PLACE.fullmatch(name)}
    if CARD in texts:
        texts[CARD] += NOTE
    compressed = _compressed(texts, folder)
    kept["files"] = torch.from_numpy(np.frombuffer(compressed, dtype=np.uint8).copy())
    kept[DIGEST] = torch.frombuffer(bytearray.fromhex(tensors_digest(kept, {})), dtype=torch.uint8)
    write_tensors(file, kept, {"format": FORMAT})
    others = [path.name for path in sorted(folder.glob("*.safetensors")) if path not in parts]
    return [*(name for name in names if name not in texts), *others]


def unpack(file: Path, folder: Path) -> None:
    """Write the folder that a packed file holds; its weights are float32.

    Args:
        file: as `pack` writes it.
        folder: to write, which is there and empty.

    Raises:
        DataError: it is no such file, or is damaged.
        DivergedError: weights are NaN or infinite.
    """
    kept, described = _read(file)
    if described.get("format") != FORMAT:
        raise DataError(file, None, "not what babelscope pack writes, or what another version wrote")
    recorded = kept.pop(DIGEST, None)
    if recorded is not None and recorded.tolist() != [*bytes.fromhex(tensors_digest(kept, {}))]:
        raise DataError(file, None, "damaged (it does not match its digest); copy it again")
    try:
        texts = _unpacked_texts(kept.pop("files").numpy().tobytes())
        weights = _unpacked(kept)
    except (KeyError, ValueError, IndexError, RuntimeError, TypeError, lzma.LZMAError) as error:
        raise DataError(file, None, f"damaged ({error}); copy it again") from None
    check_finite(weights)
    for name, text in texts.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    write_tensors(folder / "model.safetensors", weights, {"format": "pt"})


def _read(file: Path) -> tuple[Weights, Mapping[str, str]]:
    try:
        with reading(file), safe_open(file, framework="pt") as held:
            return {name: held.get_tensor(name) for name in held.keys()}, held.metadata() or {}  # noqa: SIM118
    except SafetensorError as error:
        raise DataError(file, None, f"not a safetensors file ({error}); copy it again") from None


def _packed(name: str, weight: Tensor, rows: int | None) -> Weights:
    """A weight as it is kept, by names of which `_unpacked` knows the last part."""
    check_finite({name: weight})
    if weight.ndim != 2 or not weight.is_floating_point():
        return {f"{name} whole": weight}
    if len(weight) != rows:
        scales = weight.abs().amax(dim=1) / STEPS
        steps = (weight / scales.clamp_min(torch.finfo(torch.float32).tiny)[:, None]).round()
        return {f"{name} steps": steps.to(torch.int8), f"{name} scales": scales}
    lengths = weight.norm(dim=1)
    codes, typical = _quantised(weight / lengths.clamp_min(1e-12)[:, None])
    return {f"{name} codes": codes, f"{name} typical": typical.half(), f"{name} lengths": lengths.half()}


def _quantised(directions: Tensor) -> tuple[Tensor, Tensor]:
    """Which typical part is nearest, [rows, parts], and the typical parts, [parts, at most 256, numbers of a part]."""
    from sklearn.cluster import KMeans

    width = next(width for width in range(PART, 0, -1) if directions.shape[1] % width == 0)
    sample = np.random.default_rng(0).permutation(len(directions))[:LEARNED_FROM]
    codes, typical = [], []
    for part in directions.split(width, dim=1):
        numbers = part.contiguous().numpy()
        number = min(TYPICAL, len(np.unique(numbers[sample], axis=0)))
        means = KMeans(number, init="random", n_init=1, max_iter=10, random_state=0).fit(numbers[sample])
        codes.append(torch.from_numpy(means.predict(numbers).astype(np.uint8)))
        typical.append(torch.zeros(TYPICAL, width))
        typical[-1][:number] = torch.from_numpy(means.cluster_centers_)
    return torch.stack(codes, dim=1), torch.stack(typical)


def _unpacked(kept: Mapping[str, Tensor]) -> Weights:
    weights: Weights = {}
    for key, value in kept.items():
        name, _, form = key.rpartition(" ")
        if form == "whole":
            weights[name] = value
        elif form == "steps":
            weights[name] = _by_row(value.float(), kept[f"{name} scales"])
        elif form == "codes":
            _check_parts(value, kept[f"{name} typical"])
            parts = [typical[codes] for codes, typical in zip(value.T.long(), kept[f"{name} typical"], strict=True)]
            directions = torch.nn.functional.normalize(torch.cat(parts, dim=1).float())
            weights[name] = _by_row(directions, kept[f"{name} lengths"].float())
        elif form not in ("scales", "typical", "lengths"):
            raise KeyError(key)
    return weights


def _check_parts(codes: Tensor, typical: Tensor) -> None:
    """Refuse parts that would become far more numbers than the file has bytes."""
    if codes.ndim != 2 or codes.dtype != torch.uint8 or typical.ndim != 3 or typical.shape[2] > PART:
        raise ValueError(f"codes of {tuple(codes.shape)} and parts of {tuple(typical.shape)} are not what is packed")


def _by_row(matrix: Tensor, factors: Tensor) -> Tensor:
    if len(matrix) != len(factors):  # which torch would make room for, whatever it takes
        raise ValueError(f"{len(factors)} factors for {len(matrix)} rows")
    return matrix * factors[:, None]


def _compressed(texts: dict[str, str], folder: Path) -> bytes:
    """Texts as `_unpacked_texts` reads them."""
    whole = json.dumps(texts, ensure_ascii=False).encode()
    compressed = lzma.compress(whole)
    if len(whole) > (most := _most(compressed)):
        problem = f"its texts are {len(whole):,} bytes, of which {most:,} would be unpacked"
        raise EncoderError(f"{folder}: {problem}; take away what repeats itself in {', '.join(TEXTS)}")
    return compressed


def _most(compressed: bytes) -> int:
    """Bytes that texts may have."""
    return min(LARGEST_FILES, max(UNPACKED, RATIO * len(compressed)))


def _unpacked_texts(compressed: bytes) -> dict[str, str]:
    reader, most = lzma.LZMADecompressor(), _most(compressed)
    unpacked = reader.decompress(compressed, most)
    if not reader.eof:
        raise ValueError(f"its texts do not end within {most:,} bytes, {RATIO} times what is packed or less")
    texts: Any = json.loads(unpacked)
    if not isinstance(texts, dict):
        raise ValueError("its texts have no names")
    for name, text in texts.items():
        if not PLACE.fullmatch(name) or not isinstance(text, str):
            raise ValueError(f"{name!r:.100} is no file of a model's folder")
    return dict(texts)

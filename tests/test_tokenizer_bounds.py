"""Tokenizers that would take minutes to load, or fill the memory when they read, are refused."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, normalizers

from babelscope.core.errors import EncoderError
from babelscope.encoders.growth import MOST_GROWTH, growth
from babelscope.encoders.load import Encoder, load_encoder, save_encoder
from babelscope.encoders.places import PACKAGED, installed_folder, locate, shipped_encoders
from babelscope.encoders.sizes import MOST_ADDED, check_tokenizer

TOO_MANY = [f"<{k}>" for k in range(MOST_ADDED + 1)]


def replace(pattern: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def sequence(*steps: Any) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": [*steps]}


@pytest.mark.parametrize(
    ("file", "held"),
    [
        ("tokenizer_config.json", {"extra_special_tokens": TOO_MANY}),
        ("tokenizer_config.json", {"additional_special_tokens": TOO_MANY}),
        ("special_tokens_map.json", {"additional_special_tokens": TOO_MANY}),
        ("special_tokens_map.json", {"extra_special_tokens": {token: token for token in TOO_MANY}}),
        ("added_tokens.json", {token: place for place, token in enumerate(TOO_MANY)}),
        ("languages/fo/added_tokens.json", {token: place for place, token in enumerate(TOO_MANY)}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tokens_that_are_added_in_any_form_are_counted(encoder: Encoder, tmp_path: Path, file: str, held: Any):
    save_encoder(encoder, tmp_path)
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(json.dumps(held))
    for read in (locate, load_encoder):
        with pytest.raises(EncoderError, match=rf"{file}: 50,001 tokens are added to its pieces, 50,000"):
            read(str(tmp_path))


def test_tokens_whose_keys_are_written_in_another_way_are_counted(encoder: Encoder, tmp_path: Path):
    save_encoder(encoder, tmp_path)
    added = ",".join(f'{{"id": {k}, "c\\u006fntent": "<{k}>"}}' for k in range(MOST_ADDED + 1))
    text = json.dumps({**json.loads((tmp_path / "tokenizer.json").read_text()), "added_tokens": []})
    (tmp_path / "tokenizer.json").write_text(text.replace('"added_tokens": []', f'"added_tokens": [{added}]'))
    with pytest.raises(EncoderError, match="50,001 tokens are added"):
        locate(str(tmp_path))


DOUBLED = [replace("a", "aa")] * 34
BYTES = {"type": "ByteLevel"}


@pytest.mark.parametrize(
    "changes",
    [
        {"normalizer": sequence(*DOUBLED)},
        {"normalizer": sequence(sequence(*DOUBLED[:17]), sequence(sequence(*DOUBLED[17:])))},
        {"normalizer": sequence(*[replace("", "", "String") | {"content": "xy"}] * 9)},
        {"normalizer": sequence(*[replace("[a-z]", "xy", "Regex")] * 14)},
        {"normalizer": sequence(*[replace("x*", "x", "Regex")] * 14)},
        {"normalizer": sequence(*[replace("a", "bb"), {"type": "Lowercase"}, replace("b", "aa")] * 7)},
        {"normalizer": {"type": "Prepend", "prepend": "x" * 10_000}},
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": b64encode(bytes(4) + b"x" * 10_001).decode()}},
        {"normalizer": replace("a", "a" * 101), "pre_tokenizer": sequence(replace("a", "a" * 101))},
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [BYTES] * 34}},
    ],
)
def test_a_tokenizer_that_makes_text_far_longer_is_refused(encoder: Encoder, tmp_path: Path, changes: dict[str, Any]):
    save_encoder(encoder, tmp_path)
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    with pytest.raises(EncoderError, match=r"tokenizer\.json: its normalizer makes more than 10,000 letters of one"):
        locate(str(tmp_path))


@pytest.mark.parametrize(
    ("step", "letters"),
    [
        (None, 1),
        ("x", 1),
        (sequence(), 1),
        (sequence(*[replace(letter, f"{letter.upper()}{letter.upper()}") for letter in "abcdefghijklmnopqrst"]), 2),
        (sequence(*[replace(" {2,}", " ", "Regex"), replace("``", '"'), {"type": "NFKD"}] * 20), 1),
        (sequence(replace("…", "..."), {"type": "Prepend", "prepend": "▁"}, replace(" ", "▁")), 9),
        (sequence(*[replace(r"[\p{Nd}[:punct:]]\p{^L}+", " ", "Regex")] * 20), 1),
        ([{"type": "BertNormalizer", "lowercase": True}, BYTES], 2),
    ],
)
def test_what_tokenizers_do_is_allowed(step: Any, letters: int):
    assert growth(step) == letters


STEPS = st.one_of(
    st.builds(replace, st.text("abx", min_size=1, max_size=2), st.text("abx", max_size=3)),
    st.builds(replace, st.sampled_from(["[ab]", "x+", "x*", "a?"]), st.text("abx", max_size=2), st.just("Regex")),
    st.builds(lambda text: {"type": "Prepend", "prepend": text}, st.text("abx", min_size=1, max_size=2)),
)


@given(st.lists(STEPS, max_size=4), st.text("abx", min_size=1, max_size=5))
def test_no_text_becomes_longer_than_is_counted(steps: list[dict[str, Any]], text: str):
    """As tokenizers itself replaces, one normalizer after the other."""
    became = text
    for step in steps:
        pattern = step.get("pattern", {})
        if step["type"] == "Prepend":
            normalizer = normalizers.Prepend(step["prepend"])
        else:
            given_pattern = Regex(pattern["Regex"]) if "Regex" in pattern else pattern["String"]
            normalizer = normalizers.Replace(given_pattern, step["content"])
        became = normalizer.normalize_str(became)
    most = growth(steps)
    assert most > MOST_GROWTH or len(became) <= most * len(text)


def test_installed_encoders_are_not_refused():
    folders = [installed_folder(name) for name in (*shipped_encoders(), *PACKAGED)]
    assert len(folders) >= 3
    for folder in filter(None, folders):
        check_tokenizer(folder)


def test_a_configuration_of_many_megabytes_is_refused(encoder: Encoder, tmp_path: Path):
    save_encoder(encoder, tmp_path)
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "x": "x" * (1 << 22)}))
    with pytest.raises(EncoderError, match=r"config\.json: more than 4,194,304 bytes, .*\. Download or save the enc"):
        locate(str(tmp_path))

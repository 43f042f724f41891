"""Print the digests of the world's data, by language, to be kept in `test_world.py`: `python tests/world_digest.py`.

Needs no package but Babelscope itself, so any Python from 3.11 can run it: `PYTHONPATH=src python3.13 -S ...`.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

from babelscope.core.examples import Sentence
from babelscope.world import FAMILY, World


def sample(world: World, code: str) -> dict[str, Any]:
    """Some of everything that the world gives in one language, as plain values."""
    pairs = world.parallel(["qaa", code], 100)
    return {
        "text": world.text(code, 200),
        "switched": world.text(code, 100, switched=0.2),
        "pairs": world.text_pairs(code, 50, switched=0.2),
        "treebank": {
            split: [
                [sentence.id, *(word[:4] for word in sentence.words)] for sentence in world.treebank(code, split, 100)
            ]
            for split in ("train", "dev", "test")
        },
        "parallel": [
            [{code: plain(sentence) for code, sentence in pair.sentences.items()}, pair.concepts] for pair in pairs
        ],
    }


def plain(sentence: Sentence) -> list[tuple[str | int, ...]]:
    """Form, part of speech, head and relation of each word."""
    return [word[:4] for word in sentence.words]


def digest(world: World, code: str) -> str:
    """SHA-256 of a language's sample, as hexadecimal digits."""
    return hashlib.sha256(json.dumps(sample(world, code), ensure_ascii=True).encode()).hexdigest()


def digests(seed: int = 0) -> dict[str, str]:
    """By language of the family."""
    world = World(seed)
    return {code: digest(world, code) for code in FAMILY}


if __name__ == "__main__":
    print(json.dumps(digests(*map(int, sys.argv[1:])), indent=4))

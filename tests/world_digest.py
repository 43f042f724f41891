"""Print the digest of the world's data, to be kept in `test_world.py`: `python tests/world_digest.py`.

Needs no package but Babelscope itself, so any Python from 3.11 can run it: `PYTHONPATH=src python3.13 -S ...`.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

from babelscope.world import FAMILY, World


def sample(world: World) -> dict[str, Any]:
    """Some of everything that the world gives, as plain values."""
    return {
        "text": {code: world.text(code, 200) for code in FAMILY},
        "switched": {code: world.text(code, 100, switched=0.2) for code in FAMILY},
        "treebank": {
            f"{code}-{split}": [
                [sentence.id, *map(list, sentence.words)] for sentence in world.treebank(code, split, 100)
            ]
            for code in FAMILY
            for split in ("train", "dev", "test")
        },
        "parallel": [
            [{code: list(map(list, s.words)) for code, s in pair.sentences.items()}, pair.concepts]
            for pair in world.parallel(list(FAMILY), 100)
        ],
    }


def digest(seed: int = 0) -> str:
    """SHA-256 of the sample, as hexadecimal digits."""
    return hashlib.sha256(json.dumps(sample(World(seed)), ensure_ascii=True).encode()).hexdigest()


if __name__ == "__main__":
    print(digest(*map(int, sys.argv[1:])))

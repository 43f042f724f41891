"""Sentences of a small language, drawn by chance."""

from __future__ import annotations

import random

from conftest import tagged_sentence

CHANCE = random.Random(5)
ENGLISH = [" ".join(tagged_sentence(CHANCE)[0]) for _ in range(90)]

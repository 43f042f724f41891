"""What encoders of the Python face are tuned with in tests, and sentences that they are compared on."""

from __future__ import annotations

SMALL = {"sizes": {"train": 30, "dev": 10, "test": 10}, "tuning": {"learning_rate": 1e-3, "epochs": 2}}
ENGLISH = ["a cat sees a dog", "the bird", "a big fish likes the old tree .", "the dog finds a house", "old trees"]
OTHERS = ["кот видит", "the small bird sees", "a tree .", "кот кот", "a dog likes the cat ."]

"""How long a step has taken, over all of its attempts."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

from babelscope.engine.disk import write_text

SAVE_INTERVAL = 1.0
"""Seconds between two notes of how long a step has taken."""


class Clock:
    """Seconds that a step has taken, attempts that were cut short included: what these took is kept in the draft.

    With them is the key of the step, so that a draft is not taken for another's: `key` is what is kept.
    """

    def __init__(self, path: Path, key: str):
        self._path, self._key, self._began = path, key, time.monotonic()
        self._earlier, self.key = 0.0, key
        # There may be no earlier attempt, or one that was killed while it wrote.
        with suppress(OSError, ValueError, KeyError, TypeError):
            kept = json.loads(path.read_bytes())
            self._earlier, self.key = (kept["seconds"], kept["key"]) if isinstance(kept, dict) else (float(kept), key)
        self._saved = self._began

    def save(self, at_once: bool = False) -> None:
        """Keep the seconds for another attempt, at most once a second unless at once."""
        now = time.monotonic()
        if at_once or now - self._saved >= SAVE_INTERVAL:
            self._saved = now
            write_text(self._path, json.dumps({"key": self._key, "seconds": self._earlier + now - self._began}))

    def stop(self) -> float:
        """The seconds of all attempts; the file that kept them is removed."""
        self._path.unlink(missing_ok=True)
        return self._earlier + time.monotonic() - self._began

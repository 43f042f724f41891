"""Energy that a step takes, where codecarbon is installed (the extra `energy`), from the machine's meters or about."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any


@contextmanager
def metered() -> Iterator[dict[str, float]]:
    """What is computed inside; at the end the mapping has `energy`, in kilowatt hours, where it could be measured."""
    told: dict[str, float] = {}
    tracker = _begun() if find_spec("codecarbon") else None
    try:
        yield told
    finally:
        if tracker:
            tracker.stop()
        if data := getattr(tracker, "final_emissions_data", None):  # there is none where nothing was measured
            told["energy"] = float(data.energy_consumed)


def _begun() -> Any:
    """A meter, or None where there can be none, which the log says: it costs no step."""
    from codecarbon import OfflineEmissionsTracker

    logging.getLogger("codecarbon").setLevel(logging.ERROR)
    try:
        # Offline, since it would ask the network where the machine is; the country counts for carbon alone.
        # Of this process, since other steps run beside it.
        tracker = OfflineEmissionsTracker(
            country_iso_code="FRA", tracking_mode="process", allow_multiple_runs=True, save_to_file=False,
            log_level="error",
        )  # fmt: skip
        tracker.start()
    except Exception as error:
        print(f"energy is not measured: {error}", file=sys.stderr)
        return None
    return tracker

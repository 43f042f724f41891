"""Energy that a step takes, where codecarbon is installed (the extra `energy`), from the machine's meters or about."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec


@contextmanager
def metered() -> Iterator[dict[str, float]]:
    """What is computed inside; at the end the mapping has `energy`, in kilowatt hours, where it could be measured."""
    told: dict[str, float] = {}
    if find_spec("codecarbon") is None:
        yield told
        return
    from codecarbon import OfflineEmissionsTracker

    logging.getLogger("codecarbon").setLevel(logging.ERROR)
    # Offline, since it would ask the network where the machine is; the country counts for carbon alone.
    # Of this process, since other steps run beside it.
    tracker = OfflineEmissionsTracker(
        country_iso_code="FRA", tracking_mode="process", allow_multiple_runs=True, save_to_file=False, log_level="error"
    )
    tracker.start()
    try:
        yield told
    finally:
        tracker.stop()
        if data := getattr(tracker, "final_emissions_data", None):  # there is none where nothing was measured
            told["energy"] = float(data.energy_consumed)

"""What the times of a benchmark depend on."""

from __future__ import annotations

import os
from importlib import metadata
from typing import Any

from tendon_gym.evaluation import compare

OPTIONAL = ("stable-baselines3", "torch")


def machine() -> dict[str, Any]:
    """Return the processor, its cores, those that this process may use, and the load before."""
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return {
        **compare.machine(),
        "affinity": usable,
        "load": [round(value, 2) for value in os.getloadavg()],
    }


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def versions() -> dict[str, str]:
    """Return the versions that a time depends on."""
    found = dict(compare.versions())
    for name in OPTIONAL:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found

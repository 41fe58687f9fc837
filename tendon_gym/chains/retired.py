"""Models that a scene has replaced: handles that still point to one are to raise."""

from __future__ import annotations

from weakref import WeakSet

import mujoco

_RETIRED: WeakSet[mujoco.MjModel] = WeakSet()


def retire(model: mujoco.MjModel) -> None:
    """Mark a model as replaced by another."""
    _RETIRED.add(model)


def check_current(model: mujoco.MjModel, what: str) -> None:
    """Raise RuntimeError, naming `what` holds the model, if a scene has replaced it."""
    if model in _RETIRED:
        raise RuntimeError(
            f"{what} belongs to a model that its scene has replaced when an object was added or "
            "removed; make a new one from the scene's present model and data"
        )

"""Models that have been replaced: what was made for one must not go on as if nothing had happened.

A scene that is rebuilt has a new model and new data, while the old pair lives on for as long as
anybody holds it, and steps as well as ever. Who rebuilds a scene says so here.
"""

from __future__ import annotations

import weakref

import mujoco

from tendon_gym import checks

_retired: weakref.WeakKeyDictionary[mujoco.MjModel, str] = weakref.WeakKeyDictionary()


def retire(model: mujoco.MjModel, reason: str) -> None:
    """Declare a model replaced: robots on it raise from now on, with the reason.

    Raises:
        TypeError: not a compiled model, or a reason that is no text.
    """
    if not isinstance(model, mujoco.MjModel):
        raise TypeError(f"model must be a mujoco.MjModel, got {checks.shown(model)}")
    if not isinstance(reason, str):
        raise TypeError(f"reason must be a string, got {checks.shown(reason)}")
    _retired[model] = reason


def check_alive(model: mujoco.MjModel) -> None:
    """Raise RuntimeError if a model has been replaced."""
    reason = _retired.get(model)
    if reason is not None:
        raise RuntimeError(
            f"the robot's model is no longer the scene's: {reason}; take the new one with rebind()"
        )

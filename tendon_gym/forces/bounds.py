"""How hard and how long anything may push: far beyond every honest push, derived from the model.

Within these bounds a push may still be too much for the simulation, which then ends as unstable;
beyond them it is a slip of the unit or of the exponent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np

from tendon_gym import checks
from tendon_gym.references.bounds import LONGEST

FASTEST = 100.0
"""Largest speed that a blow may give to the whole vehicle, and largest speed of the air, m/s."""
HARDEST = 1000.0
"""Largest acceleration that a force may give to the whole vehicle, m/s^2."""


def check_span(start: object, duration: object) -> None:
    """Raise if a term's beginning or duration, s, is no time; a duration of None has no end."""
    checks.number("start", start, minimum=0.0, maximum=LONGEST)
    if duration is not None:
        checks.number("duration", duration, minimum=0.0, maximum=LONGEST)


def check_impulse(impulse: Sequence[float], model: mujoco.MjModel) -> None:
    """Raise if a momentum (3,), N s, is more than mass times FASTEST."""
    mass = _mass(model)
    words = f"{FASTEST:g} m/s for a vehicle of {mass:g} kg"
    _check_length("impulse", impulse, FASTEST * mass, "N s", words)


def check_force(force: Sequence[float], model: mujoco.MjModel) -> None:
    """Raise if a force (3,), N, is more than mass times HARDEST."""
    mass = _mass(model)
    words = f"{HARDEST:g} m/s^2 for a vehicle of {mass:g} kg"
    _check_length("force", force, HARDEST * mass, "N", words)


def check_torque(torque: Sequence[float], model: mujoco.MjModel) -> None:
    """Raise if a torque (3,), N m, is more than the largest force has on the longest lever."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    own = np.flatnonzero(model.site_bodyid)
    lever = float(
        np.linalg.norm(data.site_xpos[own] - data.xpos[model.body("base").id], axis=1).max()
    )
    words = f"the largest force on a lever of {lever:g} m"
    _check_length("torque", torque, HARDEST * _mass(model) * lever, "N m", words)


def _mass(model: mujoco.MjModel) -> float:
    return float(model.body_subtreemass[0])


def _check_length(name: str, vector: Sequence[float], most: float, unit: str, words: str) -> None:
    if math.hypot(*vector) > most:
        checks.reject(name, vector, f"at most {most:g} {unit} long ({words})")

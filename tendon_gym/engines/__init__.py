"""Engines: what advances the physics of any number of simulations, behind one narrow seam."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco

from tendon_gym import checks
from tendon_gym.engines.compiled.engine import CompiledEngine
from tendon_gym.engines.engine import ControlLaw, Engine, available_threads
from tendon_gym.engines.kinematics import Kinematics
from tendon_gym.engines.mujoco_engine import MujocoEngine
from tendon_gym.forces.term import ForceTerm

__all__ = [
    "CompiledEngine",
    "ControlLaw",
    "Engine",
    "Kinematics",
    "MujocoEngine",
    "available_threads",
    "make",
]

_ENGINES: dict[str, type[MujocoEngine] | type[CompiledEngine]] = {
    "compiled": CompiledEngine,
    "mujoco": MujocoEngine,
}


def make(
    name: str,
    model: mujoco.MjModel,
    n: int,
    terms: Sequence[ForceTerm] = (),
    threads: int | None = None,
) -> Engine:
    """Make the engine `name` for `n` simulations of `model` with force terms.

    Raises:
        ValueError: no engine of that name.
    """
    checks.choice("engine", name, sorted(_ENGINES))
    if threads is not None:
        checks.integer("threads", threads, minimum=1, maximum=1024)
    return _ENGINES[name](model, n, terms, threads)

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
from tendon_gym.tendons.embedding import Embedded

__all__ = [
    "CompiledEngine",
    "ControlLaw",
    "Engine",
    "Kinematics",
    "MujocoEngine",
    "available_threads",
    "make",
]

_ENGINES = ("compiled", "mujoco")


def make(
    name: str,
    model: mujoco.MjModel,
    n: int,
    terms: Sequence[ForceTerm] = (),
    threads: int | None = None,
    tendons: Embedded | None = None,
) -> Engine:
    """Make the engine `name` for `n` simulations of `model` with force terms.

    Args:
        name: "mujoco" or "compiled".
        model: what is simulated.
        n: number of simulations.
        terms: what pushes.
        threads: None: as many as this process may use.
        tendons: the laws of tendons that a `TendonWorld` has embedded in `model`.

    Raises:
        ValueError: no engine of that name, or a model that it doesn't represent.
    """
    checks.choice("engine", name, _ENGINES)
    if threads is not None:
        checks.integer("threads", threads, minimum=1, maximum=1024)
    if name == "compiled":  # which refuses all models that have such laws
        return CompiledEngine(model, n, terms, threads)
    return MujocoEngine(model, n, terms, threads, tendons)

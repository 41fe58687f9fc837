"""The tendons of a world in a model of one's own, with more in it than the world knows.

For whoever compiles and steps the model alone: an engine with many simulations, a spec that gets
actuators on the tendons. The laws are then to be run before every step, see `law`.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.tendons.building import build
from tendon_gym.tendons.filling import Filling, wiring
from tendon_gym.tendons.law import LAW
from tendon_gym.tendons.world import TendonWorld


class Embedded(NamedTuple):
    """What the laws of a world's tendons need to know in another model.

    Attributes:
        law: LAW (t,).
        first: index of the first of the tendons in the model.
        activation: (t,), N, to start from.
    """

    law: NDArray
    first: int
    activation: NDArray[np.float64]


def structure(world: TendonWorld) -> mujoco.MjSpec:
    """Return the world's spec with its tendons in it, but without their parameters.

    What is added to it must not change the order of the tendons, nor their names.
    """
    return build(world.spec, world.places, world.scene)


def embed(world: TendonWorld, model: mujoco.MjModel) -> Embedded:
    """Write the parameters of a world's tendons to a model that was compiled from its structure.

    Raises:
        ValueError: a model that hasn't the tendons, one after the other.
    """
    scene, simulation = world.scene, world.simulation
    ids = [
        mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_TENDON, tendon.name)
        for tendon in scene.tendons
    ]
    if ids and (ids[0] < 0 or ids != list(range(ids[0], ids[0] + len(ids)))):
        names = ", ".join(tendon.name for tendon in scene.tendons)
        raise ValueError(f"the model must have the tendons {names} in a row, got indices {ids}")
    wires = wiring(model, scene)
    law = np.zeros(len(ids), LAW)
    inertias = model.tendon_invweight0.copy()
    inertias[ids] = simulation.inertias
    filling = Filling(
        model, wires, simulation.references, inertias, native_limits=world.limits == "native"
    )
    filling.fill(scene, law, np.zeros(model.neq, bool))
    return Embedded(law, wires.first, simulation.activation.copy())

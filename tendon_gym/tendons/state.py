"""All that the future of a world depends on, beside its scene and model."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.tendons.scene import Scene
from tendon_gym.tendons.simulation import Simulation

PHYSICS = int(mujoco.mjtState.mjSTATE_INTEGRATION)


@dataclass(frozen=True, eq=False)
class WorldState:
    """A state to go on from, exactly.

    Attributes:
        names: of the tendons, each with its type, then of the couplings.
        physics: MuJoCo's integration state, warm start, controls and activity of equalities in it.
        activation: (t,), N.
        references: (t,), m.
        enabled: of the tendons.
        couplings_enabled: of the couplings.
    """

    names: tuple[str, ...]
    physics: NDArray[np.float64]
    activation: NDArray[np.float64]
    references: NDArray[np.float64]
    enabled: tuple[bool, ...]
    couplings_enabled: tuple[bool, ...]


def read_state(simulation: Simulation, scene: Scene) -> WorldState:
    """Return the present state of a compiled scene."""
    model = simulation.model
    physics = np.empty(mujoco.mj_stateSize(model, PHYSICS))
    mujoco.mj_getState(model, simulation.data, physics, PHYSICS)
    return WorldState(
        (
            *(f"{tendon.type} {tendon.name}" for tendon in scene.tendons),
            *(coupling.name for coupling in scene.couplings),
        ),
        physics,
        simulation.activation.copy(),
        simulation.references.copy(),
        tuple(tendon.enabled for tendon in scene.tendons),
        tuple(coupling.properties.enabled for coupling in scene.couplings),
    )


def check_state(state: WorldState, own: WorldState) -> None:
    """Raise if a state isn't one of the scene whose present state is `own`."""
    if state.names != own.names:
        mine = ", ".join(own.names) or "nothing"
        checks.reject("state.names", state.names, f"those of this scene, {mine}")
    for name in ("physics", "activation", "references"):
        checks.array(f"state.{name}", getattr(state, name), getattr(own, name).shape)
    for name in ("enabled", "couplings_enabled"):
        flags, count = getattr(state, name), len(getattr(own, name))
        if len(flags) != count:
            checks.reject(f"state.{name}", flags, f"{count} flags")
        for k, flag in enumerate(flags):
            checks.flag(f"state.{name}[{k}]", flag)


def write_state(simulation: Simulation, scene: Scene, state: WorldState) -> None:
    """Put a compiled scene to a state, of whose flags the scene has been told already."""
    simulation.activation[:] = state.activation
    simulation.references[:] = state.references
    simulation.fill(scene)
    mujoco.mj_setState(simulation.model, simulation.data, state.physics, PHYSICS)
    simulation.rotors.leave()

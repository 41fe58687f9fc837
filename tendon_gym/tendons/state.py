"""All that the future of a world depends on, beside its scene and model."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.tendons.scene import Scene
from tendon_gym.tendons.simulation import Simulation

PHYSICS = int(mujoco.mjtState.mjSTATE_INTEGRATION)


@dataclass(frozen=True, eq=False)
class WorldState:
    """A state to go on from, exactly.

    Attributes:
        physics: MuJoCo's integration state, warm start, controls and activity of equalities in it.
        activation: (t,), N.
        references: (t,), m.
        enabled: of the tendons.
        couplings_enabled: of the couplings.
    """

    physics: NDArray[np.float64]
    activation: NDArray[np.float64]
    references: NDArray[np.float64]
    enabled: tuple[bool, ...]
    couplings_enabled: tuple[bool, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the parts, which are those of the scene."""
        parts = (self.physics, self.activation, self.references)
        return (*map(len, parts), len(self.enabled), len(self.couplings_enabled))


def read_state(simulation: Simulation, scene: Scene) -> WorldState:
    """Return the present state of a compiled scene."""
    model = simulation.model
    physics = np.empty(mujoco.mj_stateSize(model, PHYSICS))
    mujoco.mj_getState(model, simulation.data, physics, PHYSICS)
    return WorldState(
        physics,
        simulation.activation.copy(),
        simulation.references.copy(),
        tuple(tendon.enabled for tendon in scene.tendons),
        tuple(coupling.properties.enabled for coupling in scene.couplings),
    )


def write_state(simulation: Simulation, scene: Scene, state: WorldState) -> None:
    """Put a compiled scene to a state, of whose flags the scene has been told already."""
    simulation.activation[:] = state.activation
    simulation.references[:] = state.references
    simulation.fill(scene)
    mujoco.mj_setState(simulation.model, simulation.data, state.physics, PHYSICS)

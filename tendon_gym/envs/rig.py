"""A load on a cable from the vehicle, over or around an obstacle in the world.

A task with a `Rig` has these in every simulation; obstacle, load and goal are drawn anew for each
episode. The obstacle is met by the cable alone: a vehicle that comes too near ends its episode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.boxes import box
from tendon_gym.cables import Winch
from tendon_gym.compiled import entry
from tendon_gym.envs.obstacles import draw_ball, draw_obstacle, surface_of, write_obstacle
from tendon_gym.envs.rig_signals import Carried, measure, new_carried
from tendon_gym.forces import Motion, Push
from tendon_gym.forces.cable import Cable, CableTerm, Obstacle
from tendon_gym.model import Layout, Load

Array = NDArray[np.float64]

GOAL_COLOUR = (0.2, 0.8, 0.3, 0.4)


class Scene(NamedTuple):
    """What is drawn for an episode.

    Attributes:
        obstacle: in the world, where its `position` and `quaternion` put it.
        load: (3,), the load's place at the start, m: in the world, or from the base's origin if the
            rig is `hanging`.
        goal: (3,), where the load is to go, in the world, m.
    """

    obstacle: Obstacle
    load: Sequence[float]
    goal: Sequence[float]


@dataclass(frozen=True)
class Rig:
    """What a task's vehicle carries.

    Attributes:
        load: unless the user's model has one of its own.
        cable: its drive is a winch, its path one obstacle, whose place and shape are those of the
            episode's; its hint and friction stay.
        slack: rest length beyond the path's length at the start, m; negative: the cable is tight.
        hanging: whether scenes place the load relative to the base.
        draw: draws a scene; asks its generator for the same numbers every time.
        turns: on the obstacle that are asked of the cable.
    """

    load: Load
    cable: Cable
    slack: float
    hanging: bool
    draw: Callable[[np.random.Generator], Scene]
    turns: float = 0.0

    @property
    def winch(self) -> Winch:
        """The drive."""
        assert isinstance(self.cable.drive, Winch)
        return self.cable.drive


class Rigging(CableTerm):
    """The rigs of n simulations: a force term that knows of the episodes' obstacles and goals.

    Attributes:
        rate: (n,), m/s, at which the winches pay out, at most their speed.
        carried: obstacles, goals and what is measured, as kernels take them.
    """

    def __init__(self, model: mujoco.MjModel, layout: Layout, rig: Rig, n: int) -> None:
        """Begin with the obstacle that the rig's cable names, in all simulations."""
        super().__init__(model, n, rig.cable)
        self.rig, self._address = rig, layout.load_qpos
        self.rate, self._load_places = np.zeros(n), np.zeros((n, 3))
        self.carried: Carried = new_carried(n, layout.load_body, rig.turns)
        self._start = self.paths.system.new_state(1)
        (given,) = [each for each in rig.cable.path if isinstance(each, Obstacle)]
        write_obstacle(self.carried.obstacle[0], given)
        self.carried.obstacle[:] = self.carried.obstacle[0]
        for i in range(n):
            self._put_obstacle(i)
        self.paths.hold()
        self._bind()

    def _bind(self) -> None:
        place = self.span.place_of_obstacle(0)
        given = (place, self.rig.winch.rest_length, self.paths.boxed, box(self.carried))
        self._measuring, self._measure = given, entry(measure, *given)

    def _put_obstacle(self, i: int) -> None:
        """Let simulation i's cable, and the state that episodes start from, have its obstacle."""
        row = self.carried.obstacle[i]
        pose, surface = np.append(row["position"], row["quaternion"]), surface_of(row)
        self.paths.set_obstacle(i, 0, 0, pose=pose, surface=surface)
        self._start.set_obstacle(0, 0, 0, pose=pose, surface=surface)

    # --- episodes ----------------------------------------------------------------------------

    def stage(self, i: int, rng: np.random.Generator) -> None:
        """Draw the scene of simulation i's episode."""
        scene = self.rig.draw(rng)
        write_obstacle(self.carried.obstacle[i], scene.obstacle)
        self.carried.goal[i], self._load_places[i] = scene.goal, scene.load

    def put_loads(self, ids: NDArray[np.int64], qpos: Array) -> None:
        """Write the places of the loads to states (k, nq) that the simulations `ids` start at."""
        first = self._address
        qpos[:, first : first + 3] = self._load_places[ids]
        if self.rig.hanging:
            qpos[:, first : first + 3] += qpos[:, :3]

    def begin(self, ids: NDArray[np.int64], motion: Motion) -> None:
        """Lay the cables of the simulations `ids` over their obstacles, at the present poses."""
        start, winch = self._start, self.rig.winch
        for i in ids:
            self._put_obstacle(i)
            self._move(start, motion, slice(i, i + 1))
            start.reset()
            start.solve()
            paid_out = start.memory["length"][0, 0] + self.rig.slack - winch.rest_length
            start.memory["paid_out"][0, 0] = max(paid_out, -winch.rest_length)
            self.paths.state[i] = start.state[0]
        self.rate[ids], self.carried.lost[ids] = 0.0, False
        self.paths.hold()
        self.measure()

    # --- steps -------------------------------------------------------------------------------

    def add(self, time: Array, motion: Motion | None, push: Push) -> None:
        """Let the winches turn at their rates, and pull; see `ForceTerm.add`."""
        memory, winch = self.paths.memory, self.rig.winch
        target = winch.rest_length if winch.target is None else winch.target
        paid_out = memory["paid_out"][:, 0] + self.rate * self._timestep
        memory["asked"][:, 0] = winch.rest_length + paid_out - target
        super().add(time, motion, push)
        self.carried.lost[:] |= self.failed

    def measure(self) -> None:
        """Note what is known of the cables since the last physics step or reset."""
        self._measure(*self._measuring)

    # --- states ------------------------------------------------------------------------------

    def memory(self) -> dict[str, NDArray[Any]]:
        """Return the live arrays that matter to what comes."""
        carried = self.carried
        return {
            "rig.obstacle": carried.obstacle,
            "rig.goal": carried.goal,
            "rig.lost": carried.lost,
            "rig.rate": self.rate,
            "rig.cable": self.state,
        }

    def restored(self) -> None:
        """Go on from the memory that has been written."""
        cable = self.state.copy()
        for i in range(len(self.rate)):
            self._put_obstacle(i)
        self.state[:] = cable
        self.paths.hold()
        self.measure()

    def draw(self, i: int, motion: Motion, scene: mujoco.MjvScene) -> None:
        """Add cable, obstacle and goal of simulation i to a scene."""
        super().draw(i, motion, scene)
        draw_obstacle(scene, self.carried.obstacle[i])
        draw_ball(scene, self.carried.goal[i], self.rig.load.radius, GOAL_COLOUR)

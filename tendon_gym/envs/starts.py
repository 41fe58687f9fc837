"""How an episode starts: drawn near the reference, or as `reset(options=...)` says."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.engines import Engine
from tendon_gym.envs.rest_tips import TipGoals
from tendon_gym.envs.schedule import Schedule
from tendon_gym.envs.task import CLEARANCE, EnvConfig
from tendon_gym.model import Layout
from tendon_gym.references.goals import BendGoals

START_OPTIONS = ("qpos", "qvel", "phase", "goal")
"""Options of a reset, each for one simulation or one row per simulation that is reset:

qpos (nq,), qvel (nv,): the state, instead of a drawn one; the state's other half is then at rest.
phase: s, where on the reference the episode starts.
goal: the bend (2,), or with goal="tip" the tip (3,) in body axes, m.
"""

DRAWS = 17
"""Numbers drawn for every start: the phase, the base (12) and the arm (4)."""


class Starts:
    """Starts the episodes of one core."""

    def __init__(
        self,
        config: EnvConfig,
        layout: Layout,
        engine: Engine,
        schedule: Schedule,
        lowest: Callable[[NDArray[np.int64], NDArray[np.float64]], None],
        goals: TipGoals,
    ) -> None:
        """Keep what is put to a start; `lowest(ids, out)` finds the lowest points."""
        self._config, self._layout, self._engine = config, layout, engine
        self._schedule, self._lowest, self._goals = schedule, lowest, goals

    def begin(
        self,
        ids: NDArray[np.int64],
        rngs: Sequence[np.random.Generator],
        options: Mapping[str, Any],
    ) -> None:
        """Put the simulations `ids` (k,) at the start of an episode, each drawn from its generator.

        A generator is always asked for the same numbers, whatever the options are.
        """
        given = self._check_options(len(ids), options)
        model, schedule = self._engine.model, self._schedule
        qpos, qvel = np.tile(model.qpos0, (len(ids), 1)), np.zeros((len(ids), model.nv))
        self._goals.fixed[ids] = False
        for row, (i, rng) in enumerate(zip(ids, rngs, strict=True)):
            schedule.draw(i, rng)
            draws = rng.uniform(-1.0, 1.0, DRAWS)
            schedule.phase[i] = self._phase(i, draws[0])
            if "phase" in given:
                schedule.phase[i] = given["phase"][row]
            if "goal" in given:
                self._set_goal(i, given["goal"][row])
            self._draw_state(i, draws[1:], qpos[row], qvel[row])
        if "qpos" in given or "qvel" in given:
            qpos = given.get("qpos", np.tile(model.qpos0, (len(ids), 1)))
            self._engine.reset(ids, qpos, given.get("qvel", np.zeros_like(qvel)))
            return
        self._engine.reset(ids, qpos, qvel)
        self._lift(ids, qpos, qvel)

    def _check_options(self, k: int, options: Mapping[str, Any]) -> dict[str, NDArray]:
        draws_goals = isinstance(self._schedule.source, BendGoals)
        checks.known_keys("options", options, START_OPTIONS if draws_goals else START_OPTIONS[:-1])
        model, goal_size = self._engine.model, 3 if self._config.goal == "tip" else 2
        sizes = {"qpos": model.nq, "qvel": model.nv, "phase": None, "goal": goal_size}
        given = {}
        for name, value in options.items():
            size, where = sizes[name], f"options[{name!r}]"
            if size is None:
                shape = (k,) if np.ndim(value) else ()
                given[name] = np.broadcast_to(checks.array(where, value, shape), (k,))
                continue
            shape = (k, size) if np.ndim(value) == 2 else (size,)
            given[name] = np.broadcast_to(checks.array(where, value, shape), (k, size))
            if name == "goal" and goal_size == 2:
                length = float(np.linalg.norm(given[name], axis=1).max())
                checks.number("length of options['goal']", length, maximum=1.0 + 1e-9)
        return given

    def _phase(self, i: int, draw: float) -> float:
        """Return where the episode starts on its reference, s."""
        row = self._schedule.rows[self._schedule.first[i]]
        frequencies = row["frequency"][row["frequency"] > 0.0]
        repeats = math.isinf(row["end"]) and len(frequencies) > 0
        if self._config.start.phase == "zero" or not repeats:
            return 0.0
        return 0.5 * (draw + 1.0) * 2.0 * math.pi / float(frequencies.min())

    def _set_goal(self, i: int, goal: NDArray) -> None:
        """Replace the drawn bend of simulation `i` by the asked one."""
        if self._config.goal == "tip":
            goal = self._goals.fix(i, goal)
        row = self._schedule.first[i]
        self._schedule.rows["bend_magnitude"][row] = min(1.0, math.hypot(*goal))
        self._schedule.rows["bend_direction"][row] = math.atan2(goal[1], goal[0])

    def _draw_state(self, i: int, draws: NDArray, qpos: NDArray, qvel: NDArray) -> None:
        """Write a state near the reference: the base by its free joint, the arm evenly bent."""
        spread, layout = self._config.start, self._layout
        if layout.free:
            setpoint = self._schedule.at(i, 0.0)[0]
            qpos[:3] = setpoint["position"] + spread.position * draws[:3]
            qvel[:3] = setpoint["velocity"] + spread.velocity * draws[3:6]
            roll, pitch = spread.tilt * draws[6:8]
            yaw = setpoint["yaw"] + spread.yaw * draws[8]
            mujoco.mju_euler2Quat(qpos[3:7], np.array([yaw, pitch, roll]), "zyx")
            qvel[3:6] = spread.angular_velocity * draws[9:12]
        links = len(layout.link_bodies)
        for axis in range(2):
            qpos[layout.joint_qpos[axis::2]] = spread.bend * draws[12 + axis] / links
            qvel[layout.joint_dofs[axis::2]] = spread.bend_rate * draws[14 + axis] / links

    def _lift(self, ids: NDArray, qpos: NDArray, qvel: NDArray) -> None:
        """Raise the simulations whose arm would start on the floor."""
        if not self._layout.free:
            return
        heights = np.zeros(len(ids))
        self._lowest(ids, heights)
        missing = CLEARANCE - heights
        if (missing > 0.0).any():
            qpos[:, 2] += np.maximum(missing, 0.0)
            self._engine.reset(ids, qpos, qvel)


def reach_below(model: mujoco.MjModel, layout: Layout) -> NDArray[np.float64]:
    """Return how far each body reaches from its origin at most, (nbody,), m.

    The base counts as the sphere around its colliding geoms, a link as a ball at its upper end;
    -1 marks bodies that don't count. The first element, the world's, is the radius of the tip.
    """
    reach = np.full(model.nbody, -1.0)
    tip = model.geom("tip").id
    reach[0] = model.geom_size[tip, 0]
    for geom in range(model.ngeom):
        body = model.geom_bodyid[geom]
        collides = model.geom_contype[geom] or model.geom_conaffinity[geom]
        if body == 0 or geom == tip or not collides:
            continue
        size = float(model.geom_rbound[geom] + np.linalg.norm(model.geom_pos[geom]))
        if body in layout.link_bodies:
            size = float(model.geom_size[geom, 0])
        reach[body] = max(reach[body], size)
    return reach

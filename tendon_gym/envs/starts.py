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
from tendon_gym.envs.drawing import DRAWS, Drawer, Drawing
from tendon_gym.envs.rest_tips import TipGoals
from tendon_gym.envs.rig import Rigging
from tendon_gym.envs.schedule import Schedule
from tendon_gym.envs.task import CLEARANCE, LONGEST, EnvConfig
from tendon_gym.model import Layout, hanging
from tendon_gym.references.goals import BendGoals

START_OPTIONS = ("qpos", "qvel", "phase", "goal")
"""Options of a reset, each for one simulation or one row per simulation that is reset:

qpos (nq,), qvel (nv,): the state, instead of a drawn one; the state's other half is then at rest.
phase: s, where on the reference the episode starts; without a `horizon` it ends where the
reference does.
goal: the bend (2,), or with goal="tip" the tip (3,) in body axes, m.
"""

LARGEST = 1e6
"""Largest magnitude in a given state, m, rad, m/s or rad/s."""

Given = Mapping[str, NDArray[np.float64]]


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
        step_time: float,
        rig: Rigging | None,
    ) -> None:
        """Keep what is put to a start; `lowest(ids, out)` finds the lowest points."""
        self._config, self._layout, self._engine = config, layout, engine
        self._schedule, self._lowest, self._goals = schedule, lowest, goals
        self._step_time, self._rig = step_time, rig
        self._hanging = hanging(engine.model)
        spread = config.start
        drawing = Drawing(
            layout.free, len(layout.link_bodies), spread.position, spread.velocity, spread.tilt,
            spread.yaw, spread.angular_velocity, spread.bend, spread.bend_rate, layout.joint_qpos,
            layout.joint_dofs, schedule.course,
        )  # fmt: skip
        self._drawer = Drawer(drawing, engine.model.nq, engine.model.nv)

    def check(self, k: int, options: Any) -> Given:
        """Return the options of a reset of k simulations as one row for each, or raise."""
        if options is None:
            return {}
        if not isinstance(options, Mapping):
            raise TypeError(f"options must be a dict, got {checks.described(options)}")
        draws_goals = isinstance(self._schedule.source, BendGoals)
        checks.known_keys("options", options, START_OPTIONS if draws_goals else START_OPTIONS[:-1])
        model, goal_size = self._engine.model, 3 if self._config.goal == "tip" else 2
        sizes = {"qpos": model.nq, "qvel": model.nv, "phase": None, "goal": goal_size}
        given = {}
        for name, value in options.items():
            size, where = sizes[name], f"options[{name!r}]"
            if size is None:
                given[name] = self._check_phases(where, value, k)
                continue
            shape = (k, size) if np.ndim(value) == 2 else (size,)
            bound = LARGEST if name != "goal" else math.inf
            values = checks.array(where, value, shape, minimum=-bound, maximum=bound)
            given[name] = np.broadcast_to(values, (k, size))
        self._check_parts(given)
        return given

    def _check_phases(self, where: str, value: Any, k: int) -> NDArray[np.float64]:
        duration = self._schedule.duration
        latest = LONGEST
        if math.isfinite(duration):
            latest = duration - (self._step_time if self._config.horizon is None else 0.0)
        shape = (k,) if np.ndim(value) else ()
        phases = checks.array(where, value, shape, minimum=0.0, maximum=latest)
        return np.broadcast_to(phases, (k,))

    def _check_parts(self, given: Given) -> None:
        """Reject quaternions without a direction, and goals out of reach."""
        if "qpos" in given and self._layout.free:
            for row, length in enumerate(np.linalg.norm(given["qpos"][:, 3:7], axis=1).tolist()):
                name = f"length of the quaternion options['qpos'][{row}][3:7]"
                checks.number(name, length, minimum=1e-6)
        if "goal" not in given:
            return
        if self._config.goal == "tip":
            self._config.model.arm.check_tip("options['goal']", given["goal"])
            return
        length = float(np.linalg.norm(given["goal"], axis=1).max())
        checks.number("length of options['goal']", length, maximum=1.0 + 1e-9)

    def begin(
        self, ids: NDArray[np.int64], rngs: Sequence[np.random.Generator], given: Given
    ) -> None:
        """Put the simulations `ids` (k,) at the start of an episode, each drawn from its generator.

        A generator is always asked for the same numbers, whatever is given.
        """
        schedule, draws = self._schedule, np.empty((len(ids), DRAWS))
        rows = [schedule.sample(rng) for rng in rngs] if schedule.drawn else []
        for row, rng in enumerate(rngs):
            draws[row] = rng.random(DRAWS)
            if self._rig is not None:
                self._rig.stage(ids[row], rng)
        draws *= 2.0
        draws -= 1.0
        for i, row in zip(ids, rows, strict=False):
            schedule.rows[i] = row
        self._goals.fixed[ids] = False
        self._place(ids, draws, given)
        model = self._engine.model
        qpos, qvel = np.tile(self._hanging, (len(ids), 1)), np.zeros((len(ids), model.nv))
        if "qpos" in given or "qvel" in given:
            self._engine.reset(ids, given.get("qpos", qpos), given.get("qvel", qvel))
            return
        self._drawer.states(ids, draws, qpos, qvel)
        self._put_loads(ids, qpos)
        self._engine.reset(ids, qpos, qvel)
        self._lift(ids, qpos, qvel)

    def _put_loads(self, ids: NDArray[np.int64], qpos: NDArray) -> None:
        if self._rig is not None:
            self._rig.put_loads(ids, qpos)

    def _place(self, ids: NDArray[np.int64], draws: NDArray, given: Given) -> None:
        """Choose where on its reference each episode starts, and its goal if that is given."""
        schedule = self._schedule
        if "phase" in given:
            schedule.phase[ids] = given["phase"]
        elif self._config.start.phase == "zero":
            schedule.phase[ids] = 0.0
        else:
            self._drawer.phases(ids, draws)
        if "goal" in given:
            for i, goal in zip(ids, given["goal"], strict=True):
                self._set_goal(i, goal)

    def _set_goal(self, i: int, goal: NDArray) -> None:
        """Replace the drawn bend of simulation `i` by the asked one."""
        if self._config.goal == "tip":
            goal = self._goals.fix(i, goal)
        row = self._schedule.first[i]
        self._schedule.rows["bend_magnitude"][row] = min(1.0, math.hypot(*goal))
        self._schedule.rows["bend_direction"][row] = math.atan2(goal[1], goal[0])

    def _lift(self, ids: NDArray, qpos: NDArray, qvel: NDArray) -> None:
        """Raise the simulations whose arm would start on the floor."""
        if not self._layout.free:
            return
        heights = np.zeros(len(ids))
        self._lowest(ids, heights)
        missing = CLEARANCE - heights
        if (missing > 0.0).any():
            qpos[:, 2] += np.maximum(missing, 0.0)
            self._put_loads(ids, qpos)
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
        if body in (0, layout.load_body) or geom == tip or not collides:
            continue
        size = float(model.geom_rbound[geom] + np.linalg.norm(model.geom_pos[geom]))
        if body in layout.link_bodies:
            size = float(model.geom_size[geom, 0])
        reach[body] = max(reach[body], size)
    return reach

"""The core of every environment, written once over n simulations; the scalar env has n = 1.

A step, as the data travels it: action -> interface -> (every physics step: control law -> forces
-> physics) -> kinematics -> signals -> reward, end, observation.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from tendon_gym import checks, engines, forces, references
from tendon_gym.boxes import box
from tendon_gym.compiled import announce_compilation, bind, entry
from tendon_gym.engines import threads
from tendon_gym.envs.actions import ActionInterface, decode
from tendon_gym.envs.ends import REASONS, make_ends
from tendon_gym.envs.episodes import Episodes
from tendon_gym.envs.infos import make_summary
from tendon_gym.envs.observations import COMPLIANCE, Items, Observer, Sources, as_matrix
from tendon_gym.envs.pipeline import (
    JUDGE,
    MOVE,
    OBSERVE,
    SENSE,
    Pipeline,
    begin,
    follow_up,
    lowest,
)
from tendon_gym.envs.rest_tips import TipGoals
from tendon_gym.envs.rig import Rigging
from tendon_gym.envs.rig_signals import new_carried
from tendon_gym.envs.schedule import Preview, Schedule
from tendon_gym.envs.signals import sensing
from tendon_gym.envs.starts import Given, Starts, reach_below
from tendon_gym.envs.state import FIELD, check_arrays, copied
from tendon_gym.envs.task import EnvConfig, Task, configure, substeps
from tendon_gym.model import Layout, build
from tendon_gym.references.goals import BendGoals
from tendon_gym.rewards import Reward

__all__ = ["REASONS", "SHAPE", "Core"]

# What the mode "tip" cannot see: the shape of the arm between base and tip.
SHAPE = ("joint_angles", "joint_velocities")

# A thread costs as much as the pipeline of so many simulations takes.
_WORTH_A_THREAD = 24


class Core:
    """n simulations of one task: physics, signals, reward, ends and observations.

    Attributes:
        task, config: what is simulated.
        n: number of simulations.
        engine: the physics.
        rig: loads, cables and obstacles, None for a task without.
        layout: of the model.
        action_space, observation_space: of one simulation.
        keys: (n,), of the noise of the present episodes; see `noise`.
        signals: (n,) of SIGNALS, at the present state.
        observation: (n, size) float32, written anew by every step and reset, as all that follows.
        reward: (n,).
        reason: (n,), why the last step ended the episode, an index of REASONS.
        truncated: (n,), whether it ended at its horizon.
        success: (n,), whether it ended well.
        clipped: (n,), whether the last action was outside [-1, 1].
    """

    def __init__(self, task: Task, n: int, settings: Mapping[str, Any]) -> None:
        """Build everything; `settings` are plain values laid over the task's defaults."""
        announce_compilation()
        self.task, self.n = task, n
        self.config: EnvConfig = configure(task, settings)
        self.model, tendons = build(self.config.model)
        self.layout = Layout.of(self.model)
        self.substeps = substeps(self.config.control_frequency, self.model.opt.timestep)
        self.step_time = self.substeps * self.model.opt.timestep
        self._terms = [
            forces.make(name, self.model, n, values) for name, values in self.config.forces.items()
        ]
        self.rig = None if task.rig is None else Rigging(self.model, self.layout, task.rig, n)
        terms = self._terms if self.rig is None else [*self._terms, self.rig]
        self.engine = engines.make(
            self.config.engine, self.model, n, terms, self.config.threads, tendons
        )
        self.schedule = Schedule(self._source(), n)
        self.keys = np.zeros(n, np.int64)
        self._set_horizon()
        self._make_interface()
        self._make_observer()
        self._make_outputs()
        self._bind()

    def _source(self) -> Any:
        if self.task.reference == "goal":
            if self.task.clamped:
                return BendGoals(height=self.config.model.height, yaw=0.0)
            return BendGoals()
        return references.make(self.config.reference)

    def _set_horizon(self) -> None:
        horizon = self.config.horizon
        if horizon is None:
            horizon = self.schedule.duration if math.isfinite(self.schedule.duration) else 10.0
        if horizon < self.step_time - 1e-9:
            checks.reject("horizon", horizon, f"at least one control step, {self.step_time:g} s")
        self.horizon = max(1, round(horizon / self.step_time))

    def limit_steps(self, steps: int) -> None:
        """Truncate episodes after `steps` control steps, if that comes before the horizon."""
        self.horizon = min(steps, self.horizon)
        self.ends.horizon[:] = self.horizon

    def _make_interface(self) -> None:
        config = self.config
        self.interface = ActionInterface(
            self.model, self.layout, self.schedule, config.rotor_action, config.tendon_action,
            config.action, self.n, self.rig,
        )  # fmt: skip
        self.action_space = Box(-1.0, 1.0, (self.interface.size,), np.float32)

    def _make_observer(self) -> None:
        preview, layout = self.config.preview, self.layout
        arm = self.config.model.arm
        items = Items(
            layout,
            reach=1.5 * arm.tip_depth,
            highest_thrust=float(max(layout.thrust_max, default=0.0)),
            highest_tension=float(layout.tension_max.max()),
            preview_points=preview.points,
        )
        names = [
            each
            for name in self.task.observation
            if not (self.config.observation_mode == "tip" and name in SHAPE)
            for each in (name, *COMPLIANCE.get(name, ()))
        ]
        if self.config.goal == "tip":
            names = ["tip_goal" if name == "reference_bend" else name for name in names]
        self.observer = Observer(items, names)
        self.preview = Preview(self.n, preview.seconds, preview.points)
        self.observation_space = Box(self.observer.low, self.observer.high, dtype=np.float32)

    def _make_outputs(self) -> None:
        n, layout, engine = self.n, self.layout, self.engine
        kinematics = engine.motion
        carried = new_carried(n, -1) if self.rig is None else self.rig.carried
        self.goals = TipGoals(self.config.model, n)
        self.sensing = sensing(
            layout,
            int(self.model.site_bodyid[layout.tip_site]),
            reach_below(self.model, layout),
            engine.ctrl,
            self.step_time,
            self.interface.full_moment,
        )
        self.signals = self.sensing.signals
        self.rewarder = Reward(self.config.reward, n)
        self.ends = ends = make_ends(
            self.config.limits, self.task.success, self.step_time, self.horizon, carried.lost
        )
        self.summary = make_summary(n, len(layout.rotor_actuators), len(layout.tendon_actuators))
        self.reward, self.reason, self.elapsed = self.rewarder.total, ends.reason, ends.elapsed
        self.truncated, self.success = ends.truncated, ends.success
        sources = Sources(
            as_matrix(self.signals), as_matrix(self.schedule.setpoint), engine.qpos, engine.qvel,
            kinematics.tendon_length, engine.ctrl, self.preview.values,
            as_matrix(carried.obstacle),
        )  # fmt: skip
        gathering = self.observer.gathering(sources)
        self.observation = gathering.out
        self._kinematics = kinematics
        self._parts = Pipeline(
            engine.time, engine.qpos, engine.qvel, engine.unstable, kinematics.tree,
            kinematics.motion, self.schedule.course, self.goals.arrays, self.sensing, carried,
            self.rewarder.weighing, ends, self.preview.ahead, gathering, self.summary,
        )  # fmt: skip
        self._starts = Starts(
            self.config, layout, engine, self.schedule, self._lowest, self.goals, self.step_time,
            self.rig,
        )  # fmt: skip

    def _lowest(self, ids: NDArray[np.int64], out: NDArray[np.float64]) -> None:
        """Write the heights (k,) of the lowest points of the simulations `ids` (k,)."""
        self._lowest_points(ids, out, self._pipeline)

    def _bind(self) -> None:
        """Bind the kernels of a step to the arrays that they work on, which stay the same."""
        engine = self.engine
        orders = self.interface.orders(engine.ctrl, self.sensing.last_ctrl)
        self._given, self.clipped = orders.given, orders.clipped
        self._decode = bind(decode, box(orders, (engine.ctrl,)))
        self._bind_pipeline()

    def _bind_pipeline(self) -> None:
        n, engine = self.n, self.engine
        boxed = self._pipeline = box(self._parts, (engine.qpos, engine.qvel, engine.ctrl))
        ids, out = np.zeros(1, np.int64), np.zeros(1)
        self._follow_up = entry(follow_up, 0, n, 0, boxed)
        self._begin, self._lowest_points = entry(begin, ids, boxed), entry(lowest, ids, out, boxed)
        most = self.config.threads or engines.available_threads(n)
        ranges = threads.ranges(n, max(1, min(most, n // _WORTH_A_THREAD)))
        own = self.rewarder.has_own
        stages = (MOVE | SENSE, JUDGE | OBSERVE) if own else (MOVE | SENSE | JUDGE | OBSERVE,)
        self._stages = [
            [functools.partial(self._follow_up, *each, parts, boxed) for each in ranges]
            for parts in stages
        ]

    def _keep_up(self) -> None:
        """Follow the engine where it has got other tables, for models that now differ."""
        if self._kinematics.tree is not self._parts.tree:
            self._parts = self._parts._replace(tree=self._kinematics.tree)
            self._bind_pipeline()

    @property
    def frame_rate(self) -> float:
        """Control steps per second, the frame rate of a video in real time; an int if it is one."""
        rate = 1.0 / self.step_time
        return round(rate) if abs(rate - round(rate)) < 1e-9 * rate else rate

    @property
    def reward_terms(self) -> dict[str, NDArray[np.float64]]:
        """Weighted parts of the last reward by name, (n,) each; they add up to it."""
        return dict(zip(self.rewarder.names, self.rewarder.parts.T, strict=True))

    def reward_parts(self, i: int) -> dict[str, float]:
        """Weighted parts of the last reward of simulation `i` by name."""
        return dict(zip(self.rewarder.names, self.rewarder.parts[i].tolist(), strict=True))

    def check_options(self, k: int, options: Any) -> Given:
        """Return the options of a reset of k simulations as `reset` takes them, or raise.

        See `envs.starts.START_OPTIONS`.
        """
        return self._starts.check(k, options)

    def reset(
        self, ids: NDArray[np.int64], episodes: Sequence[Episodes], given: Given | None = None
    ) -> None:
        """Start the next of each simulation's episodes in the simulations `ids` (k,)."""
        self._keep_up()
        rngs = [each.next() for each in episodes]
        self._starts.begin(ids, rngs, given or {})
        self.keys[ids] = [each.key() for each in episodes]
        for term in self._terms:
            seed = getattr(term, "seed", None)
            if seed is not None:
                seed(ids, self.keys[ids])
        for each in episodes:
            each.count += 1
        self.ends.horizon[ids] = self._horizons(given or {})
        self._begin(ids, self._pipeline)
        self.clipped[ids] = False
        if self.rig is not None:
            self.rig.begin(ids, self.engine.motion.motion)
        for first, last in _runs(ids):
            self._follow_up(first, last, MOVE | SENSE | OBSERVE, self._pipeline)
        self.interface.reset(ids, self.signals["rotation"])

    def _horizons(self, given: Given) -> Any:
        """Return the control steps of episodes: as usual, or to the end of a finite reference."""
        duration = self.schedule.duration
        if "phase" not in given or self.config.horizon is not None or math.isinf(duration):
            return self.horizon
        left = np.round((duration - given["phase"]) / self.step_time)
        return np.minimum(self.horizon, left.astype(np.int64))

    def get_state(self) -> dict[str, NDArray[Any]]:
        """Return copies of all that the simulations go on from, by name, (n, ...) each."""
        fields = {FIELD + k: v for k, v in self.engine.get_model_fields().items()}
        return copied({**self._memory(), **fields, "engine": self.engine.get_state()})

    def set_state(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put all simulations where `get_state` found those of a core that was made alike."""
        fields = {k.removeprefix(FIELD): v for k, v in arrays.items() if k.startswith(FIELD)}
        check_arrays({**self._memory(), "engine": self.engine.get_state()}, arrays)
        self.engine.put_model_fields(fields)
        self._keep_up()
        self.engine.set_state(np.arange(self.n), arrays["engine"])
        for name, array in self._memory().items():
            array[...] = arrays[name]
        if self.rig is not None:
            self.rig.restored()
        self._follow_up(0, self.n, MOVE | SENSE | OBSERVE, self._pipeline)

    def _memory(self) -> dict[str, NDArray[Any]]:
        """Return the live arrays that matter to what comes, but for the engine's own."""
        ends, loops, goals = self.ends, self.interface.loops, self.goals
        memory: dict[str, NDArray[Any]] = {
            "last_ctrl": self.sensing.last_ctrl,
            "integral": loops.integral,
            "heading": loops.heading,
            "command": loops.command,
            "phase": self.schedule.phase,
            "keys": self.keys,
            "goal": goals.values,
            "goal_fixed": goals.fixed,
            "horizon": ends.horizon,
            "elapsed": ends.elapsed,
            "squares": ends.squares,
            "reason": ends.reason,
            "truncated": ends.truncated,
            "success": ends.success,
            "clipped": self.clipped,
            "reward": self.reward,
            "reward_parts": self.rewarder.parts,
        }
        if self.schedule.drawn:
            memory["reference"] = self.schedule.rows
        if self.rig is not None:
            memory |= self.rig.memory()
        for name, term in zip(self.config.forces, self._terms, strict=True):
            state = getattr(term, "state", None)
            if state is not None:
                memory[f"forces.{name}"] = state
        return memory

    def draw(self, i: int, scene: Any) -> None:
        """Add what the force terms of simulation `i` look like to an mjvScene."""
        for term in (*self._terms, self.rig):
            drawing = getattr(term, "draw", None)
            if drawing is not None:
                drawing(i, self.engine.motion.motion, scene)

    def step(self, action: NDArray) -> None:
        """Apply actions (n, size) for one control step; read the results from the attributes."""
        if action.dtype.kind not in "iuf":
            raise TypeError(f"action must be an array of numbers, got dtype {action.dtype}")
        self.engine.take_time()  # before anything changes, since it may refuse
        self._given[...] = action
        bad = self._decode()
        if bad >= 0:
            where, column = divmod(bad, self.interface.size)
            raise ValueError(
                f"action[{column}] of simulation {where} must be finite, "
                f"got {checks.shown(action[where, column])}"
            )
        self._keep_up()
        if self.rig is not None:
            self.rig.carried.lost[:] = False
        self.engine.step(self.substeps, None if self.interface.held else self.interface)
        if self.rig is not None:
            self.rig.measure()
        threads.run(self._stages[0])
        if self.rewarder.has_own:
            self.rewarder.evaluate_own(self.signals)
            threads.run(self._stages[1])


def _runs(ids: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the ranges (first, last) without gaps that increasing ids make up."""
    if not len(ids):
        return []
    edges = np.flatnonzero(np.diff(ids) > 1)
    starts = [int(ids[0]), *ids[edges + 1].tolist()]
    stops = [*(ids[edges] + 1).tolist(), int(ids[-1]) + 1]
    return list(zip(starts, stops, strict=True))

"""The core of every environment, written once over n simulations; the scalar env has n = 1.

A step, as the data travels it: action -> interface -> (every physics step: control law -> forces
-> physics) -> kinematics -> signals -> reward, end, observation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from tendon_gym import checks, engines, forces, references
from tendon_gym.compiled import Prepared, announce_compilation, compiled
from tendon_gym.envs.actions import ActionInterface
from tendon_gym.envs.observations import Items, Observer, as_matrix
from tendon_gym.envs.rest_tips import TipGoals
from tendon_gym.envs.schedule import Preview, Schedule
from tendon_gym.envs.signals import Sensors
from tendon_gym.envs.starts import Starts, reach_below
from tendon_gym.envs.task import EnvConfig, Task, configure, substeps
from tendon_gym.model import Layout, build_model
from tendon_gym.references.goals import BendGoals
from tendon_gym.rewards import Reward

RUNNING, CRASH, TILT, FAR, UNSTABLE = range(5)
REASONS = ("", "crash", "tilt", "far", "unstable")
"""Why an episode ended early; "" while it runs, and at its time limit."""

SUCCESS_SECONDS = 1.0
"""At the end of an episode: the time over which success is judged."""

# What the mode "tip" cannot see: the shape of the arm between base and tip.
SHAPE = ("joint_angles", "joint_velocities")


class Core:
    """n simulations of one task: physics, signals, reward, ends and observations.

    Attributes:
        task, config: what is simulated.
        n: number of simulations.
        engine: the physics.
        layout: of the model.
        action_space, observation_space: of one simulation.
        signals: (n,) of SIGNALS, at the present state.
        observation: (n, size) float32, a new array after every step and reset.
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
        self.model = build_model(self.config.model)
        self.layout = Layout.of(self.model)
        self.substeps = substeps(self.config.control_frequency, self.model.opt.timestep)
        self.step_time = self.substeps * self.model.opt.timestep
        terms = [
            forces.make(name, self.model, n, values) for name, values in self.config.forces.items()
        ]
        self.engine = engines.make(self.config.engine, self.model, n, terms, self.config.threads)
        self.schedule = Schedule(self._source(), n)
        self._set_horizon()
        self._make_interface()
        self._make_observer()
        self._make_outputs()

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
        self._ends = np.zeros(2, np.int64)
        self._end_at(max(1, round(horizon / self.step_time)))

    @property
    def horizon(self) -> int:
        """Control steps after which an episode is truncated."""
        return int(self._ends[0])

    def limit_steps(self, steps: int) -> None:
        """Truncate episodes after `steps` control steps, if that comes before the horizon."""
        self._end_at(min(steps, self.horizon))

    def _end_at(self, steps: int) -> None:
        judged = max(1, round(SUCCESS_SECONDS / self.step_time))
        self._ends[:] = steps, max(0, steps - judged)

    def _make_interface(self) -> None:
        config = self.config
        self.interface = ActionInterface(
            self.model, self.layout, self.schedule, config.rotor_action, config.tendon_action,
            config.action, self.n,
        )  # fmt: skip
        self.action_space = Box(-1.0, 1.0, (self.interface.size,), np.float32)
        self._action = np.zeros((self.n, self.interface.size))
        self.clipped = np.zeros(self.n, bool)

    def _make_observer(self) -> None:
        preview, layout = self.config.preview, self.layout
        arm = self.config.model.arm
        items = Items(
            layout.joint_qpos,
            layout.joint_dofs,
            layout.rotor_actuators,
            layout.tendon_actuators,
            reach=1.5 * arm.tip_depth,
            highest_thrust=float(max(layout.thrust_max, default=0.0)),
            highest_tension=float(layout.tension_max.max()),
            preview_points=preview.points,
        )
        names = [
            name
            for name in self.task.observation
            if not (self.config.observation_mode == "tip" and name in SHAPE)
        ]
        if self.config.goal == "tip":
            names = ["tip_goal" if name == "reference_bend" else name for name in names]
        self.observer = Observer(items, names, self.n)
        self.preview = Preview(self.schedule, preview.seconds, preview.points)
        self.observation_space = Box(self.observer.low, self.observer.high, dtype=np.float32)

    def _make_outputs(self) -> None:
        n, layout = self.n, self.layout
        self.goals = TipGoals(self.config.model, n)
        self._last_ctrl = np.zeros_like(self.engine.ctrl)
        self.sensors = Sensors(
            layout,
            int(self.model.site_bodyid[layout.tip_site]),
            reach_below(self.model, layout),
            self.engine.motion,
            self.engine.ctrl,
            self._last_ctrl,
            self.step_time,
            self.schedule.setpoint,
            self.goals.values,
            self.interface.full_moment,
        )
        self.signals = self.sensors.signals
        self._starts = Starts(
            self.config, layout, self.engine, self.schedule, self.sensors, self.goals
        )
        self._rewarder = Reward(self.config.reward, n)
        self.elapsed = np.zeros(n, np.int64)
        self._squares = np.zeros((n, len(self.task.success)))
        self.reward, self.reason = self._rewarder.total, np.zeros(n, np.int64)
        self.truncated, self.success = np.zeros(n, bool), np.zeros(n, bool)
        limits = self.config.limits
        self._limits = np.array([limits.clearance, limits.tilt, limits.distance])
        self._bind()
        self._judge = Prepared(
            _judge,
            self.signals,
            self._limits,
            self.engine.unstable,
            self.elapsed,
            self._ends,
            self.reason,
            self.truncated,
        ).bound()

    def _bind(self) -> None:
        """Bind the kernels of a step to the arrays that they work on, which stay the same."""
        engine, schedule = self.engine, self.schedule
        self._decode = self.interface.decode.bound(self._action, engine.ctrl, self._last_ctrl)
        self._follow = schedule.evaluate.bound(engine.time)
        self._aim = self.goals.update.bound(schedule.setpoint["bend"])
        self._look = self.preview.look.bound(engine.time, self.signals["position"])
        self._gather = self.observer.watching(
            as_matrix(self.signals), as_matrix(schedule.setpoint), engine.qpos, engine.qvel,
            engine.motion.tendon_length, engine.ctrl, self.preview.values,
        )  # fmt: skip

    @property
    def frame_rate(self) -> float:
        """Control steps per second, the frame rate of a video in real time; an int if it is one."""
        rate = 1.0 / self.step_time
        return round(rate) if abs(rate - round(rate)) < 1e-9 * rate else rate

    @property
    def reward_terms(self) -> dict[str, NDArray[np.float64]]:
        """Weighted parts of the last reward by name, (n,) each; they add up to it."""
        return dict(zip(self._rewarder.names, self._rewarder.parts.T, strict=True))

    def reward_parts(self, i: int) -> dict[str, float]:
        """Weighted parts of the last reward of simulation `i` by name."""
        return dict(zip(self._rewarder.names, self._rewarder.parts[i].tolist(), strict=True))

    def reset(
        self,
        ids: NDArray[np.int64],
        rngs: Sequence[np.random.Generator],
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Start new episodes in the simulations `ids` (k,), each with its own generator.

        See `envs.starts.START_OPTIONS` for the options.
        """
        self._starts.begin(ids, rngs, options or {})
        self.interface.reset(ids, self.engine.motion.body_rotation[:, self.layout.base_body])
        self.elapsed[ids] = 0
        self._squares[ids] = 0.0
        self.reward[ids], self._rewarder.parts[ids], self.reason[ids] = 0.0, 0.0, RUNNING
        self.truncated[ids], self.success[ids], self.clipped[ids] = False, False, False
        self._last_ctrl[ids] = self.engine.ctrl[ids]
        self._measure()
        self._observe()

    def step(self, action: NDArray) -> None:
        """Apply actions (n, size) for one control step; read the results from the attributes."""
        if action.dtype.char not in "fd" or not action.dtype.isnative:
            action = _numbers(action)
        bad = _clip(action, self._action, self.clipped)
        if bad >= 0:
            where, column = divmod(bad, self.interface.size)
            raise ValueError(
                f"action[{column}] of simulation {where} must be finite, "
                f"got {action[where, column]!r}"
            )
        self._decode()
        self.engine.step(self.substeps, None if self.interface.held else self.interface)
        self._measure()
        self._rewarder(self.signals)
        if self._judge():
            self._judge_success()
        self._observe()

    def _measure(self) -> None:
        self._follow()
        self._aim()
        self.sensors.measure()

    def _observe(self) -> None:
        if self.preview.values.size:
            self._look()
        self.observation = self._gather()

    def _judge_success(self) -> None:
        """Add up the squares of the last second; decide at the horizon."""
        horizon, judged_from = self._ends
        late = self.elapsed > judged_from
        for column, name in enumerate(self.task.success):
            values = self.signals[name].reshape(self.n, -1)
            self._squares[:, column] += late * (values * values).sum(axis=1)
        count = horizon - judged_from
        thresholds = np.array(list(self.task.success.values()))
        small = (self._squares <= count * thresholds**2).all(axis=1)
        self.success = self.truncated & small


def _numbers(action: NDArray) -> NDArray[np.float64]:
    if action.dtype.kind not in "iuf":
        raise TypeError(f"action must be an array of numbers, got dtype {action.dtype}")
    return action.astype(np.float64)


@compiled
def _clip(action: NDArray, out: NDArray, clipped: NDArray) -> int:
    """Write the actions clipped to [-1, 1]; return where one is not finite, else -1."""
    for i in range(action.shape[0]):
        clipped[i] = False
        for k in range(action.shape[1]):
            value = float(action[i, k])
            if not math.isfinite(value):
                return i * action.shape[1] + k
            out[i, k] = min(max(value, -1.0), 1.0)
            if out[i, k] != value:
                clipped[i] = True
    return -1


@compiled
def _judge(
    signals: NDArray,
    limits: NDArray,
    unstable: NDArray,
    elapsed: NDArray,
    ends: NDArray,
    reason: NDArray,
    truncated: NDArray,
) -> bool:
    """Count the step; write why each episode ends now, or that it has reached its horizon.

    `ends` has the horizon and the step after which success is judged. Returns whether any
    simulation has come to that step.
    """
    late = False
    for i in range(signals.shape[0]):
        square = 0.0
        for k in range(3):
            square += signals["position_error"][i, k] * signals["position_error"][i, k]
        elapsed[i] += 1
        reason[i] = RUNNING
        if unstable[i]:
            reason[i] = UNSTABLE
        elif signals["clearance"][i] < limits[0]:
            reason[i] = CRASH
        elif signals["tilt"][i] > limits[1]:
            reason[i] = TILT
        elif square > limits[2] * limits[2]:
            reason[i] = FAR
        truncated[i] = reason[i] == RUNNING and elapsed[i] >= ends[0]
        late = late or elapsed[i] > ends[1]
    return late

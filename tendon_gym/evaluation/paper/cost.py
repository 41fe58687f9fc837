"""What a physics step of the mission costs: four ways to fly it, in turns, in one run.

The paper runs a controller in Python at every step. So does `NumpyController`, an independent copy
of its law; "policy" flies the same through a scalar environment and the baseline's `predict` at
500 Hz, with an observation, a reward and an info for every step; "law" lets the environment's inner
loop run the law at every step, below actions at 50 Hz; "bare" steps MuJoCo alone through the same
states.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import baselines, references
from tendon_gym.control import PAPER_GAINS, Mixer
from tendon_gym.evaluation.paper.flights import REST
from tendon_gym.evaluation.progress import Progress
from tendon_gym.model import Layout, build_model, preset
from tendon_gym.registration import ENTRIES

STEPS = 18_000  # the mission's
BLOCK = 500  # steps of one way before the next one has its turn

Array = NDArray[np.float64]
Block = Callable[[int], None]


class NumpyController:
    """The paper's flight law and tendon allocation, written plainly with NumPy for one MjData."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Read the vehicle from the model."""
        layout = Layout.of(model)
        self._mass, self._gravity = layout.mass, layout.gravity
        self._tension_max, self._angles = layout.tension_max, layout.tendon_angles
        self._mixer = Mixer.of(model)
        self._dt = model.opt.timestep
        gains = PAPER_GAINS
        self._kp, self._kd, self._ki = (np.array(k) for k in (gains.kp, gains.kd, gains.ki))
        self._k_rotation, self._k_omega = np.array(gains.k_rotation), np.array(gains.k_omega)
        self._slope, self._limit = np.tan(gains.max_tilt), gains.integral_limit
        self._integral = np.zeros(3)

    def __call__(self, data: mujoco.MjData, setpoint: Any) -> Array:
        """Return the controls (7,), N, for one element of SETPOINT."""
        rotation = np.empty(9)
        mujoco.mju_quat2Mat(rotation, data.qpos[3:7])
        rotation = rotation.reshape(3, 3)
        force = self._force(data, setpoint)
        x, y, z = self._attitude(force, setpoint["yaw"])
        skew = 0.5 * (np.stack([x, y, z]) @ rotation)
        skew -= skew.T.copy()
        turn = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
        torque = -self._k_rotation * turn - self._k_omega * data.qvel[3:6]
        wrench = np.concatenate([[force @ rotation[:, 2]], torque])
        mixer = self._mixer
        thrusts = np.clip(mixer.inverse @ wrench, mixer.low, mixer.high)
        return np.concatenate([thrusts, self._tensions(setpoint["bend"])])

    def _force(self, data: mujoco.MjData, setpoint: Any) -> Array:
        error = setpoint["position"] - data.qpos[:3]
        self._integral = np.clip(self._integral + self._dt * error, -self._limit, self._limit)
        acceleration = self._kp * error + self._kd * (setpoint["velocity"] - data.qvel[:3])
        acceleration += self._ki * self._integral + setpoint["acceleration"]
        acceleration[2] += self._gravity
        across, most = np.linalg.norm(acceleration[:2]), self._slope * acceleration[2]
        if across > most:
            acceleration[:2] *= most / across
        return self._mass * acceleration

    def _attitude(self, force: Array, yaw: float) -> tuple[Array, Array, Array]:
        z = force / np.linalg.norm(force)
        y = np.cross(z, [np.cos(yaw), np.sin(yaw), 0.0])
        y /= np.linalg.norm(y)
        return np.cross(y, z), y, z

    def _tensions(self, bend: Array) -> Array:
        magnitude, direction = np.hypot(bend[0], bend[1]), np.arctan2(bend[1], bend[0])
        cosines = np.cos(direction - self._angles)
        return magnitude * self._tension_max / np.sqrt(3.0) * (cosines - cosines.min())


def measure(steps: int = STEPS) -> dict[str, float]:
    """Return the rows of the cost, from the same steps flown in each of the ways.

    Args:
        steps: of each way; whole blocks are flown.
    """
    ways = (_numpy_and_bare(), _policy(), _law())
    seconds: dict[str, float] = {}
    progress = Progress("cost", steps // BLOCK)
    for _ in range(steps // BLOCK):
        for way in ways:
            for name, spent in next(way).items():
                seconds[name] = seconds.get(name, 0.0) + spent
        progress.step()
    progress.close()
    step = seconds["law"] / (steps // BLOCK * BLOCK)
    return {
        "cost.step": 1e6 * step,
        "cost.real_time": preset("paper").solver.timestep / step,
        "cost.over_bare": seconds["law"] / seconds["bare"],
        "cost.policy_over_bare": seconds["policy"] / seconds["bare"],
        "cost.over_numpy": seconds["law"] / seconds["numpy"],
    }


def _numpy_and_bare() -> Iterator[dict[str, float]]:
    """Fly a block with the controller in NumPy, then its controls again; yield s for each."""
    model = build_model(preset("paper"))
    data, again = mujoco.MjData(model), mujoco.MjData(model)
    controller = NumpyController(model)
    data.qpos[:3] = references.mission().at([0.0])["position"][0]
    controls = np.zeros((BLOCK, model.nu))
    done = 0
    while True:
        setpoints = references.mission().at(model.opt.timestep * np.arange(done, done + BLOCK))
        again.qpos[:], again.qvel[:] = data.qpos, data.qvel
        begin = time.perf_counter()
        for k in range(BLOCK):
            controls[k] = data.ctrl[:] = controller(data, setpoints[k])
            mujoco.mj_step(model, data)
        middle = time.perf_counter()
        for k in range(BLOCK):
            again.ctrl[:] = controls[k]
            mujoco.mj_step(model, again)
        yield {"numpy": middle - begin, "bare": time.perf_counter() - middle}
        done += BLOCK


def _make(**settings: Any) -> Any:
    return gymnasium.make(
        ENTRIES["Track"].id, model="paper", reference="mission", start=REST, **settings
    ).unwrapped


def _policy() -> Iterator[dict[str, float]]:
    """Fly a block of the mission by the baseline's `predict`; yield its seconds."""
    baseline = baselines.get("geometric_paper")
    env = _make(**baseline.interface(ENTRIES["Track"]))
    policy = baseline.make(env)
    env.step(policy.predict(env.reset(seed=0)[0])[0])  # compiles, or loads what is compiled
    observation, state = env.reset(seed=0)[0], None
    while True:
        begin = time.perf_counter()
        for _ in range(BLOCK):
            action, state = policy.predict(observation, state)
            observation, *_ = env.step(action)
        yield {"policy": time.perf_counter() - begin}


def _law() -> Iterator[dict[str, float]]:
    """Fly a block of the mission by the environment's inner loop; yield its seconds."""
    env = _make(
        rotor_action="residual",
        tendon_action="reference",
        action={"law": "paper"},
        control_frequency=50,
    )
    nothing = np.zeros(env.action_space.shape, np.float32)
    env.reset(seed=0)
    env.step(nothing)  # compiles, or loads what is compiled
    env.reset(seed=0)
    while True:
        begin = time.perf_counter()
        for _ in range(BLOCK // env.core.substeps):
            env.step(nothing)
        yield {"law": time.perf_counter() - begin}

"""The compiled engine against mechanics on paper: conservation laws and closed forms, no MuJoCo.

Semi-implicit Euler is of first order: what physics conserves drifts in proportion to the time
step, and twice the result of half a step minus that of a whole one drifts by the square of it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from tendon_gym import engines
from tendon_gym.model import Airframe, Arm, Fluid, Layout, ModelParameters, Solver, build_model
from tests.engines.mechanics import Mechanics, mechanics
from tests.engines.random_models import EDITS, let_frames_differ, random_rotation

SPAN, LOOKS = 0.2, 20
"""Length of a fall, s, and how often it is looked at."""
VACUUM = ModelParameters(
    arm=Arm(n_links=4, bending_stiffness=4e-3, bending_damping=0.0), fluid=Fluid(0.0, 0.0)
)
UNEVEN = ("body_mass", "body_ipos", "body_iquat", "body_inertia", "jnt_stiffness", "qpos_spring")


def uneven(parameters: ModelParameters, seed: int = 0) -> mujoco.MjModel:
    """Return a vehicle without any symmetry."""
    model, rng = build_model(parameters), np.random.default_rng(seed)
    for name in UNEVEN:
        EDITS[name](model, rng)
    model.opt.gravity = [0.7, -0.4, -9.0]
    let_frames_differ(model)
    return model


def start(model: mujoco.MjModel, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    qpos, qvel = model.qpos0[None].copy(), rng.normal(0.0, 1.5, (1, model.nv))
    qpos[0, :3] = 1.0, -2.0, 50.0
    qpos[0, 3:7] = random_rotation(rng, 1, 2.0)[0]
    qpos[0, 7:] = rng.uniform(-0.4, 0.4, model.nq - 7)
    return qpos, qvel


def fall(dt: float) -> tuple[mujoco.MjModel, list[Mechanics]]:
    """Return what a falling vehicle has at equal times, for a time step."""
    model = uneven(replace(VACUUM, solver=Solver(timestep=dt)))
    qpos, qvel = start(model)
    engine = engines.make("compiled", model, 1)
    engine.reset(np.zeros(1, np.int64), qpos, qvel)
    looks = [mechanics(model, qpos[0], qvel[0])]
    for _ in range(LOOKS):
        engine.step(round(SPAN / LOOKS / dt))
        looks.append(mechanics(model, engine.qpos[0], engine.qvel[0]))
    return model, looks


@pytest.fixture(scope="module")
def falls() -> tuple[mujoco.MjModel, list[list[Mechanics]]]:
    made = [fall(dt) for dt in (1e-3, 5e-4, 2.5e-4)]
    return made[0][0], [looks for _, looks in made]


def kept(model: mujoco.MjModel, looks: list[Mechanics], name: str) -> np.ndarray:
    """Return the differences of what should be kept from its start, (LOOKS, k)."""
    mass, gravity = model.body_mass[1:].sum(), model.opt.gravity
    times = np.linspace(0.0, SPAN, LOOKS + 1)[:, None]
    values = np.array([np.atleast_1d(getattr(look, name)) for look in looks])
    if name == "momentum":
        values = values - mass * gravity * times
    if name == "centre":
        values = values - looks[0].momentum / mass * times - 0.5 * gravity * times**2
    return values[1:] - values[0]


@pytest.mark.parametrize("name", ["momentum", "spin", "centre", "energy"])
def test_a_fall_keeps_what_physics_keeps(falls, name):
    model, looks = falls
    coarse, fine, finest = (kept(model, each, name) for each in looks)
    drift = [np.abs(each).max() for each in (coarse, fine, finest)]
    assert drift[0] > 1e-5, "nothing to see: this flight proves nothing"
    assert 1.8 < drift[0] / drift[1] < 2.2
    assert 1.9 < drift[1] / drift[2] < 2.1
    # the errors of second order that are left fall by four
    left = [np.abs(2 * fine - coarse).max(), np.abs(2 * finest - fine).max()]
    assert left[0] < 0.1 * drift[0]
    assert 3.3 < left[0] / left[1] < 4.7


def pendulum(**arm) -> ModelParameters:
    return ModelParameters(
        arm=Arm(n_links=1, **arm), fluid=Fluid(0.0, 0.0), base="clamped", height=5.0
    )


def swing(model: mujoco.MjModel, axis: int, tension: np.ndarray, steps: int) -> np.ndarray:
    """Return angle and rate of one hinge after every physics step, (steps, 2)."""
    engine = engines.make("compiled", model, 1)
    qpos, qvel = np.zeros((1, 2)), np.zeros((1, 2))
    qpos[0, axis], qvel[0, axis] = 0.5, 2.0
    engine.reset(np.zeros(1, np.int64), qpos, qvel)
    rows = []
    for _ in range(steps):
        engine.ctrl[0] = tension
        engine.step(1)
        assert abs(engine.qpos[0, 1 - axis]) < 1e-13
        rows.append((engine.qpos[0, axis], engine.qvel[0, axis]))
    return np.array(rows)


@pytest.mark.parametrize("pull", [0.0, 0.3])
@pytest.mark.parametrize("axis", [0, 1])
def test_one_link_is_a_pendulum(axis, pull):
    """I q'' = -m g l sin q - k (q - q0) - c q' - T dL/dq, with c q' implicit in time.

    L is the distance of two points, one beside the hinge and one on the link.
    """
    parameters = pendulum(length=0.3, bending_stiffness=6e-3, bending_damping=5e-4)
    model = build_model(parameters)
    link = int(Layout.of(model).link_bodies[0])
    model.qpos_spring[axis], model.dof_armature[axis] = 0.1, 1e-3
    arm, mass, lever = parameters.arm, model.body_mass[link], -model.body_ipos[link, 2]
    # the tendon at x pulls about y, the second one about x, with its sites moved to x = 0
    x, y = parameters.tendons.positions.T
    radius, tendon = (-y[1], 1) if axis == 0 else (x[0], 0)
    if axis == 0:
        model.site_pos[np.unique(model.wrap_objid), 0] = 0.0
    inertia = model.body_inertia[link, axis] + mass * lever**2 + 1e-3
    dt, tension = model.opt.timestep, np.where(np.arange(3) == tendon, pull, 0.0)
    q, rate, expected = 0.5, 2.0, []
    for _ in range(100):
        torque = -mass * 9.81 * lever * math.sin(q) - arm.joint_stiffness * (q - 0.1)
        torque -= pull * _length_slope(radius, arm.link_length, q)
        rate += dt * (torque - arm.joint_damping * rate) / (inertia + dt * arm.joint_damping)
        q += dt * rate
        expected.append((q, rate))
    flown = swing(model, axis, tension, 100)
    np.testing.assert_allclose(flown, expected, rtol=0, atol=1e-11)


def _length_slope(r: float, length: float, q: float) -> float:
    """Return dL/dq for the points (r, 0) and, turned by q, (r, -length) in a vertical plane."""
    x = r * math.cos(q) - length * math.sin(q)
    z = -r * math.sin(q) - length * math.cos(q)
    slope_x, slope_z = z, -x
    return ((x - r) * slope_x + z * slope_z) / math.hypot(x - r, z)


def test_equal_thrusts_lift_a_hanging_arm_straight_up():
    """The arm hangs still below: a = sum of thrusts / mass - g."""
    model = build_model(ModelParameters(fluid=Fluid(0.0, 0.0)))
    engine = engines.make("compiled", model, 1)
    engine.reset(np.zeros(1, np.int64), model.qpos0[None].copy(), np.zeros((1, model.nv)))
    engine.ctrl[0, :4] = 4.0
    rise = 16.0 / model.body_mass.sum() - 9.81
    dt = model.opt.timestep
    for k in range(1, 51):
        engine.step(1)
        assert engine.qvel[0, 2] == pytest.approx(rise * k * dt, abs=1e-12)
        assert engine.qpos[0, 2] == pytest.approx(1.0 + rise * dt**2 * k * (k + 1) / 2, abs=1e-12)
    assert np.abs(engine.qpos[0, 7:]).max() < 1e-12


def test_a_light_arm_leaves_the_base_a_rigid_body():
    """Euler's equations I w' = t - w x I w by hand, with an arm of a billionth of the mass."""
    airframe = Airframe(mass=2.0, inertia=(0.02, 0.03, 0.04), torque_coefficient=0.02)
    model = build_model(ModelParameters(airframe=airframe, arm=Arm(n_links=1), fluid=Fluid(0, 0)))
    link = int(Layout.of(model).link_bodies[0])
    model.body_mass[link], model.body_inertia[link] = 1e-9, 1e-12
    model.jnt_stiffness[:], model.dof_damping[:] = 0.0, 0.0
    engine = engines.make("compiled", model, 1)
    qvel = np.zeros((1, model.nv))
    qvel[0, 3:6] = w = np.array([1.0, -2.0, 0.5])
    engine.reset(np.zeros(1, np.int64), model.qpos0[None].copy(), qvel)
    thrust, inertia = np.array([3.0, 5.0, 4.0, 6.0]), np.array(airframe.inertia)
    engine.ctrl[0, :4] = thrust
    x, y = airframe.hubs[:, 0], airframe.hubs[:, 1]
    torque = np.array([thrust @ y, -thrust @ x, 0.02 * thrust @ airframe.spin])
    for _ in range(100):
        w = w + model.opt.timestep * (torque - np.cross(w, inertia * w)) / inertia
        engine.step(1)
        np.testing.assert_allclose(engine.qvel[0, 3:6], w, rtol=0, atol=1e-6)

"""Modes against closed forms, MuJoCo's own derivatives, and the motion that MuJoCo steps."""

import math

import mujoco
import numpy as np
import pytest
from scipy.optimize import brentq

from tendon_gym.model import (
    Airframe,
    Arm,
    Fluid,
    Layout,
    ModelParameters,
    build_model,
    linearise,
    modes,
    preset,
)

TENSIONS = np.array([2.0, 0.5, 0.0])


def in_vacuum(gravity=True, **arm):
    """Return a clamped arm without air."""
    model = build_model(ModelParameters(arm=Arm(**arm), fluid=Fluid(0.0, 0.0), base="clamped"))
    if not gravity:
        model.opt.gravity[:] = 0.0
    return model


def cantilever(stiffness, length, mass, tip_mass, count):
    """Return the frequencies of an Euler-Bernoulli cantilever with a point mass at its end, Hz.

    Roots of 1 + cos b cosh b + m b (cos b sinh b - sin b cosh b), m the ratio of tip to rod; see
    Rao 2007, "Vibration of Continuous Systems", section 11.5. Divided by cosh b here.
    """

    def condition(b):
        c, s, t = math.cos(b), math.sin(b), math.tanh(b)
        return 1.0 / math.cosh(b) + c + tip_mass / mass * b * (c * t - s)

    grid = np.linspace(0.1, 4.0 * (count + 1), 4000)
    signs = np.sign([condition(b) for b in grid])
    roots = [
        brentq(condition, *grid[k : k + 2], xtol=1e-14) for k in np.flatnonzero(np.diff(signs))
    ]
    speed = math.sqrt(stiffness / (mass * length**3))
    return np.array(roots[:count]) ** 2 * speed / (2.0 * math.pi)


@pytest.mark.parametrize("gravity", [True, False])
def test_one_link_is_a_pendulum_on_a_spring(gravity):
    arm = Arm(n_links=1, discretisation="consistent")
    model = in_vacuum(gravity, n_links=1, discretisation="consistent")
    far = arm.length + arm.tip_offset
    inertia = arm.mass * (arm.radius**2 / 4.0 + arm.length**2 / 3.0)
    inertia += arm.tip_mass * (far**2 + 0.4 * arm.tip_radius**2)
    stiffness = 2.0 * arm.bending_stiffness / arm.length
    damping = 2.0 * arm.bending_damping / arm.length
    if gravity:
        stiffness += 9.81 * (arm.mass * arm.length / 2.0 + arm.tip_mass * far)
    found = modes(model)
    own = math.sqrt(stiffness / inertia) / (2.0 * math.pi)
    assert found.frequencies == pytest.approx([own, own], rel=1e-8)
    roots = np.roots([inertia, damping, stiffness])
    assert found.poles.sum() == pytest.approx(2.0 * roots.sum(), rel=1e-8)
    assert np.abs(found.poles) == pytest.approx(np.abs(np.tile(roots, 2)), rel=1e-8)


@pytest.mark.parametrize("tip_mass", [0.0, 0.02])
def test_fine_arms_without_gravity_are_cantilevers(tip_mass):
    rod = {
        "radius": 1e-3, "bending_damping": 0.0, "tip_mass": tip_mass, "tip_radius": 1e-3,
        "tip_offset": 0.0,
    }  # fmt: skip
    exact = cantilever(2.4e-3, 0.48, 0.18, tip_mass, 3)
    errors = {
        (n, kind): modes(
            in_vacuum(gravity=False, n_links=n, discretisation=kind, **rod)
        ).frequencies[:6:2]
        / exact
        - 1.0
        for n in (24, 48)
        for kind in ("chain", "consistent")
    }
    assert (np.abs(errors[48, "consistent"]) < 2e-3).all()
    assert (np.abs(errors[48, "chain"]) < 3e-2).all()
    # The order of convergence: the first against the second.
    assert errors[24, "chain"] / errors[48, "chain"] == pytest.approx(np.full(3, 2.0), rel=0.15)
    orders = errors[24, "consistent"] / errors[48, "consistent"]
    assert orders == pytest.approx(np.full(3, 4.0), rel=0.15)


@pytest.mark.parametrize("base", ["clamped", "free"])
def test_derivatives_are_those_of_mujocos_inverse_dynamics(base):
    model = build_model(ModelParameters(arm=Arm(n_links=5), base=base))
    near, data = linearise(model, TENSIONS), mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = near.qpos, near.ctrl
    mujoco.mj_forward(model, data)
    assert np.abs(data.qacc).max() < 1e-6  # it is at rest
    data.qacc[:] = 0.0
    positions, velocities, accelerations = np.zeros((3, model.nv, model.nv))
    mujoco.mjd_inverseFD(
        model, data, 1e-6, True, positions, velocities, accelerations, None, None, None, None
    )  # fmt: skip
    assert near.stiffness == pytest.approx(positions.T, abs=2e-5)
    assert near.damping == pytest.approx(velocities.T, abs=1e-5)
    assert near.mass == pytest.approx(accelerations.T, abs=1e-6)


@pytest.mark.parametrize(
    ("base", "tensions"), [("clamped", None), ("clamped", TENSIONS), ("free", TENSIONS)]
)
@pytest.mark.parametrize("mode", [0, 3, 9])
def test_a_vehicle_let_go_in_a_mode_swings_in_it(base, tensions, mode):
    arm = Arm(n_links=5, bending_damping=0.0)
    model = build_model(ModelParameters(arm=arm, fluid=Fluid(0.0, 0.0), base=base))
    near, found = linearise(model, tensions), modes(model, tensions)
    shape = 1e-4 * found.shapes[mode] / np.abs(found.shapes[mode]).max()
    frequency = found.frequencies[mode]
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    steps = 200
    model.opt.timestep = 0.8 / frequency / steps
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = near.qpos, near.ctrl
    mujoco.mj_integratePos(model, data.qpos, shape, 1.0)
    mujoco.mj_step(model, data, steps)
    offset = np.empty(model.nv)
    mujoco.mj_differentiatePos(model, offset, 1.0, near.qpos, data.qpos)
    share = math.cos(2.0 * math.pi * 0.8)
    assert offset == pytest.approx(share * shape, abs=2e-3 * np.abs(shape).max())


def test_shapes_have_a_modal_mass_of_one_and_belong_to_different_motions():
    model = build_model(ModelParameters(arm=Arm(n_links=4), base="clamped"))
    near, found = linearise(model, TENSIONS), modes(model, TENSIONS)
    assert found.shapes @ near.mass @ found.shapes.T == pytest.approx(np.eye(8), abs=1e-9)
    squares = (2.0 * np.pi * found.frequencies) ** 2
    stiffness = found.shapes @ near.stiffness @ found.shapes.T
    assert stiffness == pytest.approx(np.diag(squares), abs=1e-6 * squares.max())


def test_a_light_base_swings_against_the_arm_and_a_heavy_one_holds_it():
    heavy = Airframe(mass=1e3, inertia=(900.0, 900.0, 900.0), thrust_max=1e4)
    carried = modes(build_model(ModelParameters(airframe=heavy)))
    held = modes(build_model(ModelParameters(base="clamped")))
    assert carried.frequencies == pytest.approx(held.frequencies, rel=1e-3)
    light = modes(build_model(preset("paper")))
    assert (light.frequencies > held.frequencies).all()


def test_a_hovering_vehicle_is_pushed_sideways_by_the_tilt_of_its_thrust_alone():
    model = build_model(preset("paper"))
    near, found, data = linearise(model), modes(model), mujoco.MjData(model)
    data.qpos[:] = near.qpos
    mujoco.mj_forward(model, data)
    centre = np.empty((3, model.nv))
    mujoco.mj_jacSubtreeCom(model, data, centre, Layout.of(model).base_body)
    squares = (2.0 * np.pi * found.frequencies) ** 2
    moved = found.shapes @ centre.T
    turned = found.shapes[:, 3:6]
    assert -squares * moved[:, 0] == pytest.approx(9.81 * turned[:, 1], abs=1e-6)
    assert -squares * moved[:, 1] == pytest.approx(-9.81 * turned[:, 0], abs=1e-6)
    assert np.abs(turned[:2]).max() > 0.1


def test_rotors_that_cannot_carry_the_vehicle_are_refused():
    model = build_model(ModelParameters(airframe=Airframe(thrust_max=3.0)))
    with pytest.raises(ValueError, match=r"^model must be such that thrusts from 0 to 3 N"):
        modes(model)
    model.opt.gravity[:] = 0.0
    assert linearise(model).ctrl == pytest.approx(np.zeros(model.nu), abs=1e-12)

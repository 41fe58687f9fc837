from __future__ import annotations

import copy
import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from tendon_gym.chains.soft_arm import NoRest, SoftArm
from tendon_gym.model import build_model, preset

TENSIONS = np.array([1.5, 0.2, 0.0])


@pytest.fixture(scope="module")
def model():
    return build_model(replace(preset("default"), base="clamped"))


@pytest.fixture(scope="module")
def arm(model):
    return SoftArm(model, "base", "tip")


@pytest.fixture(scope="module")
def rest(arm):
    return arm.rest(TENSIONS)


def energy(model, arm, q, tensions):
    """Return the energy as MuJoCo and the tendons' lengths have it."""
    data = mujoco.MjData(model)
    data.qpos[arm.qpos_addresses] = q
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_energyPos(model, data)
    return data.energy[0] + tensions @ data.ten_length[arm.tendons]


def simulate(model, tensions, seconds=45.0, prepare=lambda data: None):
    """Return the data of an arm that has come to rest under tensions, damped more than it is."""
    model = copy.copy(model)
    model.dof_damping *= 5.0
    data = mujoco.MjData(model)
    for k, tension in enumerate(tensions, start=1):
        data.actuator(f"tendon_{k}").ctrl[0] = tension
    prepare(data)
    mujoco.mj_step(model, data, round(seconds / model.opt.timestep))
    mujoco.mj_forward(model, data)
    assert np.abs(data.qvel).max() < 1e-5
    return data


def test_rest_is_where_the_simulation_ends(model, arm, rest):
    data = simulate(model, TENSIONS)
    np.testing.assert_allclose(rest, data.qpos[arm.qpos_addresses], atol=1e-5)
    tip = data.site("tip").xpos - data.body("base").xpos
    np.testing.assert_allclose(arm.tip(rest).position, tip, atol=1e-6)


def test_the_slope_of_the_energy_and_its_own(model, arm, rest):
    """First and second derivatives of the energy, by central differences of the energy itself."""
    rng = np.random.default_rng(0)
    q = rest + rng.normal(scale=0.05, size=arm.n_joints)
    h = 1e-4
    steps = h * np.eye(arm.n_joints)
    slope = [
        (energy(model, arm, q + s, TENSIONS) - energy(model, arm, q - s, TENSIONS)) / (2 * h)
        for s in steps
    ]
    np.testing.assert_allclose(arm.energy_slope(q, TENSIONS), slope, atol=1e-7)
    stiffness = arm.stiffness(q, TENSIONS)
    for i, j in ((0, 0), (0, 5), (3, 10), (23, 23), (20, 23)):
        corners = [
            a * b * energy(model, arm, q + a * steps[i] + b * steps[j], TENSIONS)
            for a in (1, -1)
            for b in (1, -1)
        ]
        assert stiffness[i, j] == pytest.approx(sum(corners) / (4 * h * h), abs=2e-5)
    np.testing.assert_array_equal(stiffness, stiffness.T)


def test_rest_is_a_minimum(model, arm, rest):
    assert np.abs(arm.energy_slope(rest, TENSIONS)).max() < 1e-9
    assert np.linalg.eigvalsh(arm.stiffness(rest, TENSIONS)).min() > 0.0
    rng = np.random.default_rng(1)
    here = energy(model, arm, rest, TENSIONS)
    for direction in rng.normal(size=(20, arm.n_joints)):
        step = 1e-3 * direction / np.linalg.norm(direction)
        assert energy(model, arm, rest + step, TENSIONS) > here


def test_a_pendulum_with_a_spring_and_a_tendon():
    """k q + m g l sin q + T dL/dq = 0 with a straight tendon from point to point, by bisection."""
    stiffness, mass, length, tension = 2.0, 0.8, 0.5, 3.0
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    base = spec.worldbody.add_body(name="base", pos=[0, 0, 1])
    base.add_site(name="anchor", pos=[0.2, 0, -0.1])
    rod = base.add_body(name="rod")
    joint = rod.add_joint(name="hinge", axis=[0, -1, 0])
    joint.stiffness = [stiffness, 0, 0]
    rod.add_geom(size=[0.01, 0, 0], pos=[0, 0, -length], mass=mass)
    rod.add_site(name="tip", pos=[0, 0, -length])
    tendon = spec.add_tendon(name="tendon")
    tendon.wrap_site("anchor")
    tendon.wrap_site("tip")
    arm = SoftArm(spec.compile(), "base", "tip")

    def balance(q):
        x, z = length * math.sin(q), -length * math.cos(q)
        away = math.hypot(x - 0.2, z + 0.1)
        stretch = ((x - 0.2) * length * math.cos(q) + (z + 0.1) * length * math.sin(q)) / away
        return stiffness * q + mass * 9.81 * length * math.sin(q) + tension * stretch

    expected = brentq(balance, 0.0, 1.0, xtol=1e-14)
    assert arm.rest([tension])[0] == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(
        arm.tip([expected]).position,
        [length * math.sin(expected), 0, -length * math.cos(expected)],
        atol=1e-12,
    )


def test_jacobians_are_derivatives(arm, rest):
    h = 1e-6
    jacobian, rows = arm.tip_jacobian(rest), arm.tendon_jacobian(rest)
    for k in range(arm.n_joints):
        step = h * np.eye(arm.n_joints)[k]
        after, before = arm.tip(rest + step), arm.tip(rest - step)
        moved = (after.position - before.position) / (2 * h)
        turned = Rotation.from_matrix(after.rotation @ before.rotation.T).as_rotvec() / (2 * h)
        np.testing.assert_allclose(jacobian[:, k], [*moved, *turned], atol=1e-7)
        longer = arm.tendon_lengths(rest + step) - arm.tendon_lengths(rest - step)
        np.testing.assert_allclose(rows[:, k], longer / (2 * h), atol=1e-8)


def test_the_tip_moves_with_tensions_as_its_derivative_says(arm, rest):
    slope = arm.tip_by_tension(rest, TENSIONS)
    h = 1e-4
    for k in range(3):
        shifted = [TENSIONS + np.array([0.0, 0.0, h]) + sign * h * np.eye(3)[k] for sign in (1, -1)]
        after, before = (arm.tip(arm.rest(pull, rest, TENSIONS)).position for pull in shifted)
        np.testing.assert_allclose(slope[:3, k], (after - before) / (2 * h), atol=2e-5)


def test_the_tip_gives_way_to_a_push_as_its_compliance_says(model, arm, rest):
    compliance = arm.tip_compliance(rest, TENSIONS)
    push = np.array([0.002, -0.001, 0.0015])

    def apply(data):
        link = model.body("link_12").id
        mujoco.mj_kinematics(model, data)
        data.xfrc_applied[link, :3] = push  # at the centre of mass: little beside the tip
        data.xfrc_applied[link, 3:] = 0.0

    tip = arm.tip(rest)
    link = simulate(model, TENSIONS).body("link_12")
    moment = np.cross(link.xipos - (tip.position + np.array(model.body("base").pos)), push)
    expected = compliance[:3] @ np.concatenate([push, moment])
    pushed = simulate(model, TENSIONS, prepare=apply)
    moved = pushed.site("tip").xpos - model.body("base").pos - tip.position
    np.testing.assert_allclose(moved, expected, atol=0.03 * np.linalg.norm(expected))


def test_a_tilted_base_is_gravity_turned_about_it(model):
    """A free base that lies at an angle is a clamped one under gravity from elsewhere."""
    free = build_model(preset("default"))
    tilt = Rotation.from_rotvec([0.5, -0.3, 0.4])
    qpos = free.qpos0.copy()
    qpos[3:7] = tilt.as_quat(scalar_first=True)
    turned = build_model(replace(preset("default"), base="clamped"))
    turned.opt.gravity[:] = tilt.inv().apply(model.opt.gravity)
    ours = SoftArm(free, "base", "tip", qpos=qpos)
    theirs = SoftArm(turned, "base", "tip")
    q = ours.rest(TENSIONS)
    np.testing.assert_allclose(q, theirs.rest(TENSIONS), atol=1e-8)
    np.testing.assert_allclose(ours.tip(q).position, theirs.tip(q).position, atol=1e-8)
    np.testing.assert_allclose(ours.tip_jacobian(q), theirs.tip_jacobian(q), atol=1e-8)


def test_tensions_for_a_reachable_tip_reach_it(arm):
    for tensions in ([1.0, 0.3, 0.0], [0.0, 2.0, 0.5], [0.4, 0.0, 1.2]):
        target = arm.tip(arm.rest(tensions)).position
        found, q = arm.tensions_for(target, 6.0)
        assert np.linalg.norm(arm.tip(q).position - target) < 1e-3
        assert np.linalg.norm(found) <= np.linalg.norm(tensions) + 1e-2
        assert (found >= 0.0).all()
        np.testing.assert_allclose(arm.rest(found), q, atol=1e-7)


def test_a_tip_out_of_reach_is_approached(arm):
    target = np.array([0.5, 0.0, -0.4])
    found, q = arm.tensions_for(target, 2.0)
    assert (found <= 2.0).all()
    start = arm.tip(arm.rest(np.zeros(3))).position
    assert np.linalg.norm(arm.tip(q).position - target) < np.linalg.norm(start - target)


def test_bad_input_is_named(model, arm):
    free = build_model(preset("default"))
    for call, message in (
        (lambda: SoftArm(model, "bass", "tip"), "no body 'bass'"),
        (lambda: SoftArm(model, "base", "top"), "no site 'top'"),
        (lambda: SoftArm(model, "base", "tip", ["tendon_9"]), "no tendon 'tendon_9'"),
        (lambda: SoftArm(model, "link_12", "tip"), "no joints below body 'link_12'"),
        (
            lambda: SoftArm(free, "world", "tip"),
            "neither hinge nor slide",
        ),
        (lambda: arm.rest([1, 2]), "tensions must have shape"),
        (lambda: arm.rest([1, 2, -1]), r"tensions\[2\]"),
        (lambda: arm.tip([0] * 3), "q must have shape"),
        (lambda: arm.tensions_for([0, 0], 1), "position must have shape"),
        (lambda: arm.tensions_for([0, 0, 0], 0), "largest"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_tensions_far_beyond_any_tendon_curl_the_arm_up_and_take_no_time(arm):
    """The tensions grow by shares of themselves: a million newtons are some hundred steps away."""
    for tension in (1e3, 1e6):
        q = arm.rest([tension, 0.0, 0.0])
        assert np.abs(arm.energy_slope(q, [tension, 0.0, 0.0])).max() < 1e-9
        assert np.abs(q).max() > 1.0


def test_an_arm_that_finds_no_rest_says_where(arm, monkeypatch):
    monkeypatch.setattr("tendon_gym.chains.soft_arm.ITERATIONS", 1)
    with pytest.raises(NoRest, match="finds no rest at tensions of") as caught:
        arm.rest([3.0, 0.0, 0.0])
    np.testing.assert_allclose(caught.value.tensions, [0.5, 0.0, 0.0])

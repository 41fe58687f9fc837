"""Twist and stretch of the arm against the rod's closed forms, and what they leave as it was."""

import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from tendon_gym.model import (
    Arm,
    Fluid,
    Layout,
    ModelParameters,
    Solver,
    TendonProperties,
    Tendons,
    build_model,
    check_timestep,
    hanging,
    modes,
    preset,
    rest_shape,
    rest_tips,
)

GJ, EA = 1.6e-3, 66.7
SOFT = Arm(torsional_stiffness=GJ, axial_stiffness=EA)


def held(gravity=9.81, **arm):
    """Return a clamped arm in vacuum that twists and stretches."""
    own = replace(SOFT, **arm)
    model = build_model(ModelParameters(arm=own, fluid=Fluid(0.0, 0.0), base="clamped"))
    model.opt.gravity[2] = -gravity
    return model


def test_by_default_nothing_twists_or_stretches():
    model = build_model(preset("paper"))
    layout = Layout.of(model)
    assert (model.nq, model.nv, model.njnt) == (31, 30, 25)
    assert not len(layout.twist_qpos) and not len(layout.stretch_dofs)
    assert layout.arm_qpos.tolist() == layout.joint_qpos.tolist()
    assert (hanging(model) == model.qpos0).all()
    assert Arm().sag == 0.0


def test_every_joint_has_its_address():
    layout = Layout.of(build_model(ModelParameters(arm=replace(SOFT, n_links=2))))
    assert layout.joint_qpos.tolist() == [7, 8, 11, 12]
    assert layout.twist_qpos.tolist() == [9, 13]
    assert layout.stretch_qpos.tolist() == [10, 14]
    assert layout.arm_dofs.tolist() == list(range(6, 14))
    only = Layout.of(build_model(ModelParameters(arm=Arm(n_links=2, axial_stiffness=EA))))
    assert only.joint_dofs.tolist() == [6, 7, 9, 10]
    assert only.twist_dofs.tolist() == [] and only.stretch_dofs.tolist() == [8, 11]


@pytest.mark.parametrize("n_links", [1, 5, 12])
def test_a_torque_twists_the_rod_and_a_force_stretches_it(n_links):
    """The angle is M L / GJ, the extension F L / EA."""
    model = held(gravity=0.0, n_links=n_links)
    data, layout, torque, force = mujoco.MjData(model), Layout.of(model), 1e-3, 2.0
    data.xfrc_applied[layout.link_bodies[-1]] = [0.0, 0.0, -force, 0.0, 0.0, torque]
    model.opt.timestep = 1e-3
    for _ in range(4000):
        mujoco.mj_step(model, data)
    assert data.qpos[layout.twist_qpos].sum() == pytest.approx(torque * 0.48 / GJ, rel=1e-4)
    extension = force * 0.48 / EA
    assert data.qpos[layout.stretch_qpos].sum() == pytest.approx(extension, rel=1e-4)
    mujoco.mj_kinematics(model, data)
    tip, base = data.site("tip").xpos, data.body("base").xpos
    assert base[2] - tip[2] == pytest.approx(0.526 + extension, abs=1e-5)
    assert data.ten_length[0] > 0.48 + 0.9 * extension


def test_the_own_weight_stretches_a_hanging_rod():
    """By m g L / 2 EA of the rod's weight; the half link at the end does not give."""
    n = 12
    model = held(n_links=n, discretisation="consistent", tip_mass=0.0)
    stretch = rest_shape(model, np.zeros(3))[3::4]
    assert stretch.sum() == pytest.approx(0.18 * 9.81 * 0.48 / (2.0 * EA), rel=1e-9)
    assert (np.diff(stretch[1:]) < 0.0).all()
    chain = rest_shape(held(n_links=n), np.zeros(3))[3::4].sum()
    assert chain == pytest.approx(SOFT.sag + 0.18 * 9.81 * 0.48 / (2.0 * EA * n), rel=1e-9)


def pure(model, dofs, count):
    """Return the first frequencies of the modes in which only these joints move, Hz."""
    found = modes(model)
    others = np.setdiff1d(np.arange(model.nv), dofs)
    alone = np.abs(found.shapes[:, others]).max(axis=1) < 1e-6 * np.abs(found.shapes).max(axis=1)
    return found.frequencies[alone][:count]


@pytest.mark.parametrize(("n", "within"), [(6, 8e-2), (24, 5e-3)])
def test_a_clamped_rod_turns_and_rings_at_its_frequencies(n, within):
    """f_k = (2 k - 1) / 4 L times the speed of the wave, (GJ / rho J)^1/2 or (EA / rho A)^1/2."""
    model = held(gravity=0.0, n_links=n, tip_mass=0.0, discretisation="consistent")
    layout, per_length = Layout.of(model), 0.18 / 0.48
    odd = np.array([1.0, 3.0]) / (4.0 * 0.48)
    twist = odd * math.sqrt(GJ / (per_length * 0.5 * 0.012**2))
    assert pure(model, layout.twist_dofs, 2) == pytest.approx(twist, rel=within)
    stretch = odd * math.sqrt(EA / per_length)
    assert pure(model, layout.stretch_dofs, 2) == pytest.approx(stretch, rel=within)


def test_a_stiff_rod_rests_as_one_that_only_bends():
    stiff = replace(SOFT, torsional_stiffness=1e4, axial_stiffness=1e7, n_links=6)
    tensions = np.array([[2.0, 0.5, 0.0], [3.0, 3.0, 0.0]])
    own = rest_tips(build_model(ModelParameters(arm=stiff, base="clamped")), tensions)
    plain = rest_tips(build_model(ModelParameters(arm=Arm(n_links=6), base="clamped")), tensions)
    assert own == pytest.approx(plain, abs=1e-5)


def test_tensions_press_the_arm_together():
    """Three equal tensions T leave it straight, and take 3 T L / EA of its length."""
    model = held(gravity=0.0, n_links=6)
    shape = rest_shape(model, [0.05, 0.05, 0.05])
    assert shape[3::4] == pytest.approx(np.full(6, -0.15 * 0.08 / EA), rel=1e-6)
    assert np.delete(shape.reshape(6, 4), 3, axis=1) == pytest.approx(np.zeros((6, 3)), abs=1e-9)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"torsional_stiffness": 0.0}, r"Arm\.torsional_stiffness must be .*at least 1e-06"),
        ({"torsional_stiffness": math.nan}, r"Arm\.torsional_stiffness"),
        ({"torsional_damping": -1.0}, r"Arm\.torsional_damping"),
        ({"axial_stiffness": -1.0}, r"Arm\.axial_stiffness"),
        ({"axial_damping": 1e6}, r"Arm\.axial_damping"),
        ({"discretisation": "fine"}, r"'chain', 'consistent'"),
    ],
)
def test_absurd_compliance_is_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        Arm(**changes)


@pytest.mark.parametrize(("kind", "free"), [("torsional", "axial"), ("axial", "torsional")])
def test_the_limit_of_the_timestep_is_where_it_grows(kind, free):
    """A little below the largest stiffness the joints' oscillation decays, a little above not."""
    low, high = (1.0 if kind == "axial" else 1e-4), 1e4

    def of(stiffness):
        given = {f"{kind}_stiffness": stiffness, f"{kind}_damping": 0.0, f"{free}_stiffness": None}
        return ModelParameters(arm=replace(SOFT, n_links=4, **given), base="clamped")

    while high / low > 1.001:
        middle = math.sqrt(low * high)
        try:
            check_timestep(of(middle))
            low = middle
        except ValueError as error:
            assert f"model.arm.{kind}_stiffness must be less than" in str(error)
            high = middle
    largest = []
    for stiffness in (0.98 * low, 1.02 * low):
        model = build_model(of(stiffness))
        model.opt.gravity[:] = 0.0
        data, layout = mujoco.MjData(model), Layout.of(model)
        own = layout.twist_qpos if kind == "torsional" else layout.stretch_qpos
        data.qpos[own] = 1e-6 * np.random.default_rng(0).normal(size=4)
        sizes = []
        for _ in range(400):
            mujoco.mj_step(model, data)
            sizes.append(float(np.abs(data.qpos[own]).max()))
        largest.append(max(sizes))
    assert largest[0] < 1e-4 < largest[1]


def test_stiff_tendons_shake_an_arm_that_stretches():
    springs = Tendons(properties=TendonProperties(stiffness=2e5, damping=0.0))
    rigid = ModelParameters(tendons=springs, solver=Solver(timestep=1e-3), arm=Arm(n_links=4))
    check_timestep(rigid)
    soft = replace(rigid, arm=replace(SOFT, n_links=4, axial_damping=0.0))
    with pytest.raises(ValueError, match=r"tendons\.properties\.stiffness and damping"):
        check_timestep(soft)


@pytest.mark.parametrize("tensions", [[1.5, 0.4, 0.0], [4.5, 0.0, 0.0]])
def test_rest_is_where_a_simulation_stays(tensions):
    """The second bends so far that it twists out of its plane: a fork that rest has passed."""
    parameters = ModelParameters(arm=replace(SOFT, n_links=4), base="clamped")
    model = build_model(parameters)
    shape = rest_shape(model, tensions)
    sideways = rest_tips(model, [tensions])[0, 1]
    assert abs(sideways) > 0.01
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = shape, tensions
    data.qpos[:] += 1e-3 * np.random.default_rng(0).normal(size=model.nq)
    for _ in range(6000):
        mujoco.mj_step(model, data)
        data.qvel *= 0.99
    assert data.qpos == pytest.approx(shape, abs=1e-5)

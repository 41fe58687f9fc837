import mujoco
import numpy as np
import pytest

from tendon_gym.model import (
    Arm,
    Layout,
    ModelParameters,
    Tendons,
    build_model,
    preset,
    rest_shape,
    rest_tips,
)


def paper_tensions(magnitude, beta=0.0):
    """Return the paper's allocation for three tendons at 120 degrees and 6 N."""
    c = np.cos(beta - np.radians([0.0, 120.0, 240.0]))
    return np.multiply.outer(magnitude, 6.0 / np.sqrt(3.0) * (c - c.min()))


def simulate(model, tensions, seconds, keep=1.0):
    """Ramp the tensions in one second; each step leaves the share `keep` of the velocity."""
    data = mujoco.MjData(model)
    for k in range(round(seconds / 0.002)):
        s = min(1.0, k * 0.002)
        data.ctrl[:] = tensions * (10 * s**3 - 15 * s**4 + 6 * s**5)
        mujoco.mj_step(model, data)
        data.qvel *= keep
    return data


@pytest.mark.parametrize(
    ("parameters", "tensions"),
    [
        (ModelParameters(base="clamped"), paper_tensions(0.8, 0.4)),
        (ModelParameters(base="clamped", arm=Arm(n_links=3)), paper_tensions(1.0, 2.0)),
        # So fine and so strongly pulled an arm snaps to a tighter hook, past a fold of its branch.
        (ModelParameters(base="clamped", arm=Arm(n_links=24)), paper_tensions(1.0)),
        (
            ModelParameters(base="clamped", tendons=Tendons(n_tendons=4), arm=Arm(n_links=6)),
            np.array([3.0, 1.0, 0.0, 0.5]),
        ),
    ],
)
def test_rest_is_where_a_damped_simulation_ends(parameters, tensions):
    model = build_model(parameters)
    shape = rest_shape(model, tensions)
    data = simulate(model, tensions, 12.0, keep=0.99)
    assert data.qpos == pytest.approx(shape, abs=1e-5)


def test_a_free_vehicle_held_level_gives_the_same_shape():
    tensions = paper_tensions(0.7, 1.0)
    free = rest_shape(build_model(preset("default")), tensions)
    clamped = rest_shape(build_model(ModelParameters(base="clamped")), tensions)
    assert free == pytest.approx(clamped, abs=1e-9)


def test_without_gravity_one_hinge_turns_by_moment_over_stiffness():
    model = build_model(ModelParameters(base="clamped", arm=Arm(bending_stiffness=0.5)))
    model.opt.gravity[:] = 0.0
    shape = rest_shape(model, [2.0, 0.0, 0.0])
    # Every hinge sees the moment r T cos(theta / 2) of two sites on either side of it.
    angle = shape[1::2]
    stiffness = 0.5 / 0.04
    gap = 0.04 - 2 * 0.015 * np.tan(angle / 2)  # the inner side is shorter
    assert shape[::2] == pytest.approx(np.zeros(12), abs=1e-12)
    assert np.ptp(angle) < 1e-9
    assert (gap > 0).all()
    assert stiffness * np.abs(angle) == pytest.approx(np.full(12, 2.0 * 0.015), rel=1e-3)


def test_slack_tendons_leave_the_arm_straight():
    tips = rest_tips(build_model(preset("paper")), np.zeros((1, 3)))
    assert tips[0] == pytest.approx([0.0, 0.0, -0.526], abs=1e-12)


def test_tips_of_the_papers_sweep():
    model = build_model(preset("paper"))
    tips = rest_tips(model, paper_tensions(np.linspace(0.0, 1.0, 33)))
    lateral, height = tips[:, 0], tips[:, 2]
    assert (np.diff(lateral) > 0).all()
    assert (np.diff(height) > 0).all()
    assert np.diff(lateral)[-1] < 0.5 * np.diff(lateral)[0]
    alone = rest_tips(model, paper_tensions(1.0)[None])[0]
    assert alone == pytest.approx(tips[-1], abs=1e-7)


def test_bend_is_the_same_in_every_direction():
    model = build_model(preset("paper"))
    rows = np.stack([paper_tensions(1.0, beta) for beta in np.radians(np.arange(0, 361, 15))])
    tips = rest_tips(model, rows)
    radius = np.hypot(tips[:, 0], tips[:, 1])
    assert np.ptp(radius) / 2 < 0.015 * radius.mean()
    assert tips[0] == pytest.approx(tips[-1], abs=1e-6)


def test_bend_of_the_paper_at_five_seconds():
    model = build_model(ModelParameters(base="clamped"))
    data = simulate(model, paper_tensions(1.0), 5.0)
    tip = data.site("tip").xpos - data.site("base").xpos
    assert tip[0] == pytest.approx(0.153, rel=0.03)
    assert -tip[2] == pytest.approx(0.378, rel=0.03)


def test_an_arm_standing_on_its_base_buckles_to_a_stable_shape():
    model = build_model(ModelParameters(base="clamped"))
    model.opt.gravity[2] = 9.81
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data, layout = mujoco.MjData(model), Layout.of(model)
    shape = rest_shape(model, [0.01, 0.0, 0.0])
    assert np.abs(shape).max() > 0.1
    data.ctrl[0] = 0.01
    data.qpos[layout.joint_qpos] = shape + 1e-3
    for _ in range(3000):
        mujoco.mj_step(model, data)
        data.qvel *= 0.99
    assert data.qpos == pytest.approx(shape, abs=1e-5)


@pytest.mark.parametrize(
    ("tensions", "message"),
    [
        ([1.0, 2.0], r"tensions must have shape \(3\)"),
        ([1.0, -2.0, 0.0], r"tensions\[1\]"),
        ([1.0, np.nan, 0.0], r"tensions\[1\]"),
    ],
)
def test_bad_tensions(tensions, message):
    with pytest.raises(ValueError, match=message):
        rest_shape(build_model(preset("paper")), tensions)


def test_an_arm_that_cannot_settle_says_so(monkeypatch):
    monkeypatch.setattr("tendon_gym.chains.soft_arm.ITERATIONS", 1)
    message = r"does not settle at tensions of \(0\.5, 0, 0\) N: .*arm\.bending_stiffness"
    with pytest.raises(ValueError, match=message):
        rest_shape(build_model(preset("paper")), [3.0, 0.0, 0.0])

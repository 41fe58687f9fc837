"""What actions do: each interface against the physics that it promises, in closed loop."""

from __future__ import annotations

import itertools

import gymnasium as gym
import numpy as np
import pytest

from tendon_gym.registration import ENTRIES

SLACK = [-1.0, -1.0, -1.0]
STILL = {"position": 0.0, "velocity": 0.0, "tilt": 0.0, "yaw": 0.0, "angular_velocity": 0.0}
STILL |= {"bend": 0.0, "bend_rate": 0.0, "phase": "zero"}


def make(name="Hover", **settings):
    env = gym.make(ENTRIES[name].id, start=STILL, **settings).unwrapped
    env.reset(seed=0)
    return env


def fly(env, rotor, tendons, seconds):
    """Step with one action; return the signals of every step, (steps,)."""
    action = np.array([*rotor, *tendons], np.float32)
    rows = []
    for _ in range(round(seconds / env.core.step_time)):
        *_, terminated, _, info = env.step(action)
        assert not terminated, info["termination_reason"]
        rows.append(env.core.signals[0].copy())
    return np.array(rows)


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_the_size_of_an_action_is_that_of_its_parts(entry):
    sizes = {"tension": 3, "bend": 2, "reference": 0}
    for rotor, tendon in itertools.product(entry.rotor_actions, entry.tendon_actions):
        if tendon == "reference" and rotor == "none":
            continue
        space = gym.make(entry.id, rotor_action=rotor, tendon_action=tendon).action_space
        winch = 1 if entry.name in ("Hoist", "TetherPerch") else 0
        assert space.shape == ((0 if rotor == "none" else 4) + sizes[tendon] + winch,)
        assert (space.low == -1.0).all() and (space.high == 1.0).all()
        assert space.dtype == np.float32


@pytest.mark.parametrize(
    "action, thrust", [(-1.0, 0.0), (-0.5, None), (0.0, None), (0.5, None), (1.0, 8.0)]
)
def test_thrusts(action, thrust):
    """-1 gives none, 0 a quarter of the weight, +1 the largest; straight lines between them."""
    env = make()
    *_, info = env.step(np.array([action] * 4 + SLACK))
    weight = 9.81 * 1.26 / 4.0
    between = {-0.5: 0.5 * weight, 0.0: weight, 0.5: 0.5 * (weight + 8.0)}
    expected = between.get(action, thrust)
    np.testing.assert_allclose(info["thrusts"], expected, rtol=1e-9)


@pytest.mark.parametrize("action, tension", [(-1.0, 0.0), (0.0, 3.0), (0.5, 4.5), (1.0, 6.0)])
@pytest.mark.parametrize("name", ["Hover", "ArmBend"])
def test_tensions(name, action, tension):
    env = make(name)
    rotor = [0.0] * (env.action_space.shape[0] - 3)
    *_, info = env.step(np.array([*rotor, action, -1.0, action]))
    np.testing.assert_allclose(info["tensions"], [tension, 0.0, tension], atol=1e-12)


@pytest.mark.parametrize("model", ["default", "paper"])
def test_the_hover_action_holds_the_altitude(model):
    rows = fly(make(model=model), [0.0] * 4, SLACK, 4.0)
    np.testing.assert_allclose(rows["position"], [[0, 0, 1.6]] * len(rows), atol=1e-6)
    assert rows["tilt"].max() < 1e-6


@pytest.mark.parametrize("name", ["Hover", "ArmBend"])
def test_equal_tensions_bend_nothing(name):
    """The zero action of the tendons pulls each at half: straight stays straight, and recovers."""
    env = make(name)
    rows = fly(env, [0.0] * (env.action_space.shape[0] - 3), [0.0] * 3, 1.0)
    np.testing.assert_allclose(rows["tip"], [[0, 0, -0.526]] * len(rows), atol=1e-6)
    np.testing.assert_allclose(rows["bend"], 0.0, atol=1e-12)
    if name == "Hover":
        return
    qpos = env.model.qpos0.copy()
    qpos[1::2] = 0.05
    env.reset(options={"qpos": qpos})
    rows = fly(env, [], [0.0] * 3, 4.0)
    lateral = np.hypot(*rows["tip"][:, :2].T)
    assert lateral[0] > 0.15 and lateral[-100:].max() < 0.8 * lateral[0]


@pytest.mark.parametrize("direction", [0.0, 1.0, 2.0, 3.5, 5.0])
@pytest.mark.parametrize("length", [0.5, 1.0, 1.4])
def test_bends_point_where_they_are_asked(direction, length):
    env = make("ArmBend", tendon_action="bend")
    asked = np.clip(length * np.array([np.cos(direction), np.sin(direction)]), -1.0, 1.0)
    rows = fly(env, [], asked, 1.5)
    applied = asked / max(1.0, np.hypot(*asked))
    np.testing.assert_allclose(rows["bend"][-1], applied, atol=1e-6)
    tip = rows["tip"][-50:, :2].mean(axis=0)
    assert np.hypot(*tip) > 0.05
    turn = np.arctan2(asked[0] * tip[1] - asked[1] * tip[0], asked @ tip)
    assert abs(turn) < 0.08
    tensions = env.data.ctrl
    assert tensions.min() == pytest.approx(0.0, abs=1e-9) and tensions.max() <= 6.0


def test_a_larger_bend_shortens_the_tendon_it_pulls():
    lengths = []
    for size in (0.0, 0.25, 0.5, 0.75, 1.0):
        env = make("ArmBend", tendon_action="bend", horizon=30.0)
        fly(env, [], [size, 0.0], 3.0)
        rows = []
        for _ in range(200):
            env.step(np.array([size, 0.0]))
            rows.append(env.core.engine.motion.tendon_length[0].copy())
        lengths.append(np.mean(rows, axis=0))
    change = np.diff(lengths, axis=0)
    assert (change[:, 0] < -1e-3).all() and (change[:, 1:] > 1e-4).all()


def test_reference_tendons_apply_the_bend_of_the_reference():
    env = make(
        "Track", tendon_action="reference", rotor_action="residual", reference="rotating_bend"
    )
    rows = fly(env, [0.0] * 4, [], 5.0)
    asked = rows["bend"] + rows["bend_error"]
    assert np.hypot(*asked.T).max() == pytest.approx(1.0)
    # set at the beginning of the last physics step, so up to 2 ms old: at most one ramp's slope
    assert np.abs(rows["bend_error"]).max() < 0.004


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_body_rates_are_reached(axis, sign):
    env = make(rotor_action="body_rate", limits={"tilt": 3.1, "distance": 20.0})
    rates = np.zeros(3)
    rates[axis] = sign * (0.2 if axis < 2 else 0.5)
    rows = fly(env, [0.0, *rates], SLACK, 0.6)
    asked = rates * [6.0, 6.0, 3.0]
    mean = rows["angular_velocity"][-15:].mean(axis=0)
    assert mean[axis] == pytest.approx(asked[axis], rel=0.15)
    assert np.abs(np.delete(mean, axis)).max() < 0.1


@pytest.mark.parametrize("scale", [[6.0, 6.0, 3.0], [3.0, 6.0, 3.0]])
def test_body_rate_scales_are_those_of_the_settings(scale):
    env = make(rotor_action="body_rate", action={"body_rate": scale})
    env.step(np.array([0.25, 0.5, -0.5, 1.0, *SLACK]))
    command = env.core.interface.command[0, :4]
    weight = 9.81 * 1.26
    np.testing.assert_allclose(command[0], weight + 0.25 * (32.0 - weight), rtol=1e-9)
    np.testing.assert_allclose(command[1:], [0.5 * scale[0], -0.5 * scale[1], scale[2]])


def euler(rotation):
    """Return roll, pitch, yaw of Rz(yaw) Ry(pitch) Rx(roll), rad, (n, 3)."""
    roll = np.arctan2(rotation[:, 2, 1], rotation[:, 2, 2])
    yaw = np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])
    return np.stack([roll, np.arcsin(-rotation[:, 2, 0]), yaw], axis=1)


@pytest.mark.parametrize("roll, pitch", [(0.3, 0.0), (0.0, 0.3), (-0.2, 0.25)])
@pytest.mark.parametrize("yaw", [0.0, 1.2])
def test_attitudes_are_reached(roll, pitch, yaw):
    hover = {"name": "hover", "yaw": yaw}
    env = make(rotor_action="attitude", reference=hover, limits={"distance": 30.0})
    rows = fly(env, [0.05, roll, pitch, 0.0], SLACK, 1.5)
    asked = np.array([roll * np.radians(35.0), pitch * np.radians(35.0), yaw])
    # the arm swings and pulls at the base: the attitude is reached on average
    np.testing.assert_allclose(euler(rows["rotation"])[-60:].mean(axis=0), asked, atol=0.03)


@pytest.mark.parametrize("rotor_action", ["attitude", "acceleration"])
@pytest.mark.parametrize("rate", [-0.5, 0.25])
def test_yaw_rates_turn_the_heading(rotor_action, rate):
    env = make(rotor_action=rotor_action, limits={"distance": 10.0})
    rows = fly(env, [0.0, 0.0, 0.0, rate], SLACK, 2.0)
    yaw = np.unwrap(euler(rows["rotation"])[:, 2])
    np.testing.assert_allclose(yaw[-1] - yaw[99], 2.0 * rate * 1.0, atol=0.03)
    assert np.abs(rows["angular_velocity"][-1] - [0, 0, 2.0 * rate]).max() < 0.05


@pytest.mark.parametrize("asked", [[0.2, 0.0, 0.0], [0.0, -0.2, 0.1], [0.1, 0.1, -0.1]])
@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_accelerations_are_those_of_the_world(asked, yaw):
    """Whatever the heading is; the arm's swing averages out over a second."""
    hover = {"name": "hover", "yaw": yaw, "position": [0, 0, 3.0]}
    env = make(rotor_action="acceleration", reference=hover, limits={"distance": 20.0})
    rows = fly(env, [*asked, 0.0], SLACK, 2.2)
    gain = (rows["velocity"][-1] - rows["velocity"][-120]) / (119 * 0.01)
    np.testing.assert_allclose(gain, 6.0 * np.array(asked), atol=0.25)


def test_the_residual_alone_is_the_tracking_law():
    env = make("Track", rotor_action="residual", tendon_action="reference")
    rows = fly(env, [0.0] * 4, [], 8.0)
    assert np.linalg.norm(rows["position_error"][200:], axis=1).max() < 0.01


@pytest.mark.parametrize("axis, sign", [(0, 1.0), (1, -1.0), (2, 1.0)])
def test_a_residual_acceleration_is_held_by_the_position_loop(axis, sign):
    """At rest Kp e + Ki int e + a = 0: the vehicle goes where it is pushed, by a / Kp at most."""
    env = make(rotor_action="residual")
    push = np.zeros(4)
    push[axis] = 0.25 * sign
    rows = fly(env, push, SLACK, 3.0)
    moved = -rows["position_error"]
    kp = (6.0, 6.0, 10.0)[axis]
    furthest = (sign * moved[:, axis]).max()
    # on the way: the spring alone would stop at a / Kp, the integral pulls back, the swing adds
    assert 0.6 * 0.25 * 4.0 / kp < furthest < 1.25 * 0.25 * 4.0 / kp
    assert np.abs(np.delete(moved, axis, axis=1)).max() < 0.02


def test_the_law_and_gains_of_the_loops_can_be_chosen():
    flown = {}
    for law in ("paper", "full"):
        env = make("Track", rotor_action="residual", tendon_action="reference", action={"law": law})
        rows = fly(env, [0.0] * 4, [], 6.0)
        flown[law] = np.linalg.norm(rows["position_error"][200:], axis=1).mean()
    assert flown["full"] < 0.3 * flown["paper"]
    soft = {"gains": {"kp": [1, 1, 2], "ki": [0, 0, 0]}}
    hard = fly(make(rotor_action="residual"), [0.25, 0, 0, 0], SLACK, 2.0)
    loose = fly(make(rotor_action="residual", action=soft), [0.25, 0, 0, 0], SLACK, 2.0)
    assert -loose["position_error"][-1, 0] > 2.0 * -hard["position_error"][-1, 0]


def test_inner_loops_run_at_every_physics_step_whatever_the_control_frequency():
    """With the same command throughout, how often it is given makes no difference."""
    ends = []
    for frequency in (500.0, 100.0, 20.0):
        env = make(rotor_action="attitude", control_frequency=frequency)
        ends.append(fly(env, [0.1, 0.2, -0.1, 0.3], SLACK, 0.8)[-1])
    for other in ends[1:]:
        assert np.array_equal(other["position"], ends[0]["position"])
        assert np.array_equal(other["rotation"], ends[0]["rotation"])


@pytest.mark.parametrize(
    "values",
    [
        {"body_rate": [1, 2]},
        {"body_rate": [1, 2, -3]},
        {"acceleration": [0, 0, float("nan")]},
        {"tilt": 0.0},
        {"tilt": 2.0},
        {"yaw_rate": -1.0},
        {"law": "half"},
        {"gains": {"kp": [1, 1, -1]}},
        {"gians": {}},
    ],
)
def test_scales_that_make_no_sense_raise(values):
    with pytest.raises(ValueError, match=next(iter(values))):
        make(action=values)


@pytest.mark.parametrize("n_tendons", [4, 5])
def test_tension_actions_follow_the_number_of_tendons(n_tendons):
    env = make("ArmBend", model={"tendons": {"n_tendons": n_tendons, "tension_max": 4.0}})
    assert env.action_space.shape == (n_tendons,)
    *_, info = env.step(np.linspace(-1.0, 1.0, n_tendons))
    np.testing.assert_allclose(info["tensions"], np.linspace(0.0, 4.0, n_tendons))

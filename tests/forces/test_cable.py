"""The force term of a cable: what it does, remembers, survives and looks like, on both engines."""

from __future__ import annotations

import json
import math

import gymnasium as gym
import mujoco
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tendon_gym import engines, forces
from tendon_gym.cables import (
    CablePulls,
    CableSpan,
    CableSystem,
    ConstantTension,
    Cylinder,
    Winch,
    mujoco_bodies,
)
from tendon_gym.model import ModelParameters, build_model
from tendon_gym.registration import ENTRIES

HOVER = ENTRIES["Hover"].id
ENGINES = ("mujoco", "compiled")

BEAM = {
    "kind": "cylinder", "size": [0.1], "position": [0.3, 0.0, 2.0], "quaternion": [1, 1, 0, 0],
    "hint": [0.0, 0.1, 0.0], "friction": 0.2,
}  # fmt: skip
HOIST = {
    "origin": {"body": "world", "station": [0.6, 0.0, 1.4]},
    "termination": {"body": "base", "station": [0.0, 0.02, 0.03]},
    "drive": {
        "rest_length": 1.3, "stiffness": 20.0, "damping": 0.5, "speed": 0.5, "target": 1.0,
    },
    "path": [BEAM],
}  # fmt: skip
CEILING = {
    "origin": {"body": "world", "station": [0.0, 0.0, 3.0]},
    "termination": {"body": "base", "station": [0.0, 0.02, 0.03]},
    "drive": {"tension": 2.0},
}


def term_of(env):
    """Return the cable's term of an environment."""
    return env.unwrapped.core.engine.pushes.terms[0]


def scalar(engine, cable=HOIST, **settings):
    return gym.make(HOVER, engine=engine, forces={"cable": cable}, **settings).unwrapped


def vector(engine, n, cable=HOIST, **settings):
    made = gym.make_vec(HOVER, num_envs=n, engine=engine, forces={"cable": cable}, **settings)
    return made.unwrapped


@pytest.mark.parametrize(("kind", "rounding"), [("mujoco", 1e-13), ("compiled", 1e-11)])
def test_a_term_does_what_the_cable_does_to_an_mjdata(kind, rounding):
    """One simulation of MuJoCo's own with the toolkit's cable, by forces on coordinates."""
    model = build_model(ModelParameters())
    engine = engines.make(kind, model, 1, [forces.make("cable", model, 1, HOIST)])
    start = model.qpos0.copy()
    start[:3] = 0.0, 0.1, 1.2
    engine.reset(np.arange(1), start[None], np.zeros((1, model.nv)))
    engine.ctrl[:, :4] = 3.0
    system = CableSystem(model)
    cable = CableSpan(system, "world", (0.6, 0.0, 1.4), "base", (0.0, 0.02, 0.03))
    pose = (*BEAM["position"], *BEAM["quaternion"])
    cable.add_obstacle("world", pose, Cylinder(0.1), BEAM["hint"])
    state = system.new_state()
    drive = Winch(1.3, 20.0, 0.5, speed=0.5, target=1.0)
    pulls = CablePulls(state, [drive], [0.2])
    data = mujoco.MjData(model)
    data.qpos = start
    for _ in range(100):
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco_bodies.read_bodies(state, model, data)
        wanted = np.zeros((1, model.nbody, 6))
        pulls.add_forces(wanted, model.opt.timestep)
        data.qfrc_applied = mujoco_bodies.generalised_forces(wanted[0], model, data)
        data.ctrl[:4] = 3.0
        mujoco.mj_step(model, data)
    engine.step(100)
    assert pulls.tension() > 1.0 and cable.in_contact(state, 0)
    np.testing.assert_allclose(engine.qpos[0], data.qpos, rtol=0, atol=rounding)


def test_both_ways_to_push_an_mjdata_are_the_same():
    model = build_model(ModelParameters())
    data = mujoco.MjData(model)
    data.qpos[2], data.qvel[:] = 1.0, np.linspace(-0.3, 0.3, model.nv)
    mujoco.mj_forward(model, data)
    system = CableSystem(model)
    CableSpan(system, "world", (0.6, 0.0, 1.4), "link_3", (0.1, 0.02, 0.03))
    state = system.new_state()
    mujoco_bodies.read_bodies(state, model, data)
    wanted = np.zeros((1, model.nbody, 6))
    CablePulls(state, [ConstantTension(2.0)]).add_forces(wanted)
    mujoco_bodies.apply_body_forces(wanted[0], model, data)
    other = np.zeros(model.nv)
    for body in range(1, model.nbody):
        wrench = data.xfrc_applied[body]
        mujoco.mj_applyFT(model, data, wrench[:3], wrench[3:], data.xipos[body], body, other)
    given = mujoco_bodies.generalised_forces(wanted[0], model, data)
    np.testing.assert_allclose(given, other, atol=1e-13)
    assert np.abs(given).max() > 1.0


@pytest.mark.parametrize("engine", ENGINES)
def test_an_elastic_cable_to_the_ceiling_makes_the_vehicle_bounce_with_its_energy(engine):
    """The energy of a vehicle in free fall that the cable catches stays the same."""
    model = build_model(ModelParameters())
    model.opt.timestep = 1e-4
    model.opt.gravity[2], model.opt.density, model.opt.viscosity = -9.81, 0.0, 0.0
    values = {**CEILING, "drive": {"rest_length": 1.9, "stiffness": 200.0}}
    values["termination"] = {"body": "base"}
    term = forces.make("cable", model, 1, values)
    run = engines.make(engine, model, 1, [term])
    start = model.qpos0.copy()
    start[:3] = 0.0, 0.0, 1.0
    run.reset(np.arange(1), start[None], np.zeros((1, model.nv)))
    before = 0.5 * 200.0 * 0.1**2
    heights = []
    for _ in range(60):
        run.step(20)
        data = run.data(0)
        mujoco.mj_energyPos(model, data)
        mujoco.mj_energyVel(model, data)
        heights.append(data.qpos[2])
    stretch = max(0.0, 3.0 - data.qpos[2] - 1.9)
    last = data.energy.sum() + 0.5 * 200.0 * stretch**2
    assert np.ptp(heights) > 0.02
    fresh = mujoco.MjData(model)
    fresh.qpos = start
    mujoco.mj_forward(model, fresh)
    mujoco.mj_energyPos(model, fresh)
    first = fresh.energy[0] + before
    assert last == pytest.approx(first, abs=0.02 * before + 1e-3)


@pytest.mark.parametrize("engine", ENGINES)
def test_ten_thousand_steps_with_resets_and_saved_states(engine):
    """All that is seen is finite; a replay, and each simulation alone, give the same bits."""
    n, rng = 64, np.random.default_rng(1)
    env = vector(engine, n, horizon=1.0)
    env.reset(seed=7)
    ends = touched = 0
    saved = None
    for k in range(160):
        action = rng.uniform(-1.0, 1.0, (n, 7)).astype(np.float32)
        if k == 70:
            saved, actions, seen = env.get_state(), [], []
        observation, reward, ended, cut, _ = env.step(action)
        assert np.isfinite(observation).all() and np.isfinite(reward).all()
        ends += int(ended.sum() + cut.sum())
        touched += int(term_of(env).span.in_contact(term_of(env).paths, 0).sum())
        if saved is not None and len(seen) < 50:
            actions.append(action)
            seen.append([value.copy() for value in (observation, reward, ended, cut)])
    assert ends > 100 and touched > 5000
    env.set_state(saved)
    for action, wanted in zip(actions, seen, strict=True):
        for value, other in zip(env.step(action), wanted, strict=False):
            assert np.array_equal(value, other)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_simulation_among_many_is_as_alone(engine):
    n, rng = 3, np.random.default_rng(2)
    many, alone = vector(engine, n, autoreset_mode="Disabled"), scalar(engine)
    actions = rng.uniform(-0.3, 0.3, (25, n, 7)).astype(np.float32)
    many.reset(seed=[4, 5, 6])
    seen = [many.step(action)[0] for action in actions]
    for i in range(n):
        alone.reset(seed=4 + i)
        for action, wanted in zip(actions, seen, strict=True):
            assert np.array_equal(alone.step(action[i])[0], wanted[i])
        assert np.array_equal(term_of(alone).state[0], term_of(many).state[i])


@pytest.mark.parametrize("engine", ENGINES)
def test_an_end_inside_an_obstacle_ends_that_episode_alone(engine):
    """A ball is put around where simulation 1 is; the others go on."""
    env = vector(engine, 3, CEILING | {"path": [{"kind": "sphere", "size": [0.3],
                 "position": [0.0, 0.0, 9.0]}]}, autoreset_mode="Disabled")  # fmt: skip
    env.reset(seed=0)
    for _ in range(3):
        env.step(np.zeros((3, 7)))
    core, term = env.core, term_of(env)
    before = core.engine.qpos[1].copy(), term.span.length(term.paths)[1]
    pose = (*core.engine.qpos[1, :3], 1.0, 0.0, 0.0, 0.0)
    assert not term.failed.any()
    term.paths.set_obstacle(1, 0, 0, pose=pose)
    observation, reward, ended, _, infos = env.step(np.zeros((3, 7)))
    assert ended.tolist() == [False, True, False]
    assert infos["sim_unstable"].tolist() == [False, True, False]
    assert np.isfinite(observation).all() and np.isfinite(reward).all()
    assert term.failed.tolist() == [False, True, False]
    assert np.array_equal(core.engine.qpos[1], before[0])
    other = vector(engine, 3, CEILING, autoreset_mode="Disabled")
    other.reset(seed=0)
    for _ in range(4):
        wanted = other.step(np.zeros((3, 7)))[0]
    np.testing.assert_allclose(observation[[0, 2]], wanted[[0, 2]], atol=1e-6)
    term.paths.set_obstacle(1, 0, 0, pose=(0.0, 0.0, 9.0, 1.0, 0.0, 0.0, 0.0))
    env.reset(seed=0, options={"reset_mask": np.array([False, True, False])})
    assert not env.step(np.zeros((3, 7)))[2].any()


def test_a_cable_pulls_at_its_place_whatever_the_centre_of_mass_is():
    """A pull through the origin of the base turns it only as its centre of mass is off it."""
    model = build_model(ModelParameters())
    values = CEILING | {"termination": {"body": "base"}}
    term = forces.make("cable", model, 2, values)
    engine = engines.make("mujoco", model, 2, [term])
    base = model.body("base").id
    offset = model.body_ipos.copy()
    offset[base] += (0.1, 0.0, 0.0)
    engine.set_model_fields(np.array([1]), {"body_ipos": offset[None]})
    start = np.tile(model.qpos0, (2, 1))
    start[:, 2] = 1.0
    engine.reset(np.arange(2), start, np.zeros((2, model.nv)))
    engine.step(1)
    wrench = engine.pushes.push.wrench[:, base]
    np.testing.assert_allclose(wrench[:, 2], 2.0, rtol=1e-9)
    np.testing.assert_allclose(wrench[1, 4] - wrench[0, 4], 2.0 * 0.1, rtol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_commands_are_remembered_and_forgotten_at_a_reset(engine):
    env = scalar(engine)
    env.reset(seed=0)
    term_of(env).pulls.command(0, 2.0)
    assert term_of(env).span.length(term_of(env).paths)[0] == 0.0  # reading solves nothing
    state = env.get_state()
    wanted = [env.step(np.zeros(7))[0] for _ in range(20)]
    env.reset(seed=1)
    env.set_state(state)
    assert np.array_equal([env.step(np.zeros(7))[0] for _ in range(20)], wanted)
    assert term_of(env).pulls.load("rest_length")[0] == pytest.approx(1.3 + 0.5 * 20 * 0.01)
    env.reset(seed=0)
    assert not np.array_equal([env.step(np.zeros(7))[0] for _ in range(20)], wanted)


def readings(env, i=0):
    """Return what is read of the cable of one simulation."""
    pulls = term_of(env).pulls
    loads = [pulls.load(name)[i] for name in ("tension", "rest_length", "stretch", "energy")]
    return np.array([*loads, *pulls.tensions(0, 0)[i], pulls.angle(0, 0)[i]])


@pytest.mark.parametrize("engine", ENGINES)
def test_readings_are_those_of_the_restored_state_and_none_after_a_reset(engine):
    env = scalar(engine)
    env.reset(seed=0)
    for _ in range(3):
        env.step(np.zeros(7))
    saved, then = env.get_state(), readings(env)
    for _ in range(5):
        env.step(np.zeros(7))
    assert then[1] > 0.0 and (readings(env) != then).any()
    env.set_state(saved)
    np.testing.assert_array_equal(readings(env), then)
    env.reset(seed=1)
    assert not readings(env).any()


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_rows_that_begin_anew_report_nothing_of_the_last_episode(mode):
    envs = vector("compiled", 2, autoreset_mode=mode, max_episode_steps=4)
    envs.reset(seed=0)
    for _ in range(2):
        envs.step(np.zeros((2, 7)))
    late = {"reset_mask": np.array([False, True])}
    envs.reset(options=late)
    assert readings(envs, 0).any() and not readings(envs, 1).any()
    for _ in range(2):
        _, _, _, truncated, _ = envs.step(np.zeros((2, 7)))
    assert truncated.tolist() == [True, False]
    if mode is AutoresetMode.NEXT_STEP:
        assert readings(envs, 0).any()
        envs.step(np.zeros((2, 7)))
    if mode is AutoresetMode.DISABLED:
        envs.reset(options={"reset_mask": truncated})
    assert not readings(envs, 0).any() and readings(envs, 1).any()


def test_a_cable_is_a_setting_of_plain_values():
    settings = json.loads(json.dumps({"cable": HOIST}))
    env = gym.make(HOVER, forces=settings)
    assert gym.spec(HOVER) is not None and env.spec.to_json()
    path = [BEAM, {"body": "link_2", "station": [0.0, 0.0, 0.1]}]
    span = term_of(gym.make(HOVER, forces={"cable": HOIST | {"path": path}})).span
    assert (span.num_obstacles, span.num_via_points) == (1, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"origin": {"body": "tower"}}, "cable.origin.body must be one of .*'base'.*got 'tower'"),
        ({"path": [BEAM, BEAM | {"body": "tower"}]}, r"forces.cable.path\[1\].body must be one"),
        ({"drive": {"tension": -1.0}}, "tension must be"),
        ({"drive": {"tension": 1e5}}, "force must be at most"),
        ({"drive": {"stiffness": 1.0}}, "rest_length is required"),
        ({"path": [BEAM | {"size": [0.1, 0.2]}]}, "size must have shape"),
        ({"path": [BEAM | {"size": [-0.1]}]}, "radius must be"),
        ({"path": [BEAM | {"kind": "box"}]}, "kind must be one of"),
        (
            {"path": [BEAM, BEAM | {"quaternion": [0, 0, 0, 0]}]},
            r"path\[1\]: quaternion must",
        ),
        ({"path": [BEAM, BEAM, BEAM | {"friction": -1.0}]}, r"cable.path\[2\]: friction must be"),
        ({"path": [BEAM | {"position": [0, math.inf, 0]}]}, r"path\[0\].position\[1\] must be"),
        ({"width": 0.0}, "width must be"),
        ({"rgba": [0, 0, 0, 2]}, "rgba"),
        ({"grip_stiffness": 0.0}, "grip_stiffness must be"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    model = build_model(ModelParameters())
    with pytest.raises(ValueError, match=message):
        forces.make("cable", model, 1, HOIST | changes)


def magenta(picture):
    """Return how many pixels are like nothing in the model."""
    red, green, blue = np.moveaxis(picture.astype(int), -1, 0)
    return int(((red - green > 80) & (blue - green > 80)).sum())


@pytest.mark.parametrize("engine", ENGINES)
def test_looking_at_a_cable_changes_pictures_and_no_trajectory(engine):
    def pictures(cable, watch):
        env = scalar(engine, cable, render_mode="rgb_array", width=120, height=90)
        env.reset(seed=0)
        seen = []
        for _ in range(8):
            observation = env.step(np.zeros(7))[0]
            seen += [env.render()] if watch else []
        env.close()
        return observation, seen

    wide = CEILING | {"width": 0.1, "rgba": [1, 0, 1, 1]}
    watched, shown = pictures(wide, True)
    unwatched, _ = pictures(wide, False)
    assert np.array_equal(watched, unwatched)
    hidden = pictures(wide | {"rgba": [1, 0, 1, 0]}, True)[1][-1]
    assert magenta(shown[-1]) > 20 and magenta(hidden) == 0

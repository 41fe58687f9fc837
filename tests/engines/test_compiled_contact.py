"""Flights of the compiled engine that touch something, compared whole with the MuJoCo engine."""

from __future__ import annotations

import copy

import mujoco
import numpy as np
import pytest

from tendon_gym import engines
from tendon_gym.forces import ExternalWrench, ExternalWrenchTerm
from tendon_gym.model import Arm, Layout
from tests.engines.contact_scenes import HOVER, SCENES, Scene, held, vehicle

POSITION, VELOCITY = 1e-7, 1e-5
"""The two engines meet a contact with states that differ by 1e-13 and with another warm start of
MuJoCo's solver, whose own tolerance is 1e-8."""


@pytest.fixture(scope="module", params=SCENES)
def scene(request) -> Scene:
    return SCENES[request.param]()


@pytest.fixture(scope="module")
def crash() -> Scene:
    return SCENES["crash and take-off"]()


def aloft(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """Return a state of the same model that never touches anything."""
    qpos, qvel = scene.model.qpos0.copy(), np.zeros(scene.model.nv)
    if Layout.of(scene.model).free:
        qpos[1:3] = 30.0, 60.0
    qpos[-6:], qvel[-6:] = 0.05, 0.3
    return qpos, qvel


def make(name, scene, touching=(0,), n=1, terms=(), threads=1) -> engines.Engine:
    """Return an engine whose simulations `touching` fly the scene, all others aloft."""
    engine = engines.make(name, scene.model, n, terms, threads)
    qpos, qvel = (np.tile(each, (n, 1)) for each in aloft(scene))
    for i in touching:
        qpos[i], qvel[i] = scene.qpos, scene.qvel
    engine.reset(np.arange(n), qpos, qvel)
    return engine


def run(engine, scene, substeps=1, law=None) -> tuple[np.ndarray, np.ndarray]:
    """Return qpos and qvel after every control step, (steps, n, .)."""
    qpos, qvel = [], []
    for k in range(0, scene.steps - scene.steps % substeps, substeps):
        engine.ctrl[...] = scene.controls(k)
        engine.step(substeps, law)
        assert not engine.unstable.any()
        qpos.append(engine.qpos.copy())
        qvel.append(engine.qvel.copy())
    return np.array(qpos), np.array(qvel)


def meetings(model: mujoco.MjModel, qpos: np.ndarray) -> tuple[np.ndarray, set[tuple[str, str]]]:
    """Return whether there are contacts after every step, and the names of what met."""
    data, touched, met = mujoco.MjData(model), [], set()
    for row in qpos:
        data.qpos = row
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        touched.append(data.ncon > 0)
        for contact in data.contact:
            met.add((model.geom(contact.geom1).name, model.geom(contact.geom2).name))
    return np.array(touched), met


def assert_close(flown, expected) -> None:
    np.testing.assert_allclose(flown[0], expected[0], rtol=0, atol=POSITION)
    np.testing.assert_allclose(flown[1], expected[1], rtol=0, atol=VELOCITY)


@pytest.mark.parametrize("substeps", [1, 10])
def test_a_flight_with_contacts_is_the_one_of_mujoco(scene, substeps):
    flown = run(make("compiled", scene), scene, substeps)
    assert_close(flown, run(make("mujoco", scene), scene, substeps))


def test_the_scenes_are_what_they_say(scene):
    touched, met = meetings(scene.model, run(make("mujoco", scene), scene)[0][:, 0])
    assert touched.any()
    assert not touched[0]
    assert any(all(any(part in g for g in pair) for part in scene.meets) for pair in met), met
    assert touched[-1] == (scene.free_from is None)
    assert not touched[scene.free_from :].any() or scene.free_from is None


def test_other_simulations_do_not_notice(scene):
    """Lanes of every place beside, before and after the one that touches, and on threads."""
    n, touching = 6, (1, 4)
    alone = run(make("compiled", scene, (), n), scene, 5)
    single = run(make("compiled", scene), scene, 5)
    for threads in (1, 2):
        flown = run(make("compiled", scene, touching, n, threads=threads), scene, 5)
        others = [0, 2, 3, 5]
        for ours, theirs, one in zip(flown, alone, single, strict=True):
            assert np.array_equal(ours[:, others], theirs[:, others])
            assert np.array_equal(ours[:, touching], np.repeat(one, 2, axis=1))


def test_all_simulations_may_touch_at_once(scene):
    single = run(make("compiled", scene), scene, 5)
    flown = run(make("compiled", scene, range(5), 5, threads=2), scene, 5)
    for ours, one in zip(flown, single, strict=True):
        assert np.array_equal(ours, np.repeat(one, 5, axis=1))


def blind(model: mujoco.MjModel) -> mujoco.MjModel:
    """Return the model with nothing that could touch."""
    other = copy.copy(model)
    other.geom_contype[:], other.geom_conaffinity[:] = 0, 0
    return other


def comes_back(name: str) -> bool:
    """Say whether a flight ends free, with geoms whose contacts begin where they touch."""
    scene = SCENES[name]()
    return scene.free_from is not None and not scene.model.geom_margin.any()


@pytest.mark.parametrize("name", [name for name in SCENES if comes_back(name)])
def test_after_a_contact_the_engine_flies_by_itself_again(name):
    """Its bits are then those of an engine that knows of no contact at all."""
    scene = SCENES[name]()
    qpos, qvel = run(make("compiled", scene), scene)
    engine = engines.make("compiled", blind(scene.model), 1)
    engine.reset(np.zeros(1, np.int64), qpos[scene.free_from], qvel[scene.free_from])
    for k in range(scene.free_from + 1, scene.steps):
        engine.ctrl[...] = scene.controls(k)
        engine.step(1)
        assert np.array_equal(engine.qpos, qpos[k])
        assert np.array_equal(engine.qvel, qvel[k])


@pytest.mark.parametrize("base", ["free", "clamped"])
@pytest.mark.parametrize("links", [1, 12, 48])
def test_flying_as_usual_is_no_contact(base, links):
    """An arm that swings and bends below the frame never calls MuJoCo: same bits without geoms."""
    model = vehicle(arm=Arm(n_links=links), base=base)
    layout, rows = Layout.of(model), []
    for each in (model, blind(model)):
        engine = engines.make("compiled", each, 1)
        qpos, qvel = model.qpos0[None].copy(), np.zeros((1, model.nv))
        qpos[:, layout.joint_qpos] = 0.5 / links
        engine.reset(np.zeros(1, np.int64), qpos, qvel)
        engine.ctrl[0] = held(HOVER, model)
        engine.ctrl[0, -3] = 0.5
        engine.step(500)
        assert not engine.unstable.any()
        rows.append(np.concatenate([engine.qpos[0], engine.qvel[0]]))
    assert np.array_equal(*rows)
    assert np.abs(rows[0][-2 * links :]).max() > 1e-3


class Pushed:
    """A control law in Python that follows time and state."""

    def __call__(self, time, qpos, qvel, ctrl):
        for i in range(len(ctrl)):
            ctrl[i] = held(1.0, self.model)
            ctrl[i, -1] = 0.3 + 0.2 * np.sin(20.0 * time[i]) + 0.01 * qvel[i, -1]

    def __init__(self, model):
        self.model = model


@pytest.mark.parametrize("n", [1, 5])
def test_laws_and_forces_go_on_in_contact(crash, n):
    push = ExternalWrench("link_12", (0.4, -0.2, 0.1), (0.0, 0.01, 0.0), start=0.2, duration=0.5)
    rows = []
    for name in ("compiled", "mujoco"):
        terms = [ExternalWrenchTerm(crash.model, n, push)]
        engine = make(name, crash, (n // 2,), n, terms)
        rows.append(run(engine, crash, 10, Pushed(crash.model)))
        assert engine.time == pytest.approx(np.full(n, 1.2), abs=1e-12)
    assert_close(*rows)
    unpushed = run(make("mujoco", crash, (n // 2,), n), crash, 10, Pushed(crash.model))
    assert np.abs(rows[1][0] - unpushed[0]).max() > 1e-3


@pytest.mark.parametrize("n", [1, 4])
def test_a_state_may_be_put_into_a_contact_and_out_of_it(crash, n):
    """By a reset, and by writing to qpos between steps."""
    rows, ids = [], np.array([n - 1])
    low = crash.model.qpos0[None].copy()
    low[0, 2] = 0.52
    for name in ("compiled", "mujoco"):
        engine = make(name, crash, (), n)
        looks = []
        for k in range(60):
            if k == 10:
                engine.reset(ids, low, np.zeros((1, crash.model.nv)))
            if k == 20:
                engine.qpos[ids, 2] += 2.0
            if k == 30:
                engine.qpos[ids] = low
            if k == 40:
                engine.reset(ids, low + np.eye(1, crash.model.nq, 2), np.zeros((1, crash.model.nv)))
            engine.step(2)
            assert not engine.unstable.any()
            looks.append((engine.qpos.copy(), engine.qvel.copy()))
        rows.append([np.array(each) for each in zip(*looks, strict=True)])
    assert_close(*rows)


@pytest.mark.parametrize("n", [1, 4])
def test_what_is_seen_in_contact_is_the_present_state(crash, n):
    seen, unseen = (make("compiled", crash, (0,), n) for _ in range(2))
    touched = 0
    for k in range(0, 300, 10):
        for engine in (seen, unseen):
            engine.ctrl[...] = crash.controls(k)
            engine.step(10)
        data = seen.data(0)
        touched += data.ncon > 0
        assert np.array_equal(data.qpos, seen.qpos[0])
        np.testing.assert_allclose(seen.motion.site_position[0], data.site_xpos, atol=1e-12)
        np.testing.assert_allclose(seen.motion.tendon_length[0], data.ten_length, atol=1e-12)
    assert touched > 3
    assert np.array_equal(seen.qpos, unseen.qpos)
    assert np.array_equal(seen.qvel, unseen.qvel)


@pytest.mark.parametrize("name", ["compiled", "mujoco"])
@pytest.mark.parametrize("n", [1, 4])
def test_a_replay_from_a_state_in_contact_is_bit_exact(crash, n, name):
    """In the same engine, and in one that has never flown before; before, in and after contact."""
    engine = make(name, crash, (0,), n)
    saved, seen = [], []
    for k in range(0, 600, 10):
        saved.append(engine.get_state())
        engine.ctrl[...] = crash.controls(k)
        engine.step(10)
        seen.append(np.column_stack([engine.time, engine.qpos, engine.qvel]))
    for other in (engine, engines.make(name, crash.model, n)):
        for first in (3, 14, 25, 40):
            other.set_state(np.arange(n), saved[first])
            for k in range(first, min(first + 20, 60)):
                other.ctrl[...] = crash.controls(10 * k)
                other.step(10)
                now = np.column_stack([other.time, other.qpos, other.qvel])
                assert np.array_equal(now, seen[k])


@pytest.mark.parametrize("n", [1, 4])
def test_a_fault_in_contact_ends_one_simulation(crash, n):
    spoilt, sound = (make("compiled", crash, (0, n - 1), n) for _ in range(2))
    for k in range(0, 160, 10):
        for engine in (spoilt, sound):
            engine.ctrl[...] = crash.controls(k)
            engine.step(10)
    good = spoilt.qpos[0].copy()
    spoilt.qvel[0, 3] = np.nan
    for engine in (spoilt, sound):
        engine.step(10)
    assert np.array_equal(spoilt.unstable, np.arange(n) == 0)
    assert np.array_equal(spoilt.qpos[0], good)
    assert np.array_equal(spoilt.qpos[1:], sound.qpos[1:])
    for engine in (spoilt, sound):
        engine.reset(np.zeros(1, np.int64), crash.qpos[None], crash.qvel[None])
        engine.step(200)
        assert not engine.unstable.any()
    assert np.array_equal(spoilt.qpos, sound.qpos)
    assert np.array_equal(spoilt.qvel, sound.qvel)


def scarce_model() -> mujoco.MjModel:
    """Return a model with so little memory that MuJoCo gives up on the floor, not in the air."""
    for memory in range(1 << 15, 1 << 17, 1 << 12):

        def edit(spec: mujoco.MjSpec, memory: int = memory) -> None:
            spec.memory = memory

        model = vehicle(edit)
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data)
        data.qpos[2] = 0.05
        try:
            mujoco.mj_step(model, data)
        except mujoco.FatalError:
            return model
    raise AssertionError("no size of memory makes MuJoCo give up")


@pytest.mark.parametrize("n", [1, 3])
def test_an_error_of_mujoco_ends_one_episode_not_the_process(n):
    model = scarce_model()
    qpos, qvel = np.tile(model.qpos0, (n, 1)), np.zeros((n, model.nv))
    engine, sound = (engines.make("compiled", model, n) for _ in range(2))
    for each in (engine, sound):
        each.reset(np.arange(n), qpos, qvel)
        each.step(5)
    good = engine.qpos[0].copy()
    engine.qpos[0, 2] = 0.05
    engine.step(5)
    sound.step(5)
    assert np.array_equal(engine.unstable, np.arange(n) == 0)
    assert np.array_equal(engine.qpos[0], good)
    assert np.array_equal(engine.qpos[1:], sound.qpos[1:])
    engine.reset(np.zeros(1, np.int64), qpos[:1], qvel[:1])
    for _ in range(2):
        engine.step(5)
        assert not engine.unstable.any()
    assert np.array_equal(engine.qpos[0], sound.qpos[0])

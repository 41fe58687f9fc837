"""One simulation alone, many in lanes and threads: the same bits, and no fault crosses a lane."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym import engines
from tendon_gym.forces import ExternalWrench, ExternalWrenchTerm
from tendon_gym.model import Arm, ModelParameters, Tendons
from tests.engines.flights import (
    MOST,
    STEPS,
    SUBSTEPS,
    Swinging,
    controls,
    starts,
    state,
    uneven,
)

LANES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 64]
SHAPES = {
    "free": ModelParameters(),
    "clamped": ModelParameters(base="clamped"),
    "one link": ModelParameters(arm=Arm(n_links=1), tendons=Tendons(n_tendons=5)),
    "thirty links": ModelParameters(arm=Arm(n_links=30)),
}


@pytest.fixture(scope="module", params=SHAPES)
def model(request) -> mujoco.MjModel:
    return uneven(SHAPES[request.param])


@pytest.fixture(scope="module")
def vehicle() -> mujoco.MjModel:
    return uneven(SHAPES["free"])


def push(i: int) -> ExternalWrench:
    """Return the push of simulation i of MOST, another one for each."""
    return ExternalWrench("base", (0.1 * i, 0.2, 0.0), (0.0, 1e-3 * i, 0.0), start=0.03)


def flight(model, n, threads, *, law=None, pushed=False, start=0) -> np.ndarray:
    """Return the states after every control step of simulations start..start+n-1 of MOST."""
    terms = [ExternalWrenchTerm(model, n, push(0))] if pushed else []
    engine = engines.make("compiled", model, n, terms, threads)
    qpos, qvel = starts(model, start + n)
    engine.reset(np.arange(n), qpos[start:], qvel[start:])
    for term in terms:
        for i in range(n):
            term.set(i, push(start + i))
    rows = []
    for ctrl in controls(model, start + n):
        engine.ctrl[...] = ctrl[start:]
        engine.step(SUBSTEPS, law)
        assert not engine.unstable.any()
        rows.append(state(engine))
    return np.array(rows)


@pytest.fixture(scope="module")
def alone(model) -> np.ndarray:
    """Every simulation flown by an engine of its own."""
    return np.concatenate([flight(model, 1, 1, start=i) for i in range(MOST)], axis=1)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", LANES)
def test_every_lane_flies_the_bits_of_the_scalar_engine(model, alone, n, threads):
    together = flight(model, n, threads)
    assert np.array_equal(together, alone[:, :n])
    assert np.unique(together[-1, :, 1:8].round(6), axis=0).shape[0] == n  # all different


@pytest.mark.parametrize("threads", [3, 7, 64, None])
def test_any_number_of_threads_will_do(vehicle, threads):
    assert np.array_equal(flight(vehicle, 9, threads), flight(vehicle, 9, 1))


@pytest.mark.parametrize("first", [1, 2, 3, 5, 60])
def test_the_lane_of_a_simulation_does_not_matter(vehicle, first):
    n = min(5, MOST - first)
    assert np.array_equal(
        flight(vehicle, n, 1, start=first), flight(vehicle, MOST, 2)[:, first : first + n]
    )


@pytest.mark.parametrize("law", [None, Swinging()], ids=["held", "law"])
@pytest.mark.parametrize("n", [3, 8, 9])
def test_laws_and_pushes_act_in_every_lane(vehicle, n, law):
    settings = {"law": law, "pushed": True}
    alone = [flight(vehicle, 1, 1, start=i, **settings) for i in range(n)]
    for threads in (1, 2):
        together = flight(vehicle, n, threads, **settings)
        assert np.array_equal(together, np.concatenate(alone, axis=1))
    assert not np.array_equal(together, flight(vehicle, n, 1, law=law))


def test_substeps_are_steps(vehicle):
    rows = []
    for substeps in (1, 5, 20):
        engine = engines.make("compiled", vehicle, 5)
        engine.reset(np.arange(5), *starts(vehicle, 5))
        engine.ctrl[...] = controls(vehicle, 5)[0]
        for _ in range(40 // substeps):
            engine.step(substeps)
        rows.append(state(engine)[:, 1:])
    assert np.array_equal(rows[0], rows[1])
    assert np.array_equal(rows[0], rows[2])


@pytest.mark.parametrize("n", [2, 5, 9])
def test_partial_resets_leave_the_others_alone_and_start_afresh(model, n):
    ids = np.arange(n)[1::2]
    others = np.setdiff1d(np.arange(n), ids)
    qpos, qvel = starts(model, MOST)
    ctrls = controls(model, n, 2 * STEPS)
    reset, sound = (engines.make("compiled", model, n, threads=2) for _ in range(2))
    for engine in (reset, sound):
        engine.reset(np.arange(n), qpos[:n], qvel[:n])
    for k in range(2 * STEPS):
        if k == STEPS:
            reset.reset(ids, qpos[-len(ids) :], qvel[-len(ids) :])
            assert np.array_equal(reset.ctrl[ids], np.zeros((len(ids), model.nu)))
            assert np.array_equal(reset.qpos[ids], qpos[-len(ids) :])
            assert np.array_equal(reset.time == 0.0, np.isin(np.arange(n), ids))
        for engine in (reset, sound):
            engine.ctrl[...] = ctrls[k]
            engine.step(SUBSTEPS)
    assert np.array_equal(state(reset)[others], state(sound)[others])
    fresh = engines.make("compiled", model, len(ids), threads=1)
    fresh.reset(np.arange(len(ids)), qpos[-len(ids) :], qvel[-len(ids) :])
    for k in range(STEPS, 2 * STEPS):
        fresh.ctrl[...] = ctrls[k, ids]
        fresh.step(SUBSTEPS)
    assert np.array_equal(state(reset)[ids], state(fresh))


def test_a_reset_shows_in_the_motion_at_once(vehicle):
    engine = engines.make("compiled", vehicle, 3)
    qpos, qvel = starts(vehicle, 3)
    engine.reset(np.arange(3), qpos, qvel)
    data = mujoco.MjData(vehicle)
    for i in range(3):
        data.qpos = qpos[i]
        mujoco.mj_forward(vehicle, data)
        np.testing.assert_allclose(engine.motion.site_position[i], data.site_xpos, atol=1e-12)
    engine.reset(np.zeros(0, np.int64), qpos[:0], qvel[:0])  # nobody
    assert np.array_equal(engine.qpos, qpos)


def test_states_may_be_written_between_steps(vehicle):
    engine = engines.make("compiled", vehicle, 4)
    qpos, qvel = starts(vehicle, 8)
    engine.reset(np.arange(4), qpos[:4], qvel[:4])
    engine.step(SUBSTEPS)
    engine.qpos[...], engine.qvel[...] = qpos[4:], qvel[4:]
    engine.step(SUBSTEPS)
    fresh = engines.make("compiled", vehicle, 4)
    fresh.reset(np.arange(4), qpos[4:], qvel[4:])
    fresh.step(SUBSTEPS)
    assert np.array_equal(state(engine)[:, 1:], state(fresh)[:, 1:])


@pytest.mark.parametrize("n", [1, 3])
def test_looking_changes_nothing_and_shows_the_present_state(vehicle, n):
    seen, unseen = (engines.make("compiled", vehicle, n) for _ in range(2))
    for engine in (seen, unseen):
        engine.reset(np.arange(n), *starts(vehicle, n))
    expected = mujoco.MjData(vehicle)
    for ctrl in controls(vehicle, n):
        for engine in (seen, unseen):
            engine.ctrl[...] = ctrl
            engine.step(SUBSTEPS)
        for i in range(n):
            data = seen.data(i)
            expected.qpos, expected.qvel = seen.qpos[i], seen.qvel[i]
            expected.ctrl = seen.ctrl[i]
            mujoco.mj_forward(vehicle, expected)
            assert np.array_equal(data.qpos, seen.qpos[i])
            assert np.array_equal(data.qvel, seen.qvel[i])
            assert data.time == pytest.approx(seen.time[i])
            np.testing.assert_allclose(data.site_xpos, expected.site_xpos, rtol=0, atol=1e-13)
            np.testing.assert_allclose(data.qacc, expected.qacc, rtol=1e-9, atol=1e-9)
    assert np.array_equal(state(seen), state(unseen))

"""The inner loops: one machine code for all tasks, any ranges, no heap, nothing shared."""

from __future__ import annotations

import gymnasium as gym
import numba
import numpy as np
import pytest

from tendon_gym.control.loops import idle_loops, run_loops
from tendon_gym.registration import ENTRIES

N = 5
CASES = [
    (entry.id, rotor, tendon)
    for entry in ENTRIES.values()
    for rotor in entry.rotor_actions
    for tendon in entry.tendon_actions
]


def prepared(id, rotor, tendon, **settings):
    """Return the arguments of `run_loops` in the middle of a flight."""
    envs = gym.make_vec(
        id, num_envs=N, threads=1, rotor_action=rotor, tendon_action=tendon, **settings
    ).unwrapped
    envs.reset(seed=2)
    for k in range(3):
        envs.step(np.full(envs.action_space.shape, 0.1 * k))
    engine = envs.core.engine
    state = [np.array(each) for each in (engine.time, engine.qpos, engine.qvel, engine.ctrl)]
    return state, envs.core.interface


@pytest.mark.parametrize("id, rotor, tendon", CASES)
def test_ranges_in_any_order_give_what_all_together_give(id, rotor, tendon):
    (time, qpos, qvel, ctrl), interface = prepared(id, rotor, tendon)
    loops, before = interface.loops, ctrl.copy()
    memory = loops.integral.copy(), loops.heading.copy()
    interface(time, qpos, qvel, ctrl)
    after = loops.integral.copy(), loops.heading.copy()
    loops.integral[:], loops.heading[:] = memory
    parts = before.copy()
    for first, last in ((3, 5), (0, 1), (1, 3)):
        run_loops(first, last, time, qpos, qvel, parts, loops)
    assert np.array_equal(parts, ctrl)
    assert np.array_equal(loops.integral, after[0]) and np.array_equal(loops.heading, after[1])
    moves = rotor not in ("thrust", "none")
    assert np.array_equal(ctrl[:, :4] != before[:, :4], np.full((N, 4), moves)) or not moves
    if interface.held:
        assert np.array_equal(ctrl, before)


@pytest.mark.parametrize("id, rotor, tendon", CASES)
def test_the_types_are_the_same_for_all(id, rotor, tendon):
    settings = {"model": {"tendons": {"n_tendons": 5}}} if tendon == "tension" else {}
    kind = numba.typeof(prepared(id, rotor, tendon, **settings)[1].loops)
    assert kind == numba.typeof(idle_loops(2))


def test_idle_loops_leave_everything_as_it_is():
    rng = np.random.default_rng(0)
    time, qpos, qvel, ctrl = rng.random(3), *rng.random((3, 3, 9))
    before = ctrl.copy()
    run_loops(0, 3, time, qpos, qvel, ctrl, idle_loops(3))
    assert np.array_equal(ctrl, before)

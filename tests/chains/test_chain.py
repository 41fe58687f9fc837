"""Chains of random trees against MuJoCo, which has the whole tree, and finite differences."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import mujoco
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chains.comparisons import (
    METHODS,
    Simulation,
    agree,
    agree_with_differences,
    base_axes,
    close,
    move,
)
from tests.chains.random_trees import (
    COMPOUND,
    trees,
    trees_example,
)


@given(trees())
@settings(deadline=None, max_examples=60)
def test_everything_is_mujocos(tree):
    chain = tree.chain()
    agree(chain, Simulation(chain, tree.data), tree.rng)


@given(trees(least=1, links=tuple(COMPOUND)))
@settings(deadline=None, max_examples=25)
def test_bodies_may_have_several_joints_if_that_is_said(tree):
    chain = tree.chain(compound=True)
    agree(chain, Simulation(chain, tree.data), tree.rng)


@given(trees(bases=("floating",), least=1))
@settings(deadline=None, max_examples=25)
def test_a_flying_base_turns_everything(tree):
    """With the base's free joint at constant velocity, its origin does not accelerate."""
    chain = tree.chain()
    q, v = move(chain, tree.data, tree.rng)
    tree.data.qvel[:6] = tree.rng.normal(size=6)
    mujoco.mj_forward(tree.model, tree.data)
    axes = base_axes(chain, tree.data)
    turning = axes @ tree.data.qvel[3:6]
    base = chain.base_motion(axes, turning)
    close(chain.bias(q, v, base), tree.data.qfrc_bias[chain.dof_addresses], 1e-9)
    push, spin = tree.rng.normal(size=(2, 3))
    tree.data.qacc[:] = 0
    tree.data.qacc[:3], tree.data.qacc[3:6] = push, axes.T @ spin
    a = tree.rng.normal(size=chain.n_joints)
    tree.data.qacc[chain.dof_addresses] = a
    mujoco.mj_inverse(tree.model, tree.data)
    base = chain.base_motion(axes, turning, spin, push)
    torque = tree.data.qfrc_inverse[chain.dof_addresses]
    close(chain.inverse_dynamics(q, v, a, base), torque, 1e-8)
    a = chain.forward_dynamics(q, v, torque, base)
    close(chain.inverse_dynamics(q, v, a, base), torque, 1e-8)


@given(trees(least=1))
@settings(deadline=None, max_examples=40)
def test_derivatives_are_differences(tree):
    agree_with_differences(tree.chain(), tree.rng)


BATCHED = {name: count for name, count in METHODS.items() if name != "forward_kinematics"}
BASED = ("gravity", "bias", "inverse_dynamics", "forward_dynamics")


@given(trees(least=1, links=("hinge", "slide")), st.integers(0, 5))
@settings(deadline=None, max_examples=25)
def test_batches_are_states_one_by_one(tree, size):
    """To the last bit, with the base's motion or without, and whatever the layout of the arrays."""
    chain = tree.chain()
    states = tree.rng.normal(size=(3, chain.n_joints, size)).transpose(0, 2, 1)  # not contiguous
    bases = tree.rng.normal(size=(size, 3, 3))
    for name, count in BATCHED.items():
        method, arguments = getattr(chain, name), states[:count]
        for options in [{}, {"base": bases}] if name in BASED else [{}]:
            many = method(*arguments, **options)
            assert len(many) == size
            for k in range(size):
                one = {key: value[k] for key, value in options.items()}
                np.testing.assert_array_equal(many[k], method(*arguments[:, k], **one))
    poses = chain.forward_kinematics(states[0])
    assert poses.position.shape == (size, 3) and poses.rotation.shape == (size, 3, 3)
    for k in range(size):
        pose = chain.forward_kinematics(states[0, k])
        np.testing.assert_array_equal(poses.position[k], pose.position)
        np.testing.assert_array_equal(poses.rotation[k], pose.rotation)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="plain Python lets go in between")
def test_threads_may_share_a_chain():
    """Single calls share the chain's work arrays, and keep the GIL; batches let it go."""
    chain = trees_example().chain()
    states = np.random.default_rng(0).normal(size=(4, 500, chain.n_joints))

    def masses(block):
        one_by_one = np.array([chain.mass_matrix(q) for q in block])
        return one_by_one, chain.mass_matrix(block)

    serial = [masses(block) for block in states]
    with ThreadPoolExecutor(4) as pool:
        np.testing.assert_array_equal(list(pool.map(masses, states)), serial)


def test_one_state_goes_with_a_batch():
    tree = trees_example()
    chain = tree.chain()
    q = tree.rng.normal(size=(4, chain.n_joints))
    v = tree.rng.normal(size=chain.n_joints)
    np.testing.assert_array_equal(chain.bias(q, v), chain.bias(q, np.tile(v, (4, 1))))
    base = tree.rng.normal(size=(4, 3, 3))
    np.testing.assert_array_equal(chain.gravity(v, base)[2], chain.gravity(v, base[2]))
    np.testing.assert_array_equal(chain.gravity(list(v)), chain.gravity(v))
    assert chain.gravity(np.zeros(chain.n_joints, int)).dtype == float


@pytest.mark.parametrize("name", METHODS)
def test_bad_states_are_refused_by_name(name):
    chain = trees_example().chain()
    n, method = chain.n_joints, getattr(chain, name)
    good = [np.zeros(n) for _ in range(METHODS[name])]
    for k in range(len(good)):
        word = "qv?"[k] if k < 2 else {"inverse_dynamics": "a", "forward_dynamics": "torque"}[name]
        for bad, error in (
            (np.zeros(n + 1), ValueError),
            (np.zeros((2, n + 1)), ValueError),
            (np.zeros((2, 2, n)), ValueError),
            (np.full(n, np.nan), ValueError),
            (np.full((2, n), -np.inf), ValueError),
            (0.0, ValueError),
            (["a"] * n, TypeError),
            (None, TypeError),
        ):
            with pytest.raises(error, match=rf"^{word}\b"):
                method(*good[:k], bad, *good[k + 1 :])
    if len(good) > 1:
        with pytest.raises(ValueError, match="batches must have one size"):
            method(np.zeros((2, n)), np.zeros((3, n)), *good[2:])


@pytest.mark.parametrize("name", BASED)
def test_bad_bases_are_refused(name):
    chain = trees_example().chain()
    states = [np.zeros(chain.n_joints)] * METHODS[name]
    for bad in (np.zeros(3), np.zeros((3, 4)), np.full((3, 3), np.nan), np.zeros((2, 3, 2))):
        with pytest.raises(ValueError, match=r"^base"):
            getattr(chain, name)(*states, bad)

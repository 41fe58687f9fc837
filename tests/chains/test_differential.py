"""Velocities of inverse kinematics are the best of all that their limits allow."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from tendon_gym.chains import IkOptions, InverseKinematics
from tests.chains.random_trees import trees, trees_example


def problem(chain, q, twist, preferred, damping):
    """Return A and b of the least squares |A v - b|^2 that the velocities are to be least in."""
    scale = np.array([1.0] * 3 + [IkOptions().rotation_length] * 3)[: len(twist)]
    rows = scale[:, None] * chain.jacobian(q)[: len(twist)]
    n = chain.n_joints
    return np.vstack([rows, damping * np.eye(n)]), np.append(scale * twist, damping * preferred)


@given(
    trees(least=1, links=("hinge", "slide")),
    st.sampled_from([3, 6]),
    st.sampled_from([0.1, 1.0, 10.0]),
    st.floats(1e-2, 1.0),
)
@settings(deadline=None, max_examples=100)
def test_no_bounded_least_squares_of_scipys_is_lower(tree, rows, size, damping):
    chain, rng = tree.chain(), tree.rng
    q, preferred = rng.normal(size=(2, chain.n_joints))
    twist, largest = size * rng.normal(size=rows), rng.uniform(0.05, 2, chain.n_joints)
    v = InverseKinematics(chain).velocities(
        q, twist, largest=largest, preferred=preferred, damping=damping
    )
    matrix, side = problem(chain, q, twist, preferred, damping)
    theirs = lsq_linear(matrix, side, (-largest, largest), method="bvls", tol=1e-14)
    assert (np.abs(v) <= largest).all()
    np.testing.assert_allclose(v, theirs.x, atol=1e-6)
    assert np.sum((matrix @ v - side) ** 2) <= 2 * theirs.cost * (1 + 1e-9) + 1e-12


@given(trees(least=1, links=("hinge", "slide")), st.floats(1e-9, 1e-3))
@settings(deadline=None, max_examples=50)
def test_hardly_any_damping_leaves_the_twist_as_near_as_can_be(tree, damping):
    chain, rng = tree.chain(), tree.rng
    q, twist = rng.normal(size=chain.n_joints), rng.normal(size=6)
    v = InverseKinematics(chain).velocities(q, twist, largest=0.5, damping=damping)
    assert (np.abs(v) <= 0.5).all()
    matrix, side = problem(chain, q, twist, np.zeros(chain.n_joints), damping)
    theirs = lsq_linear(matrix, side, (-0.5, 0.5), method="bvls", tol=1e-14)
    assert np.sum((matrix @ v - side) ** 2) <= 2 * theirs.cost + 1e-5


@given(trees(least=2, links=("hinge", "slide")))
@settings(deadline=None, max_examples=20)
def test_joints_that_may_not_move_do_not(tree):
    chain, rng = tree.chain(), tree.rng
    q, twist = rng.normal(size=chain.n_joints), rng.normal(size=6)
    solver, largest = InverseKinematics(chain), np.full(chain.n_joints, 0.3)
    largest[0] = 0.0
    assert solver.velocities(q, twist, largest=largest, preferred=np.ones_like(q))[0] == 0.0
    np.testing.assert_array_equal(solver.velocities(q, twist, largest=0.0), 0.0)


def test_limits_that_are_not_met_change_nothing():
    """To the last bit: the first step is the last."""
    tree = trees_example()
    chain, rng = tree.chain(), tree.rng
    q, twist = rng.normal(size=chain.n_joints), rng.normal(size=6)
    solver = InverseKinematics(chain)
    free = solver.velocities(q, twist)
    assert np.abs(free).max() > 0.1
    largest = np.abs(free).max() * 1.01
    np.testing.assert_array_equal(solver.velocities(q, twist, largest=largest), free)

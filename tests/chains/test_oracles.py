"""Chains of random trees against Pinocchio and KDL, which know nothing of MuJoCo's engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

from tests.chains.comparisons import agree_with_pinocchio, close
from tests.chains.oracles import kdl_of, lump, pinocchio_of, reference
from tests.chains.random_trees import trees

pin = pytest.importorskip("pinocchio")


def chain_and_lump(tree):
    chain = tree.chain(branches=False)
    assume(chain.n_joints)
    if tree.tool is None:
        return chain, []
    return chain, [lump(tree.model, tree.data, tree.model.body(tree.tool).id, chain.tip_body)]


def gravity_in_base(tree, chain):
    return tree.data.xmat[chain.base_body].reshape(3, 3).T @ tree.model.opt.gravity


@given(trees(least=1))
@settings(deadline=None, max_examples=40)
def test_everything_is_pinocchios(tree):
    chain, lumped = chain_and_lump(tree)
    model, tip = pinocchio_of(pin, chain, lumped)
    model.gravity.linear = gravity_in_base(tree, chain)
    agree_with_pinocchio(pin, chain, model, tip, lambda q: q - reference(chain), tree.rng)


@given(trees(least=1))
@settings(deadline=None, max_examples=40)
def test_everything_is_kdls(tree):
    kdl = pytest.importorskip("PyKDL")
    chain, lumped = chain_and_lump(tree)
    theirs = kdl_of(kdl, chain, lumped)
    n = chain.n_joints
    q, v, a = tree.rng.normal(size=(3, n))

    def array(values=(0.0,) * n):
        result = kdl.JntArray(n)
        for k, value in enumerate(values):
            result[k] = value
        return result

    def vector(joints):
        return np.array([joints[k] for k in range(n)])

    angles = array(q - reference(chain))
    tip = kdl.Frame()
    assert kdl.ChainFkSolverPos_recursive(theirs).JntToCart(angles, tip) >= 0
    pose = chain.forward_kinematics(q)
    close(pose.position, [tip.p[k] for k in range(3)], 1e-12)
    close(pose.rotation, [[tip.M[r, c] for c in range(3)] for r in range(3)], 1e-12)
    jacobian = kdl.Jacobian(n)
    kdl.ChainJntToJacSolver(theirs).JntToJac(angles, jacobian)
    close(chain.jacobian(q), [[jacobian[r, c] for c in range(n)] for r in range(6)], 1e-12)
    dynamics = kdl.ChainDynParam(theirs, kdl.Vector(*gravity_in_base(tree, chain)))
    gravity, coriolis, mass = array(), array(), kdl.JntSpaceInertiaMatrix(n)
    dynamics.JntToGravity(angles, gravity)
    dynamics.JntToCoriolis(angles, array(v), coriolis)
    dynamics.JntToMass(angles, mass)
    close(chain.gravity(q), vector(gravity), 1e-11)
    close(chain.coriolis(q, v) @ v, vector(coriolis), 1e-11)
    armature = np.diag(chain.model.dof_armature[chain.dof_addresses])
    theirs = np.array([[mass[r, c] for c in range(n)] for r in range(n)])
    close(chain.mass_matrix(q), theirs + armature, 1e-11)
    moved = theirs @ a + vector(gravity) + vector(coriolis) + armature @ a
    close(chain.inverse_dynamics(q, v, a), moved, 1e-11)

"""What a chain carries and what it stands on, and chains that move nothing with a mass."""

from __future__ import annotations

import copy
import pickle

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings

from tendon_gym.chains import Chain
from tests.chains.comparisons import move
from tests.chains.random_trees import (
    LINKS,
    Tree,
    add_base,
    add_body,
    add_tool,
    new_spec,
    trees,
)


def arm(seed=0, kinds=("hinge", "hinge", "none", "slide", "hinge")):
    """Return a tree of one path with a two-finger tool at its end."""
    rng = np.random.default_rng(seed)
    spec = new_spec(rng)
    body = add_base(spec, "fixed", rng)
    for k, kind in enumerate(kinds):
        body = add_body(body, f"link{k}", LINKS[kind], rng)
    return Tree(spec, "base", body.name, add_tool(body, rng), rng)


def test_refreshing_reads_the_model_and_the_base_anew():
    tree = arm()
    chain = tree.chain()
    q, v = move(chain, tree.data, tree.rng)
    tree.model.body_mass[1:] *= 1.5
    tree.model.body_inertia[1:] *= 1.5
    tree.model.body_quat[chain.base_body] = [0.6, 0, 0.8, 0]
    mujoco.mj_setConst(tree.model, tree.data)
    tree.data.qpos[chain.qpos_addresses], tree.data.qvel[chain.dof_addresses] = q, v
    mujoco.mj_forward(tree.model, tree.data)
    chain.refresh_tool(tree.data.qpos)
    bias = tree.data.qfrc_bias[chain.dof_addresses]
    np.testing.assert_allclose(chain.bias(q, v), bias, atol=1e-9)


def test_gravity_is_read_when_told_and_for_every_base_motion():
    tree = arm()
    chain = tree.chain()
    q, _ = move(chain, tree.data, tree.rng)
    before = chain.gravity(q)
    tree.model.opt.gravity *= 2
    np.testing.assert_array_equal(chain.gravity(q), before)
    told = chain.gravity(q, chain.base_motion(chain.base_pose.rotation))
    np.testing.assert_array_equal(told, 2 * before)
    chain.refresh_tool(tree.data.qpos)
    np.testing.assert_array_equal(chain.gravity(q), told)


@given(trees())
@settings(deadline=None, max_examples=15)
def test_the_base_is_where_it_is(tree):
    chain = tree.chain()
    position, axes = tree.data.xpos[chain.base_body], tree.data.xmat[chain.base_body]
    np.testing.assert_allclose(chain.base_pose.position, position, atol=1e-12)
    np.testing.assert_allclose(chain.base_pose.rotation, axes.reshape(3, 3), atol=1e-12)


def test_a_model_without_gravity_has_none():
    tree = arm()
    tree.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    chain = tree.chain()
    np.testing.assert_array_equal(chain.gravity(np.ones(chain.n_joints)), 0)


def test_a_base_turns_with_what_is_said_of_it():
    """Given as moving, in world coordinates; the rotation tells them to the base."""
    chain = arm().chain()
    quarter = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    motion = chain.base_motion(quarter, [1, 0, 0], [0, 2, 0], chain.model.opt.gravity)
    np.testing.assert_allclose(motion, [[0, -1, 0], [2, 0, 0], [0, 0, 0]], atol=1e-15)
    with pytest.raises(ValueError, match="rotation"):
        chain.base_motion(np.eye(4))
    with pytest.raises(ValueError, match="angular_velocity"):
        chain.base_motion(np.eye(3), [0, np.nan, 0])


def test_what_has_no_mass_cannot_be_accelerated():
    xml = """
    <mujoco><worldbody><body name="a"><joint name="j"/><geom size=".1"/>
      <body name="b"><joint name="k"/><body name="c"><geom size=".1"/></body></body>
    </body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    state = np.zeros((3, 2))
    with pytest.raises(ValueError, match="singular"):
        Chain.from_model(model, "world", "b").forward_dynamics(*state)
    loaded = Chain.from_model(model, "world", "b", tool_body="c")
    np.testing.assert_allclose(loaded.forward_dynamics(*state), 0, atol=1e-12)


def test_chains_can_be_copied_and_sent():
    chain = arm().chain()
    q = np.linspace(-1, 1, chain.n_joints)
    for other in (copy.deepcopy(chain), pickle.loads(pickle.dumps(chain))):
        np.testing.assert_array_equal(other.gravity(q), chain.gravity(q))
        assert other.joint_names == chain.joint_names

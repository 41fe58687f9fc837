"""What a chain carries, what it stands on, and chains at the edge: none, few or massless joints."""

from __future__ import annotations

import copy
import pickle

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings

from tendon_gym.chains import Chain
from tests.chains.comparisons import mass_of_mujoco, move
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


def test_the_tool_weighs_what_its_subtree_weighs():
    tree = arm()
    bare, loaded = tree.chain(tool_body=None, branches=False), tree.chain(branches=False)
    more = loaded.segments["mass"] - bare.segments["mass"]
    np.testing.assert_array_equal(more[:-2], 0)
    subtree = tree.model.body_subtreemass[tree.model.body(tree.tool).id]
    assert more[-2] == pytest.approx(subtree, abs=1e-12)


def test_without_the_tool_just_its_weight_is_missing():
    tree = arm()
    bare, loaded = tree.chain(tool_body=None, branches=False), tree.chain(branches=False)
    q, _ = move(loaded, tree.data, tree.rng)
    tool = tree.model.body(tree.tool).id
    jacobian = np.zeros((3, tree.model.nv))
    mujoco.mj_jacSubtreeCom(tree.model, tree.data, jacobian, tool)
    weight = tree.model.body_subtreemass[tool] * tree.model.opt.gravity
    missing = -(weight @ jacobian)[loaded.dof_addresses]
    assert np.abs(missing).max() > 1
    np.testing.assert_allclose(loaded.gravity(q) - bare.gravity(q), missing, atol=1e-11)


def test_a_tool_that_moved_is_noticed_when_told():
    tree = arm()
    chain = tree.chain()
    q, v = move(chain, tree.data, tree.rng)
    for finger in ("left", "right"):
        tree.data.qpos[tree.model.joint(f"{finger}_0").qposadr[0]] += 0.02
    mujoco.mj_forward(tree.model, tree.data)
    mass = mass_of_mujoco(chain, tree.data)
    assert np.abs(chain.mass_matrix(q) - mass).max() > 1e-5
    segments = chain.segments
    chain.refresh_tool(tree.data.qpos)
    np.testing.assert_allclose(chain.mass_matrix(q), mass, atol=1e-11)
    bias = tree.data.qfrc_bias[chain.dof_addresses]
    np.testing.assert_allclose(chain.bias(q, v), bias, atol=1e-10)
    assert segments is chain.segments


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


def test_armature_is_on_the_diagonal():
    tree = arm()
    tree.model.dof_armature[:] = 0
    without = tree.chain()
    tree.model.dof_armature[:] = 0.3
    q = tree.rng.normal(size=without.n_joints)
    more = tree.chain().mass_matrix(q) - without.mass_matrix(q)
    np.testing.assert_allclose(more, 0.3 * np.eye(len(q)), atol=1e-12)


@given(trees())
@settings(deadline=None, max_examples=15)
def test_the_base_is_where_it_is(tree):
    chain = tree.chain()
    position, axes = tree.data.xpos[chain.base_body], tree.data.xmat[chain.base_body]
    np.testing.assert_allclose(chain.base_pose.position, position, atol=1e-12)
    np.testing.assert_allclose(chain.base_pose.rotation, axes.reshape(3, 3), atol=1e-12)


def test_gravity_compensation_of_the_model_is_not_taken_off():
    """It is a passive force of MuJoCo's; qfrc_bias has all of gravity, and so has the chain."""
    tree = arm()
    tree.model.body_gravcomp[:] = 1
    chain = tree.chain()
    q, v = move(chain, tree.data, tree.rng)
    bias = tree.data.qfrc_bias[chain.dof_addresses]
    np.testing.assert_allclose(chain.bias(q, v), bias, atol=1e-10)


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


@pytest.mark.parametrize("kinds", [("slide",) * 3, ("hinge",), ("none", "hinge", "none")])
def test_small_chains(kinds):
    tree = arm(3, kinds)
    chain = tree.chain()
    q, v = move(chain, tree.data, tree.rng)
    assert chain.n_joints == sum(kind != "none" for kind in kinds)
    np.testing.assert_allclose(chain.mass_matrix(q), mass_of_mujoco(chain, tree.data), atol=1e-9)
    bias = tree.data.qfrc_bias[chain.dof_addresses]
    np.testing.assert_allclose(chain.bias(q, v), bias, atol=1e-9)


@pytest.mark.parametrize("body", ["base", "world", "link2"])
def test_a_chain_of_no_joints(body):
    chain = Chain.from_model(arm().model, body, body)
    none = np.zeros(0)
    pose = chain.forward_kinematics(none)
    np.testing.assert_array_equal(pose.position, 0)
    np.testing.assert_array_equal(pose.rotation, np.eye(3))
    np.testing.assert_array_equal(chain.twist(none, none), np.zeros(6))
    assert chain.jacobian(none).shape == (6, 0)
    assert chain.mass_matrix(none).shape == chain.coriolis(none, none).shape == (0, 0)
    for name, count in {"gravity": 1, "bias": 2, "inverse_dynamics": 3}.items():
        assert getattr(chain, name)(*[none] * count).shape == (0,)
        assert getattr(chain, name)(*[np.zeros((4, 0))] * count).shape == (4, 0)
    assert chain.forward_dynamics(none, none, none).shape == (0,)


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


def test_two_arms_know_nothing_of_each_other():
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    rng = np.random.default_rng(8)
    for prefix, kinds in {"": ("hinge", "slide", "hinge"), "r2_": ("hinge",) * 4}.items():
        body = add_base(spec, "fixed", rng, prefix)
        for k, kind in enumerate(kinds):
            body = add_body(body, f"{prefix}link{k}", LINKS[kind], rng)
        add_tool(body, rng, prefix)
    tree = Tree(spec, "base", "link2", "tool", rng)
    for prefix, tip in {"": "link2", "r2_": "link3"}.items():
        chain = Chain.from_model(
            tree.model, "base", tip, prefix, "tool", branches=True, qpos=tree.data.qpos
        )
        assert all(name.startswith(f"{prefix}link") for name in chain.joint_names)
        q, v = move(chain, tree.data, tree.rng)
        bias = tree.data.qfrc_bias[chain.dof_addresses]
        np.testing.assert_allclose(chain.bias(q, v), bias, atol=1e-9)
        base, end = tree.model.body(f"{prefix}base").id, tree.model.body(f"{prefix}{tip}").id
        axes = tree.data.xmat[base].reshape(3, 3)
        place = axes.T @ (tree.data.xpos[end] - tree.data.xpos[base])
        np.testing.assert_allclose(chain.forward_kinematics(q).position, place, atol=1e-12)

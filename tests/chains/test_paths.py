"""What can be a chain and what can't: every refusal names the element."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings

from tendon_gym.chains import Chain, Robot
from tests.chains.random_trees import faulty_trees, trees

ARM = """
<mujoco>
  <worldbody>
    <body name="base" pos="1 2 3">
      <body name="upper"><joint name="shoulder" range="-1 2"/><geom size=".1"/>
        <body name="lower" pos="0 0 .5"><joint name="elbow" type="slide"/><geom size=".1"/>
          <site name="tip" pos="0 0 .1"/>
          <body name="hand" pos="0 0 .2"><geom size=".05" mass="2"/></body>
        </body>
        <body name="camera"><geom size=".02" mass=".5"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def model():
    return mujoco.MjModel.from_xml_string(ARM)


def state_of(data):
    """Return everything about a simulation that can be saved."""
    size = mujoco.mj_stateSize(data.model, mujoco.mjtState.mjSTATE_INTEGRATION)
    state = np.empty(size)
    mujoco.mj_getState(data.model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    return state


@given(faulty_trees())
@settings(deadline=None, max_examples=80)
def test_one_fault_is_refused_by_name(case):
    model, names, said = case
    with pytest.raises(ValueError, match=said):
        Chain.from_model(model, **names)
    data = mujoco.MjData(model)
    data.qpos[:] += 0.1
    before = state_of(data)
    with pytest.raises(ValueError, match=said):
        Robot.from_mjcf(model, data, **names)
    np.testing.assert_array_equal(state_of(data), before)


@given(trees(least=1))
@settings(deadline=None, max_examples=15)
def test_chains_know_their_joints(tree):
    chain = tree.chain()
    model = tree.model
    for k, name in enumerate(chain.joint_names):
        joint = model.joint(name)
        assert chain.joints[k] == joint.id
        assert chain.qpos_addresses[k] == joint.qposadr[0]
        assert chain.dof_addresses[k] == joint.dofadr[0]
    assert model.body(chain.tip_body).name == tree.tip
    assert model.body(chain.base_body).name == tree.base


def test_limits_are_the_models_or_infinite(model):
    limits = Chain.from_model(model, "base", "lower").joint_limits
    np.testing.assert_allclose(limits, [np.radians([-1, 2]), [-np.inf, np.inf]])


def test_constants_cannot_be_written_to(model):
    chain = Chain.from_model(model, "base", "lower")
    for array in (chain.joint_limits, chain.qpos_addresses, chain.dof_addresses):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_only_what_is_asked_for_is_carried(model):
    """The slide's entry of the mass matrix is the mass that it moves, in kg."""
    lower = model.body("lower").mass[0]
    carried = [
        Chain.from_model(model, "base", "lower", **options).mass_matrix(np.zeros(2))[1, 1]
        for options in ({}, {"tool_body": "hand"}, {"branches": True})
    ]
    np.testing.assert_allclose(carried, [lower, lower + 2, lower + 2], rtol=1e-12)
    gravity = Chain.from_model(model, "base", "lower", tool_body="camera").gravity
    assert gravity(np.zeros(2))[1] == pytest.approx(9.81 * lower, rel=1e-12)


def test_the_end_may_be_a_site(model):
    q = np.array([0.3, 0.1])
    body = Chain.from_model(model, "base", "lower").forward_kinematics(q)
    site = Chain.from_model(model, "base", "lower", tip_site="tip").forward_kinematics(q)
    np.testing.assert_allclose(site.position, body.position + body.rotation @ [0, 0, 0.1])
    np.testing.assert_allclose(site.rotation, body.rotation)


def test_the_world_needs_no_prefix(model):
    spec = mujoco.MjSpec.from_string("<mujoco/>")
    frame = spec.worldbody.add_frame(pos=[0, 1, 0])
    spec.attach(mujoco.MjSpec.from_string(ARM), prefix="left_", frame=frame)
    chain = Chain.from_model(spec.compile(), "world", "lower", "left_")
    assert chain.joint_names == ("left_shoulder", "left_elbow")
    np.testing.assert_allclose(chain.forward_kinematics(np.zeros(2)).position, [1, 3, 3.5])


@pytest.mark.parametrize(
    ("names", "word"),
    [
        ({"base_body": 3}, "base_body"),
        ({"tip_body": None}, "tip_body"),
        ({"tool_body": ["hand"]}, "tool_body"),
        ({"tip_site": 1}, "tip_site"),
        ({"prefix": None}, "prefix"),
        ({"branches": 1}, "branches"),
        ({"compound": None}, "compound"),
        ({"qpos": "zero"}, "qpos"),
    ],
)
def test_types_are_checked(model, names, word):
    with pytest.raises(TypeError, match=word):
        Chain.from_model(model, **{"base_body": "base", "tip_body": "lower", **names})


def test_a_model_must_be_one():
    with pytest.raises(TypeError, match="MjModel"):
        Chain.from_model(ARM, "base", "lower")  # type: ignore[arg-type]


@pytest.mark.parametrize("qpos", [[0.0], [0.0, np.nan], [[0.0, 0.0]]])
def test_positions_are_checked(model, qpos):
    with pytest.raises(ValueError, match="qpos"):
        Chain.from_model(model, "base", "lower", qpos=qpos)
    chain = Chain.from_model(model, "base", "lower")
    with pytest.raises(ValueError, match="qpos"):
        chain.refresh_tool(qpos)

"""Local indices of bodies, and coordinates in the frames of the format."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tendon_gym.tendons.files.objects import (
    Coordinates,
    Held,
    Objects,
    local_indices,
    to_body,
    to_world,
)

CHAIN = """<mujoco><worldbody><body name="base" pos="0 0 1">{root}<geom size=".1"/>
<body name="upper" pos=".1 0 0"><joint name="a"/><geom size=".1"/>
<body name="bracket" pos="0 .2 0" euler="0 0 90"><geom size=".1"/>
<body name="lower" pos=".3 0 0"><joint name="b"/><geom size=".1"/></body></body></body>
<body name="side"><joint name="c"/><geom size=".1"/></body></body></worldbody></mujoco>"""


def chain(root):
    model = mujoco.MjModel.from_xml_string(CHAIN.format(root=root))
    bodies = tuple(range(1, model.nbody))
    held = Held("robot", "", bodies, local_indices(model, bodies), range(0), True)
    return model, Objects(model, [held])


@pytest.mark.parametrize(
    ("root", "names"),
    [
        ("", ["base", "upper", "lower", "side"]),
        ("<freejoint/>", ["base", "upper", "lower", "side"]),
        ("<joint/>", ["world", "base", "upper", "lower", "side"]),
    ],
)
def test_local_indices_count_the_root_and_what_moves(root, names):
    model, objects = chain(root)
    found = [model.body(objects.body("robot", k)).name for k in range(len(names))]
    assert found == names
    with pytest.raises(ValueError, match=rf"local_index must be from 0 to {len(names) - 1}"):
        objects.body("robot", len(names))
    with pytest.raises(ValueError, match="local_index"):
        objects.body("robot", -1)


def test_what_is_fixed_to_a_body_is_in_its_frame():
    model, objects = chain("")
    bracket = model.body("bracket").id
    place = objects.place(bracket, np.array([0.1, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]))
    assert (place.object, place.local_index) == ("robot", 1)
    assert np.allclose(place.position, [0.0, 0.3, 0.0], atol=1e-15)
    assert np.allclose(place.quaternion, [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)], atol=1e-15)


def test_unknown_objects_and_joints_are_told_with_the_legal_ones():
    _, objects = chain("")
    with pytest.raises(ValueError, match="object must be one of robot, got 'other'"):
        objects.body("other", 0)
    with pytest.raises(ValueError, match="joint must be a joint of robot: a, b, c, got 'd'"):
        objects.joint("robot", "d")


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4).filter(lambda q: np.dot(q, q) > 0.01),
    st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3),
)
def test_angular_velocities_turn_and_settle_after_one_turn(quaternion, spin):
    q = np.array(quaternion) / np.linalg.norm(quaternion)
    mujoco.mju_normalize4(q)
    turned = to_world(q, np.array(spin))
    expected = Rotation.from_quat(q, scalar_first=True).apply(spin)
    assert np.allclose(turned, expected, rtol=0.0, atol=1e-12 * max(np.abs(spin)) + 1e-300)
    assert to_world(q, to_body(q, turned)).tolist() == turned.tolist()


def test_floating_bodies_have_angular_velocities_in_the_world():
    model, _ = chain("<freejoint/>")
    data = mujoco.MjData(model)
    place = Coordinates(model, tuple(range(1, model.nbody)))
    half = np.sqrt(0.5)
    qpos = (0.0, 0.0, 1.0, half, half, 0.0, 0.0, 0.1, 0.2, 0.3)  # a quarter turn about x
    place.write(data, qpos, (0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0))
    assert np.allclose(data.qvel[3:6], [0.0, 2.0, 0.0], atol=1e-12)
    mujoco.mj_forward(model, data)
    velocity = np.empty(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, 1, velocity, 0)
    assert np.allclose(velocity[:3], [0.0, 0.0, 2.0], atol=1e-12)
    assert np.allclose(place.velocities(data), [0, 0, 0, 0, 0, 2, 0, 0, 0], atol=1e-14)
    assert place.positions(data).tolist() == list(qpos)


def test_a_quaternion_of_zeros_is_refused():
    model, _ = chain("<freejoint/>")
    place = Coordinates(model, tuple(range(1, model.nbody)))
    with pytest.raises(ValueError, match="quaternion"):
        place.write(mujoco.MjData(model), (0.0,) * 10, ())

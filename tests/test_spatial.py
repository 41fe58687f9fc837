"""Vectors, quaternions and frames against scipy's rotations and MuJoCo's."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tendon_gym import spatial

numbers = st.floats(-10.0, 10.0)
vectors = st.tuples(numbers, numbers, numbers)
quaternions = st.tuples(numbers, numbers, numbers, numbers)
CLOSE = {"rtol": 1e-12, "atol": 1e-12}
quick = settings(deadline=None, max_examples=50)


def unit(q):
    """Return a drawn quaternion (w, x, y, z) with length 1."""
    length = math.sqrt(sum(x * x for x in q))
    assume(length > 1e-3)
    return tuple(x / length for x in q)


def scipy_of(q):
    return Rotation.from_quat(np.array([*q[1:], q[0]]))


@given(vectors, vectors, vectors, numbers, numbers, numbers)
@quick
def test_vectors(a, b, c, x, y, z):
    u, v, w = np.array(a), np.array(b), np.array(c)
    np.testing.assert_allclose(spatial.add(a, b), u + v, **CLOSE)
    np.testing.assert_allclose(spatial.subtract(a, b), u - v, **CLOSE)
    np.testing.assert_allclose(spatial.scale(x, a), x * u, **CLOSE)
    np.testing.assert_allclose(spatial.cross(a, b), np.cross(u, v), rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(spatial.dot(a, b), u @ v, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(spatial.norm(a), np.linalg.norm(u), **CLOSE)
    np.testing.assert_allclose(
        spatial.combine(x, a, y, b, z, c), x * u + y * v + z * w, rtol=1e-12, atol=1e-10
    )


def test_arrays_become_vectors_and_back():
    assert spatial.vector(np.array([1.0, 2.0, 3.0])) == (1.0, 2.0, 3.0)
    out = np.zeros(3)
    spatial.store((4.0, 5.0, 6.0), out)
    assert np.array_equal(out, [4.0, 5.0, 6.0])
    matrix = np.arange(9.0).reshape(3, 3)
    assert spatial.columns(matrix) == ((0.0, 3.0, 6.0), (1.0, 4.0, 7.0), (2.0, 5.0, 8.0))
    again = np.zeros((3, 3))
    spatial.store_columns(spatial.columns(matrix), again)
    assert np.array_equal(again, matrix)


@given(quaternions, vectors)
@quick
def test_a_frame_is_the_rotation_of_its_quaternion(q, v):
    q = unit(q)
    frame, rotation = spatial.frame_of(q), scipy_of(q)
    np.testing.assert_allclose(np.array(frame).T, rotation.as_matrix(), **CLOSE)
    np.testing.assert_allclose(
        spatial.to_world(frame, v), rotation.apply(v), rtol=1e-12, atol=1e-10
    )
    np.testing.assert_allclose(
        spatial.to_body(frame, v), rotation.inv().apply(v), rtol=1e-12, atol=1e-10
    )
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.array(q))
    np.testing.assert_allclose(np.array(frame).T.ravel(), matrix, **CLOSE)


@given(quaternions, quaternions)
@quick
def test_a_product_turns_by_one_after_the_other(p, q):
    p, q = unit(p), unit(q)
    expected = (scipy_of(p) * scipy_of(q)).as_matrix()
    product = spatial.multiply(p, q)
    np.testing.assert_allclose(np.array(spatial.frame_of(product)).T, expected, **CLOSE)
    theirs = np.zeros(4)
    mujoco.mju_mulQuat(theirs, np.array(p), np.array(q))
    np.testing.assert_allclose(product, theirs, **CLOSE)


@given(vectors, st.floats(-20.0, 20.0))
@quick
def test_a_turn_is_about_its_axis(axis, angle):
    length = math.sqrt(sum(x * x for x in axis))
    assume(length > 1e-3)
    axis = tuple(x / length for x in axis)
    turn = spatial.turn(axis, angle)
    expected = Rotation.from_rotvec(angle * np.array(axis)).as_matrix()
    np.testing.assert_allclose(np.array(spatial.frame_of(turn)).T, expected, rtol=0, atol=1e-12)


@given(quaternions)
@quick
def test_a_quaternion_is_brought_to_unit_length(q):
    expected = unit(q)
    np.testing.assert_allclose(spatial.quaternion(np.array(q)), expected, **CLOSE)


@pytest.mark.parametrize("zeros", [[0.0, 0.0, 0.0, 0.0], [1e-16, 0.0, 0.0, -1e-16]])
def test_zeros_become_the_identity(zeros):
    assert spatial.quaternion(np.array(zeros)) == (1.0, 0.0, 0.0, 0.0)

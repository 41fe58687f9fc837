"""Single bodies of native XML and the ground: built, recognised, and what is more than them."""

from __future__ import annotations

import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from tendon_gym.tendons.files.shapes import (
    Ground,
    Shape,
    add_ground,
    add_shape,
    ground_of,
    shape_of,
)

SIZES = {
    "sphere": (0.1,), "box": (0.2, 0.3, 0.4), "capsule": (0.1, 0.3), "cylinder": (0.1, 0.3),
}  # fmt: skip
VOLUMES = {
    "sphere": 4 / 3 * math.pi * 0.1**3,
    "box": 0.2 * 0.3 * 0.4,
    "capsule": math.pi * 0.1**2 * 0.3 + 4 / 3 * math.pi * 0.1**3,
    "cylinder": math.pi * 0.1**2 * 0.3,
}
DEFAULTS = """<mujoco><default><geom friction="2 .1 .1" margin=".1" density="7" type="box" group="3"
rgba="1 0 0 1"/><joint damping="3"/><mesh scale="2 2 2"/></default></mujoco>"""


def built(*shapes, xml="<mujoco/>"):
    spec = mujoco.MjSpec.from_string(xml)
    for shape in shapes:
        add_shape(spec, shape)
    return spec, spec.compile()


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize("body_type", ["dynamic", "static", "kinematic"])
@pytest.mark.parametrize("xml", ["<mujoco/>", DEFAULTS])
def test_a_body_that_was_built_is_recognised(kind, body_type, xml):
    shape = Shape(
        "thing", kind, SIZES[kind], 2.5, body_type=body_type, position=(1.0, 2.0, 3.0),
        quaternion=(1.0, 1.0, 0.0, 0.0), color=(0.1, 0.2, 0.3, 0.4), collides=False,
    )  # fmt: skip
    spec, model = built(shape, xml=xml)
    assert shape_of(spec, model, spec.body("thing")) == shape
    assert model.body("thing").mass[0] == 2.5
    assert model.nv == (6 if body_type == "dynamic" else 0)
    assert model.nmocap == (body_type == "kinematic")


@pytest.mark.parametrize("kind", SIZES)
def test_dimensions_are_those_of_the_format(kind):
    """A body of density 1 has its volume as mass: heights of capsules are without caps."""
    spec = mujoco.MjSpec()
    body = add_shape(spec, Shape("thing", kind, SIZES[kind], 1.0))
    body.geoms[0].mass, body.geoms[0].density = math.nan, 1.0
    assert spec.compile().body("thing").mass[0] == pytest.approx(VOLUMES[kind], rel=1e-12)


def test_inertia_and_centre_of_mass_are_those_given():
    inertia = (0.1, 0.2, 0.25, 0.01, 0.02, -0.03)
    shape = Shape("thing", "box", (1.0, 1.0, 1.0), 2.0, com=(0.1, 0.2, 0.3), inertia=inertia)
    spec, model = built(shape)
    assert shape_of(spec, model, spec.body("thing")) == shape
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, model.body("thing").iquat)
    r = rotation.reshape(3, 3)
    xx, yy, zz, xy, xz, yz = inertia
    full = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    assert np.allclose(r @ np.diag(model.body("thing").inertia) @ r.T, full, atol=1e-12)
    assert model.body("thing").ipos.tolist() == [0.1, 0.2, 0.3]


CHANGES = {
    "another joint": lambda body: setattr(body.joints[0], "type", mujoco.mjtJoint.mjJNT_BALL),
    "a damped joint": lambda body: setattr(body.joints[0], "armature", 0.1),
    "two geoms": lambda body: body.add_geom(size=[0.1, 0, 0]),
    "a site": lambda body: body.add_site(),
    "a camera": lambda body: body.add_camera(),
    "a child": lambda body: body.add_body(),
    "friction": lambda body: setattr(body.geoms[0], "friction", [0.5, 0.005, 0.0001]),
    "an offset": lambda body: setattr(body.geoms[0], "pos", [0, 0, 0.1]),
    "a group": lambda body: setattr(body.geoms[0], "group", 2),
    "another name": lambda body: setattr(body.geoms[0], "name", "other"),
    "no name": lambda body: setattr(body, "name", ""),
    "gravity compensation": lambda body: setattr(body, "gravcomp", 1.0),
    "two masks": lambda body: setattr(body.geoms[0], "contype", 2),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_body_with_more_to_it_is_none(change):
    spec, _ = built(Shape("thing", "sphere", (0.1,), 1.0))
    body = spec.body("thing")
    CHANGES[change](body)
    if change == "a child":
        body.bodies[0].add_geom(size=[0.1, 0, 0])
    assert shape_of(spec, spec.compile(), body) is None


def test_a_body_without_mass_is_none():
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="thing")
    body.add_geom(size=[0.1, 0, 0], mass=0.0)
    assert shape_of(spec, spec.compile(), body) is None


@pytest.mark.parametrize("xml", ["<mujoco/>", DEFAULTS])
def test_a_ground_is_recognised(xml):
    spec = mujoco.MjSpec.from_string(xml)
    ground = Ground("floor", 0.3, (0.1, 0.2, 0.3, 1.0), collides=False)
    add_ground(spec, ground)
    assert ground_of(spec.geoms[0]) == ground
    spec.geoms[0].quat = [1, 0.1, 0, 0]
    assert ground_of(spec.geoms[0]) is None


@pytest.mark.parametrize(
    "change",
    [
        {"mass": 0.0}, {"mass": math.nan}, {"size": (0.0,)}, {"size": (math.inf,)},
        {"scale": -1.0}, {"com": (0.1, 0.0, 0.0)}, {"position": (0.0, math.inf, 0.0)},
        {"quaternion": (0.0, 0.0, 0.0, 0.0)}, {"quaternion": (math.nan, 0.0, 0.0, 0.0)},
        {"color": (2.0, 0.0, 0.0, 1.0)}, {"inertia": (1.0, 1.0, 3.0, 0.0, 0.0, 0.0)},
        {"inertia": (1.0, 1.0, -1.0, 0.0, 0.0, 0.0)}, {"inertia": (1.0, 1.0, 1.0, 2.0, 0.0, 0.0)},
    ],
)  # fmt: skip
def test_bodies_that_cannot_be_are_refused(change):
    with pytest.raises(ValueError):
        replace(Shape("thing", "sphere", (0.1,), 1.0), **change)


def test_unit_quaternions_stay_as_they_are():
    quaternion = (0.7071067811865476, 0.7071067811865475, 0.0, 0.0)
    assert Shape("thing", "sphere", (0.1,), 1.0, quaternion=quaternion).quaternion == quaternion

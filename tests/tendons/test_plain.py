"""What a world adds to a model is not what the model's defaults would make of it."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tendon_gym.tendons import (
    CouplingProperties,
    Drive,
    JointTerm,
    Properties,
    TendonWorld,
    sphere,
    via,
)

DEFAULTS = """<default><geom contype="3" margin=".1" mass="3" type="box" condim="6"/>
<joint damping="2" range="0 1" type="slide" stiffness="5" frictionloss="1"/><site size=".3"/>
<tendon limited="true" range="0 1" stiffness="1 2 3" damping="1 2 3" springyield="0.5"/>
<general gear="3" ctrlrange="-1 1" ctrllimited="true" dyntype="filter" dynprm="3"/>
<equality active="false" solref="1 1"/></default>"""
BODY = """<body name="arm"><joint name="j" type="hinge" damping="0" range="0 0" stiffness="0"
frictionloss="0" axis="0 1 0"/><geom name="arm" type="capsule" fromto="0 0 0 1 0 0" size=".1"
contype="0" conaffinity="0" mass="1" margin="0" condim="3"/></body>"""


def world(defaults):
    """Return a world with all kinds of parts: rotor, drive, lock, coupling, guide."""
    xml = f'<mujoco>{defaults}<option integrator="discrete"/><worldbody>{BODY}</worldbody></mujoco>'
    result = TendonWorld.from_string(xml)
    path = [via(None, (0, 0, 2)), sphere("arm", 0.2, position=(0.5, 0, 1)), via("arm", (1, 0, 0))]
    rope = result.add_spatial_tendon("rope", path, Properties(armature=0.5, stiffness=9.0))
    rope.drive = Drive(force=-2.0, position_gain=3.0, target_length=1.5)
    angle = result.add_fixed_tendon("angle", [JointTerm("j")], Properties(damping=0.1))
    twice = result.add_fixed_tendon("twice", [JointTerm("j", 2.0)])
    result.add_coupling("c", twice, angle, CouplingProperties((0.0, 2.0, 0.0, 0.0, 0.0)))
    return result


def test_defaults_of_a_model_change_nothing_of_its_tendons():
    with_defaults, without = world(DEFAULTS), world("")
    for each in (with_defaults, without):
        each.step(100)
    assert np.abs(without.data.qpos[0]) > 1e-3
    assert with_defaults.data.qpos.tolist() == without.data.qpos.tolist()
    assert with_defaults.tendons[0].force == without.tendons[0].force


@pytest.mark.parametrize("field", ["contype", "conaffinity", "margin", "condim"])
def test_guides_collide_with_nothing(field):
    model = world(DEFAULTS).model
    guide = int(np.flatnonzero(model.geom_type == int(mujoco.mjtGeom.mjGEOM_SPHERE))[0])
    expected = {"contype": 0, "conaffinity": 0, "margin": 0.0, "condim": 3}
    assert getattr(model, f"geom_{field}")[guide] == expected[field]

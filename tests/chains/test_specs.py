from __future__ import annotations

import math

import pytest

from tendon_gym import config
from tendon_gym.chains.specs import (
    ActuatorSpec,
    AttachmentSpec,
    RobotSpec,
    SceneObject,
    SceneSpec,
    TableSpec,
)


def die(**changes):
    return SceneObject(**{"name": "die", "shape": "box", "size": (1, 1, 1), **changes})


FAULTS = [
    (lambda: RobotSpec(""), ValueError, "RobotSpec.path"),
    (lambda: RobotSpec(3), TypeError, "RobotSpec.path"),
    (lambda: RobotSpec("a", prefix=None), TypeError, "RobotSpec.prefix"),
    (lambda: RobotSpec("a", position=(0, math.nan, 0)), ValueError, r"RobotSpec.position\[1\]"),
    (lambda: RobotSpec("a", quaternion=(0, 0, 0, 0)), ValueError, "RobotSpec.quaternion"),
    (lambda: RobotSpec("a", quaternion=(1, 0, 0)), ValueError, "RobotSpec.quaternion"),
    (lambda: RobotSpec("a", attachments=("b",)), TypeError, r"RobotSpec.attachments\[0\]"),
    (lambda: RobotSpec("a", packages="b"), TypeError, "RobotSpec.packages"),
    (lambda: RobotSpec("a", home=[1]), TypeError, "RobotSpec.home"),
    (lambda: RobotSpec("a", home={"j": math.inf}), ValueError, r"RobotSpec.home\['j'\]"),
    (lambda: RobotSpec("a", home={3: 1.0}), TypeError, r"RobotSpec.home must have names.*got 3"),
    (lambda: RobotSpec("a", home={"j": True}), TypeError, r"RobotSpec.home\['j'\]"),
    (lambda: RobotSpec("a", position=[True, 0, 0]), TypeError, "RobotSpec.position"),
    (lambda: RobotSpec("a", force_torque=(1,)), TypeError, r"RobotSpec.force_torque\[0\]"),
    (lambda: AttachmentSpec("a", ""), ValueError, "AttachmentSpec.attach_to"),
    (lambda: AttachmentSpec("a", "b", exclusions=(("x",),)), TypeError, r"exclusions\[0\]"),
    (lambda: ActuatorSpec(("force",)), ValueError, r"ActuatorSpec.modes\[0\].*torque"),
    (lambda: ActuatorSpec(("torque",), stiffness=0), ValueError, "ActuatorSpec.stiffness"),
    (lambda: TableSpec(position=(0, 0, 0.01)), ValueError, r"TableSpec.position\[2\]"),
    (lambda: TableSpec(rgba=(2, 0, 0, 0)), ValueError, r"TableSpec.rgba\[0\]"),
    (lambda: TableSpec(leg_radius=1), ValueError, "TableSpec.leg_radius"),
    (lambda: die(shape="cone"), ValueError, "SceneObject.shape"),
    (lambda: die(size=(1, 1)), ValueError, "SceneObject.size"),
    (lambda: die(mass=0), ValueError, "SceneObject.mass"),
    (lambda: die(condim=2), ValueError, "SceneObject.condim"),
    (lambda: die(fixed=1), TypeError, "SceneObject.fixed"),
    (lambda: SceneSpec(robots=("a",)), TypeError, r"SceneSpec.robots\[0\]"),
    (lambda: SceneSpec(timestep=0), ValueError, "SceneSpec.timestep"),
    (lambda: SceneSpec(table=1), TypeError, "SceneSpec.table"),
    (
        lambda: SceneSpec((RobotSpec("a", "p"), RobotSpec("b", "p"))),
        ValueError,
        r"SceneSpec.robots\[1\].prefix must differ from that of \[0\], got 'p'",
    ),
    (lambda: SceneSpec(objects=(die(), die())), ValueError, r"SceneSpec.objects\[1\].name"),
]


@pytest.mark.parametrize(("make", "kind", "message"), FAULTS)
def test_bad_values_are_named(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


def test_a_scene_is_plain_nested_values():
    tool = AttachmentSpec("tool.xml", "flange", exclusions=(("a", "b"),))
    actuators = (ActuatorSpec(("torque",), ("j",)),)
    robot = RobotSpec("arm.xml", "r_", (1, 2, 3), attachments=(tool,), actuators=actuators)
    spec = SceneSpec((robot, RobotSpec("b.urdf", home={"j": 1.0})), TableSpec(), (die(),))
    assert config.from_dict(SceneSpec, config.to_dict(spec)) == spec

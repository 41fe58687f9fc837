"""The chains that must pass every check: random ones, and Panda, UR5, Jaco and Fetch.

All end in a gripper of two fingers, which is carried and whose joints are not the chain's. The
random chains stand on tilted bases, have reference positions and armature, a slide among hinges, a
massive body without a joint in between, and twigs of several kinds of joints. The real ones are as
in their files, but UR5 and Jaco, which have no gripper of that kind there, are given one.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from tendon_gym.chains import Chain, Robot
from tests.chains.comparisons import Simulation, pairs, random_state
from tests.chains.oracles import Kdl, branches_of, pinocchio_of
from tests.chains.random_trees import (
    BALL,
    HINGE,
    LINKS,
    SLIDE,
    add_base,
    add_body,
    add_tool,
    new_spec,
    random_qpos,
)
from tests.chains.real_robots import MJCF, URDF, load_spec

OFF = mujoco.mjtDisableBit
PASSIVE = int(OFF.mjDSBL_CONSTRAINT) | int(OFF.mjDSBL_SPRING) | int(OFF.mjDSBL_DAMPER)


@dataclass(frozen=True)
class Subject:
    """A chain to be tested: how its model is described, and its names there."""

    name: str
    spec: Callable[[], mujoco.MjSpec]
    base: str
    tip: str
    tool: str
    fingers: tuple[str, str]
    n_joints: int

    def joint_names(self):
        return Chain.from_model(self.spec().compile(), self.base, self.tip).joint_names


def random_subject(seed):
    """Return a random chain of six hinges, with a slide and a body without a joint among them."""

    def spec():
        rng = np.random.default_rng(seed)
        result = new_spec(rng)
        inner = ["hinge"] * 4 + ["slide", "none"]
        rng.shuffle(inner)
        body = add_base(result, "fixed", rng)
        for k, kind in enumerate(["hinge", *inner, "hinge"]):
            body = add_body(body, f"link{k}", LINKS[kind], rng)
            if k < 3:
                twig = add_body(body, f"twig{k}", [(HINGE, BALL, SLIDE)[k]], rng)
                add_body(twig, f"leaf{k}", [HINGE], rng)
        add_tool(body, rng)
        return result

    return Subject(f"random {seed}", spec, "base", "link7", "tool", ("left_0", "right_0"), 7)


def real_subject(robot, base, tip, tool, fingers, joints):
    def spec():
        result = load_spec(robot)
        if tool == "tool":
            add_tool(result.body(tip), np.random.default_rng(0))
        return result

    return Subject(robot.name, spec, base, tip, tool, fingers, joints)


PANDA, UR5, JACO = URDF
SUBJECTS = (
    *(random_subject(seed) for seed in range(4)),
    real_subject(
        PANDA,
        "panda_link0",
        "panda_link8",
        "panda_hand",
        ("panda_finger_joint1", "panda_finger_joint2"),
        7,
    ),
    real_subject(UR5, "base_link", "wrist_3_link", "tool", ("left_0", "right_0"), 6),
    real_subject(JACO, "base", "j2s6s200_link_6", "tool", ("left_0", "right_0"), 6),
    real_subject(
        MJCF[0],
        "robot0:base_link",
        "robot0:wrist_roll_link",
        "robot0:gripper_link",
        ("robot0:l_gripper_finger_joint", "robot0:r_gripper_finger_joint"),
        8,
    ),
)


class Stage:
    """A subject's model and data, all joints somewhere, its chain, and who knows about it."""

    def __init__(self, model, subject, prefix=""):
        """Put the joints off the chain at random places; passive forces are disabled."""
        self.model, self.subject, self.prefix = model, subject, prefix
        model.opt.disableflags |= PASSIVE
        self.data, self.rng = mujoco.MjData(model), np.random.default_rng(0)
        self.data.qpos[:] = random_qpos(model, self.rng)
        self.compare()

    def compare(self):
        """Make the chain and its oracles for the other joints as data has them now."""
        mujoco.mj_forward(self.model, self.data)
        self.chain = self.chain_of(tool_body=self.subject.tool, branches=True)
        assert self.chain.n_joints == self.subject.n_joints
        self.oracles = [Simulation(self.chain, self.data)]
        lumps = branches_of(self.chain, self.data)
        for make, module in ((pinocchio_of, "pinocchio"), (Kdl, "PyKDL")):
            if importlib.util.find_spec(module):
                library = importlib.import_module(module)
                self.oracles.append(make(library, self.chain, self.data, lumps))

    def chain_of(self, **options):
        ends = (self.subject.base, self.subject.tip, self.prefix)
        return Chain.from_model(self.model, *ends, qpos=self.data.qpos, **options)

    def open_fingers(self, by):
        for finger in self.subject.fingers:
            self.data.joint(self.prefix + finger).qpos[0] += by

    def states(self):
        """Return 20 random (q, v, a): (20, 3, n_joints)."""
        return np.array([random_state(self.chain, self.rng) for _ in range(20)])

    def worst(self, name):
        """Return the largest difference of a method to the oracles' over random states."""
        differences = [
            np.subtract(*pairs(self.chain, oracle, name, state))
            for state in self.states()
            for oracle in self.oracles
            if name in oracle.TOLERANCES
        ]
        return np.abs(differences).max()


def stage_of(subject, tilt=None, **of_joints):
    """Return a stage; tilt: how the base stands in its parent; fields of the chain's joints."""
    spec = subject.spec()
    if tilt is not None:
        spec.body(subject.base).quat = tilt
    for name in subject.joint_names() if of_joints else ():
        for field, value in of_joints.items():
            setattr(spec.joint(name), field, value)
    return Stage(spec.compile(), subject)


def drive(spec, joints, kinds):
    """Add actuators of some kinds to joints: stiff springs, dampers, motors."""
    for kind in kinds:
        for name in joints:
            actuator = spec.add_actuator(name=f"{name}_{kind}", target=name)
            actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
            if kind == "position":
                actuator.set_to_position(kp=2e4, kv=1e3)
            elif kind == "velocity":
                actuator.set_to_velocity(kv=1e3)
            else:
                actuator.set_to_motor()


def robot_of(subject, kinds=(), prepare=None):
    """Return a robot in the air, all joints but its own welded, its own somewhere."""
    spec, own = subject.spec(), subject.joint_names()
    for joint in spec.joints:
        if joint.name not in own:
            spec.delete(joint)
    for equality in spec.equalities:
        spec.delete(equality)
    drive(spec, own, kinds)
    if prepare is not None:
        prepare(spec)
    spec.option.timestep = 0.002
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.disableflags |= PASSIVE
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = np.random.default_rng(5).uniform(-1, 1, model.nq)
    names = {"base_body": subject.base, "tip_body": subject.tip, "tool_body": subject.tool}
    return Robot.from_mjcf(model, data, **names, branches=True)

"""Whole random trees of bodies for Hypothesis, with a chain in them, and what MuJoCo makes of it.

A tree has a base (the world, a tilted body, one that floats, or one on joints of its own), a path
of hinge, slide and jointless bodies from it, branches of all kinds of joints that hang on the path,
and perhaps a two-finger tool at its end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import mujoco
import numpy as np
from hypothesis import strategies as st

from tendon_gym.chains import Chain

HINGE, SLIDE = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
BALL, FREE = mujoco.mjtJoint.mjJNT_BALL, mujoco.mjtJoint.mjJNT_FREE
LINKS = {"none": [], "hinge": [HINGE], "slide": [SLIDE]}
COMPOUND = {**LINKS, "universal": [HINGE, HINGE], "three": [SLIDE, HINGE, SLIDE]}
BRANCHES = {**COMPOUND, "ball": [BALL]}
BASES = ("world", "fixed", "floating", "jointed")


@dataclass
class Tree:
    """A model with a chain in it, and a state of it."""

    spec: mujoco.MjSpec
    base: str
    tip: str
    tool: str | None
    rng: np.random.Generator
    model: mujoco.MjModel = field(init=False)
    data: mujoco.MjData = field(init=False)

    def __post_init__(self):
        self.model = self.spec.compile()
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:] = random_qpos(self.model, self.rng)
        mujoco.mj_forward(self.model, self.data)

    def chain(self, **options):
        """Return the chain, everything locked as in the state."""
        options = {"branches": True, "tool_body": self.tool, "qpos": self.data.qpos, **options}
        return Chain.from_model(self.model, self.base, self.tip, **options)


def random_qpos(model, rng):
    """Return positions (nq,) of all joints, quaternions of unit length."""
    qpos = rng.uniform(-1.5, 1.5, model.nq)
    for kind, at in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        if kind in (int(BALL), int(FREE)):
            first = at + 3 * (kind == int(FREE))
            qpos[first : first + 4] = unit(rng, 4)
    return qpos


def unit(rng, size):
    vector = rng.normal(size=size)
    return vector / np.linalg.norm(vector)


def add_body(parent, name, joints, rng, massless=False):
    """Add a body with random pose, inertia and joints, and return it."""
    body = parent.add_body(name=name, pos=rng.uniform(-0.3, 0.3, 3), quat=unit(rng, 4))
    body.explicitinertial = True
    if not massless:
        body.mass = rng.uniform(0.2, 3)
        body.ipos, body.iquat = rng.uniform(-0.2, 0.2, 3), unit(rng, 4)
        spread = rng.uniform(0.002, 0.05, 3)
        body.inertia = spread.sum() - spread
    for k, kind in enumerate(joints):
        joint = body.add_joint(name=f"{name}_{k}", type=kind)
        if kind in (HINGE, SLIDE):
            joint.axis, joint.ref = unit(rng, 3), rng.uniform(-0.6, 0.6)
        joint.pos, joint.armature = rng.uniform(-0.2, 0.2, 3), rng.choice([0, 0.3])
    return body


def add_tool(tip, rng, prefix=""):
    """Add a gripper of two fingers below a mount, and return its root's name."""
    mount = add_body(tip, prefix + "mount", [], rng)
    tool = add_body(mount, prefix + "tool", [], rng)
    for side in ("left", "right"):
        add_body(tool, prefix + side, [SLIDE], rng)
    return prefix + "tool"


def new_spec(rng):
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.gravity = rng.uniform(-10, 10, 3)
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    return spec


def add_base(spec, kind, rng, prefix=""):
    """Add a base of one of BASES, and return it."""
    if kind == "world":
        return spec.worldbody
    if kind == "jointed":
        carriage = add_body(spec.worldbody, prefix + "carriage", [SLIDE, HINGE], rng)
        return add_body(carriage, prefix + "base", [BALL], rng)
    return add_body(spec.worldbody, prefix + "base", [FREE] * (kind == "floating"), rng)


def grow(draw, bases, least, most, links):
    """Return a spec, the bodies of its path from the base, the tool's name, and a generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spec = new_spec(rng)
    path = [add_base(spec, draw(st.sampled_from(bases)), rng)]
    kinds = draw(st.lists(st.sampled_from(links), min_size=least, max_size=most))
    for k, kind in enumerate(kinds):
        massless = kind == "none" and bool(rng.integers(2))
        path.append(add_body(path[-1], f"link{k}", COMPOUND[kind], rng, massless))
    branches = draw(st.lists(st.tuples(st.integers(0, 99), st.sampled_from(list(BRANCHES)))))
    twigs = path[1:]
    for k, (where, kind) in enumerate(branches[:5]):
        if twigs:
            twigs.append(add_body(twigs[where % len(twigs)], f"branch{k}", BRANCHES[kind], rng))
    tool = add_tool(path[-1], rng) if draw(st.booleans()) and len(path) > 1 else None
    return spec, path, tool, rng


@st.composite
def trees(draw, bases=BASES, least=0, most=9, links=tuple(LINKS)):
    """Draw a tree whose path has from `least` to `most` bodies."""
    spec, path, tool, rng = grow(draw, bases, least, most, links)
    return Tree(spec, path[0].name, path[-1].name, tool, rng)


def trees_example(seed=0):
    """Return one tree with seven joints, two jointless bodies, branches and a tool."""
    rng = np.random.default_rng(seed)
    spec = new_spec(rng)
    body = add_base(spec, "fixed", rng)
    kinds = ["hinge", "hinge", "none", "slide", "hinge", "none", "hinge", "hinge", "hinge"]
    for k, kind in enumerate(kinds):
        body = add_body(body, f"link{k}", LINKS[kind], rng)
    return Tree(spec, "base", body.name, add_tool(body, rng), rng)


FAULTS = (
    "ball",
    "free",
    "two joints",
    "unnamed joint",
    "unknown base",
    "unknown tip",
    "unknown tool",
    "unknown site",
    "unknown prefix",
    "upside down",
    "tool on the chain",
    "tool elsewhere",
    "site elsewhere",
)


@st.composite
def faulty_trees(draw):
    """Draw a tree with one fault: its model, the names of a chain, and what a message must say."""
    fault = draw(st.sampled_from(FAULTS))
    bases = ("world",) if fault == "free" else BASES
    spec, path, tool, rng = grow(draw, bases, 1, 6, tuple(LINKS))
    names = {"base_body": path[0].name, "tip_body": path[-1].name, "tool_body": tool}
    said = "nobody"
    if fault in ("ball", "free", "two joints", "unnamed joint"):
        kinds = {"ball": [BALL], "free": [FREE], "two joints": [HINGE, SLIDE]}.get(fault, [HINGE])
        odd = add_body(path[0] if fault == "free" else path[-1], "odd", kinds, rng)
        if fault == "unnamed joint":
            odd.joints[0].name = ""
        names |= {"tip_body": add_body(odd, "below", [HINGE], rng).name, "tool_body": None}
        said = "'odd'"
    elif fault.startswith("unknown"):
        what = fault.removeprefix("unknown ")
        key = {"site": "tip_site", "prefix": "prefix"}.get(what, f"{what}_body")
        names[key] = "nobody"
    elif fault == "upside down":
        names |= {"base_body": path[-1].name, "tip_body": path[0].name, "tool_body": None}
        said = f"'{path[0].name}' is not below"
    elif fault == "tool on the chain":
        names["tool_body"] = said = path[rng.integers(len(path))].name
    elif fault == "tool elsewhere":
        names["base_body"], names["tip_body"] = path[-1].name, path[-1].name
        names["tool_body"] = said = add_body(spec.worldbody, "elsewhere", [HINGE], rng).name
    else:
        path[0].add_site(name="elsewhere")
        names["tip_site"] = said = "elsewhere"
    return spec.compile(), names, said

"""Finding a chain in a compiled model: bodies and sites by name, and what can't be a chain."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco

from tendon_gym import checks
from tendon_gym.chains.segments import Path, joints_of

_BODY = mujoco.mjtObj.mjOBJ_BODY
_JOINT = mujoco.mjtObj.mjOBJ_JOINT
_SITE = mujoco.mjtObj.mjOBJ_SITE
_SCALAR = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


@dataclass(frozen=True)
class Names:
    """What a chain is made of; see `Chain.from_model`."""

    base_body: str
    tip_body: str
    prefix: str = ""
    tool_body: str | None = None
    tip_site: str | None = None
    branches: bool = False
    compound: bool = False


def find_path(model: mujoco.MjModel, names: Names) -> Path:
    """Return the chain between two bodies; what is wrong raises ValueError and names the element.

    Names are looked up with the prefix in front, all but that of the world.
    """
    if not isinstance(model, mujoco.MjModel):
        raise TypeError(f"model must be a mujoco.MjModel, got {checks.shown(model)}")
    prefix = names.prefix
    if not isinstance(prefix, str):
        raise TypeError(f"prefix must be a string, got {checks.shown(prefix)}")
    base = find_body(model, "base_body", names.base_body, prefix)
    tip = find_body(model, "tip_body", names.tip_body, prefix)
    bodies = _bodies_between(model, base, tip)
    compound = checks.flag("compound", names.compound)
    joints = [joint for body in bodies for joint in _joints_on(model, body, compound)]
    path = {base, *bodies}
    counted, between = set(), set()
    if checks.flag("branches", names.branches):
        counted = _subtree(model, set(bodies), path)  # what hangs on the base stands still
    if names.tool_body is not None:
        tool = find_body(model, "tool_body", names.tool_body, prefix)
        of_tool, between = _tool(model, tool, base, path)
        counted |= of_tool
    return Path(
        base,
        bodies,
        joints=tuple(joints),
        tip_site=-1 if names.tip_site is None else _site_on(model, tip, names.tip_site, prefix),
        off=tuple(sorted(counted | between)),
        counted=frozenset({*bodies, *counted}),
    )


def _site_on(model: mujoco.MjModel, body: int, name: str, prefix: str) -> int:
    """Return the index of a site that must be on a body."""
    site = _find(model, _SITE, "tip_site", prefix, name)
    holder = int(model.site_bodyid[site])
    if holder != body:
        where, other = label(model, _BODY, body), label(model, _BODY, holder)
        raise ValueError(f"tip_site must be a site of {where}, got {prefix + name!r} of {other}")
    return site


def label(model: mujoco.MjModel, kind: mujoco.mjtObj, index: int) -> str:
    """Return how messages call an element: its name, or its number if it has none."""
    word = kind.name.removeprefix("mjOBJ_").lower()
    name = mujoco.mj_id2name(model, kind, index)
    return f"{word} {name!r}" if name else f"the unnamed {word} {index}"


def find_body(model: mujoco.MjModel, what: str, name: str, prefix: str = "") -> int:
    """Return the index of a body by its name without prefix."""
    if name == "world":
        return 0
    return _find(model, _BODY, what, prefix, name)


def _find(model: mujoco.MjModel, kind: mujoco.mjtObj, what: str, prefix: str, name: str) -> int:
    if not isinstance(name, str):
        raise TypeError(f"{what} must be a string, got {checks.shown(name)}")
    counts = {_BODY: model.nbody, _SITE: model.nsite}
    names = [mujoco.mj_id2name(model, kind, k) for k in range(counts[kind])]
    full = prefix + name
    if not name or full not in names:
        word = kind.name.removeprefix("mjOBJ_").lower()
        legal = sorted(other for other in names if other and other.startswith(prefix))
        words = checks.shown(", ".join(legal)) if legal else "none"
        raise ValueError(f"{what}: the model has no {word} {full!r}; it has {words}")
    return names.index(full)


def _bodies_between(model: mujoco.MjModel, base: int, tip: int) -> tuple[int, ...]:
    """Return the bodies from the first below the base to the tip."""
    bodies, body = [], tip
    while body != base:
        if body == 0:
            raise ValueError(
                f"tip_body must be below base_body, and {label(model, _BODY, tip)} "
                f"is not below {label(model, _BODY, base)}"
            )
        bodies.append(body)
        body = int(model.body_parentid[body])
    return tuple(reversed(bodies))


def _joints_on(model: mujoco.MjModel, body: int, compound: bool) -> range:
    """Return a chain body's joints: one at most, unless they may be several."""
    joints, where = joints_of(model, body), label(model, _BODY, body)
    if len(joints) > 1 and not compound:
        raise ValueError(
            f"{where} has {len(joints)} joints; on a chain a body may have one, unless compound"
        )
    for joint in joints:
        kind = mujoco.mjtJoint(int(model.jnt_type[joint]))
        if kind not in _SCALAR:
            word = kind.name.removeprefix("mjJNT_").lower()
            raise ValueError(
                f"{label(model, _JOINT, joint)} of {where} is a {word} joint; "
                "on a chain joints must be hinge or slide"
            )
        if not mujoco.mj_id2name(model, _JOINT, joint):
            raise ValueError(f"a joint of {where} has no name; on a chain joints must have one")
    return joints


def _subtree(model: mujoco.MjModel, roots: set[int], without: set[int]) -> set[int]:
    """Return what hangs on some bodies, with neither them nor others and what hangs on those."""
    tree: set[int] = set()
    for body in range(1, model.nbody):  # parents come before their children
        parent = int(model.body_parentid[body])
        if (parent in roots or parent in tree) and body not in without:
            tree.add(body)
    return tree


def _tool(model: mujoco.MjModel, tool: int, base: int, path: set[int]) -> tuple[set[int], set[int]]:
    """Return the bodies of a tool, and those between it and the chain."""
    where = label(model, _BODY, tool)
    if tool in path:
        raise ValueError(f"tool_body must not be on the chain, and {where} is")
    between, body = set(), int(model.body_parentid[tool])
    while body not in path:
        if body == 0:
            root = label(model, _BODY, base)
            raise ValueError(f"tool_body must be below base_body, and {where} is not below {root}")
        between.add(body)
        body = int(model.body_parentid[body])
    return {tool} | _subtree(model, {tool}, set()), between

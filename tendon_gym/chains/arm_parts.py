"""The parts of a soft arm in a model: joints below a body, a site that they move, tendons."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks

_SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


def check_on_arm(model: mujoco.MjModel, site: int, joints: NDArray[np.intp], name: str) -> None:
    """Raise if none of the joints moves a site."""
    body = int(model.site_bodyid[site])
    while body > 0 and body not in model.jnt_bodyid[joints]:
        body = int(model.body_parentid[body])
    if body == 0:
        raise ValueError(f"tip_site {name!r} must be on the arm: none of its joints moves it")


def index_of(model: mujoco.MjModel, kind: mujoco.mjtObj, what: str, name: str) -> int:
    """Return the index of a named element, or raise."""
    if not isinstance(name, str):
        raise TypeError(f"{what} must be a name, got {checks.shown(name)}")
    index = mujoco.mj_name2id(model, kind, name)
    if index < 0:
        word = kind.name.removeprefix("mjOBJ_").lower()
        raise ValueError(f"{what}: the model has no {word} {name!r}")
    return index


def entries_of(model: mujoco.MjModel, tendons: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return row, column and place of all entries of the tendons' sparse Jacobian."""
    counts = model.ten_J_rownnz[tendons]
    place = [
        np.arange(start, start + count)
        for start, count in zip(model.ten_J_rowadr[tendons], counts, strict=True)
    ]
    places = np.concatenate([np.zeros(0, np.intp), *place]).astype(np.intp)
    return np.repeat(np.arange(len(tendons)), counts), model.ten_J_colind.ravel()[places], places


def joints_below(model: mujoco.MjModel, base: int) -> NDArray[np.intp]:
    """Return the joints of all bodies below a body."""
    below = {base}
    for body in range(base + 1, model.nbody):  # parents come before their children
        if int(model.body_parentid[body]) in below:
            below.add(body)
    joints = [k for k in range(model.njnt) if model.jnt_bodyid[k] in below - {base}]
    for k in joints:
        if model.jnt_type[k] not in _SCALAR:
            raise ValueError(f"joint {model.joint(k).name!r} of the arm is neither hinge nor slide")
    if not joints:
        raise ValueError(f"there are no joints below body {model.body(base).name!r}")
    return np.array(joints, np.intp)

"""Where the sites of tendons are: body and local pose, by the names of a model.

Everything is looked up when a tendon is made, so that no name reaches MuJoCo that it doesn't know.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.tendons.path import Cylinder, JointTerm, PathElement, Site, Sphere, Via

_OBJECTS = {
    "body": mujoco.mjtObj.mjOBJ_BODY,
    "site": mujoco.mjtObj.mjOBJ_SITE,
    "flex": mujoco.mjtObj.mjOBJ_FLEX,
}
_SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


class Place(NamedTuple):
    """A pose on a body: its index, and in its frame the position (3,), m, and quaternion (4,)."""

    body: int
    position: NDArray[np.float64]
    quaternion: NDArray[np.float64]


class Places:
    """The bodies, sites, frames, flexes and joints of a spec, by name."""

    def __init__(self, spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
        """Look things up in `spec`, which compiles to `model`."""
        self._spec, self._model = spec, model
        self._frames: dict[str, Place] = {}

    def of(self, site: Site) -> Place:
        """Return the body of a site and the site's pose in the frame of that body.

        Raises:
            ValueError: the model has nothing of that name, or the flex no such vertex.
        """
        base = self._base(site)
        position, point = np.empty(3), np.array(site.position)
        mujoco.mju_rotVecQuat(position, point, base.quaternion)
        return base._replace(position=base.position + position)

    def check_path(self, path: tuple[PathElement, ...]) -> None:
        """Raise if an element of a path is on something that the model hasn't."""
        for k, element in enumerate(path):
            try:
                for site in sites_of(element):
                    self.of(site)
            except ValueError as error:
                raise ValueError(f"path[{k}]: {error}") from error

    def check_joint(self, name: str) -> None:
        """Raise if a name is not that of a hinge or slide joint."""
        model = self._model
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint < 0 or int(model.jnt_type[joint]) not in _SCALAR:
            legal = [
                model.joint(j).name for j in range(model.njnt) if int(model.jnt_type[j]) in _SCALAR
            ]
            checks.reject("joint", name, "a hinge or slide joint: " + _listed(legal))

    def in_one_chain(self, path: tuple[PathElement, ...], joints: tuple[JointTerm, ...]) -> bool:
        """Say whether all joints that move a path, or those of a fixed tendon, are in one chain."""
        model = self._model
        ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, term.joint) for term in joints]
        last = {int(model.jnt_dofadr[joint]) for joint in ids}
        for site in itertools.chain.from_iterable(map(sites_of, path)):
            body = int(model.body_weldid[self.of(site).body])
            if model.body_dofnum[body]:
                last.add(int(model.body_dofadr[body] + model.body_dofnum[body] - 1))
        chain, dof = set(), max(last, default=-1)  # parents come before their children
        while dof >= 0:
            chain.add(dof)
            dof = int(model.dof_parentid[dof])
        return last <= chain

    def _base(self, site: Site) -> Place:
        """Return the place of the origin that the position of a site refers to."""
        identity, name = np.array([1.0, 0.0, 0.0, 0.0]), site.name
        if name is None:
            return Place(0, np.zeros(3), identity)
        if site.kind == "frame":
            return self._frame(name)
        kind = str(site.kind)
        index = mujoco.mj_name2id(self._model, _OBJECTS[kind], name)
        if index < 0:
            raise self._unknown(kind, name)
        model = self._model
        if kind == "body":
            return Place(index, np.zeros(3), identity)
        if kind == "site":
            return Place(
                int(model.site_bodyid[index]),
                model.site_pos[index].copy(),
                model.site_quat[index].copy(),
            )
        return self._vertex(site, index)

    def _vertex(self, site: Site, flex: int) -> Place:
        model = self._model
        count = int(model.flex_vertnum[flex])
        name = f"vertex of the flex {site.name}"
        vertex = int(model.flex_vertadr[flex]) + checks.integer(
            name, site.vertex, minimum=0, maximum=count - 1
        )
        body = int(model.flex_vertbodyid[vertex])
        if body < 0:
            raise ValueError(f"the vertices of the flex {site.name} have no bodies of their own")
        return Place(body, model.flex_vert[vertex].copy(), np.array([1.0, 0.0, 0.0, 0.0]))

    def _frame(self, name: str) -> Place:
        """Return the place of a frame, by a site that a copy of the spec gets there."""
        if name not in self._frames:
            spec = self._spec.copy()
            frame = spec.frame(name)
            if frame is None:
                raise self._unknown("frame", name)
            probe = frame.parent.add_site(name=f"tendon_frame:{name}")
            probe.set_frame(frame)
            model = spec.compile()
            site = model.site(probe.name)
            self._frames[name] = Place(
                int(model.site_bodyid[site.id]), site.pos.copy(), site.quat.copy()
            )
        return self._frames[name]

    def _unknown(self, kind: str, name: str) -> ValueError:
        named = {
            "body": [body.name for body in self._spec.bodies],
            "site": [site.name for site in self._spec.sites],
            "frame": [frame.name for frame in self._spec.frames],
            "flex": [flex.name for flex in self._spec.flexes],
        }
        others = [other for other, names in named.items() if other != kind and name in names]
        hint = f" (there is a {others[0]} of that name)" if others else ""
        legal = _listed(named[kind]) + hint
        return ValueError(f"{kind} must be one of {legal}, got {checks.shown(name)}")


def sites_of(element: PathElement) -> list[Site]:
    """Return the sites that an element of a path refers to."""
    if isinstance(element, Via):
        return [element.site]
    if isinstance(element, (Sphere, Cylinder)):
        return [element.center] + ([element.side] if element.side is not None else [])
    return []


def _listed(names: list[str]) -> str:
    return ", ".join(filter(None, names)) or "nothing"

"""Scene: robots, a table and objects in one compiled model, with objects that come and go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.chains.assembly import assemble
from tendon_gym.chains.carrying import Survivors, carry_state
from tendon_gym.chains.furniture import add_object
from tendon_gym.chains.home import go_home
from tendon_gym.chains.lifetimes import retire
from tendon_gym.chains.segments import Pose
from tendon_gym.chains.specs import SceneObject, SceneSpec

_SITE = mujoco.mjtObj.mjOBJ_SITE
_FORCE, _TORQUE = mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE


class Scene:
    """A compiled scene and its simulation.

    Keyframe 0, "scene", has every robot at home, position actuators holding it, and all objects
    at their places; the simulation starts there.

    Adding or removing an object makes a new model and new data and keeps the state of all else;
    changes that were made to the old model's own numbers are lost. A `Robot` on the old model
    raises RuntimeError from then on. Where adding or removing fails, everything stays as it was.

    Attributes:
        spec: what the scene is made of at present.
        model: the compiled model.
        data: its simulation.
    """

    def __init__(self, spec: SceneSpec) -> None:
        """Build the scene.

        Args:
            spec: what it is made of.

        Raises:
            TypeError: not a SceneSpec.
            ValueError: a file, name or value that MuJoCo can't build a model from.
        """
        if not isinstance(spec, SceneSpec):
            raise TypeError(f"spec must be a SceneSpec, got {checks.shown(spec)}")
        self.spec = spec
        self._editable, parts = assemble(spec)
        self.model = _compile(self._editable)
        self.data = mujoco.MjData(self.model)
        for part in parts:
            go_home(self._editable, self.model, self.data, part)
        self._set_start()

    def add_object(self, item: SceneObject) -> None:
        """Add an object at its place, at rest.

        Raises:
            TypeError: not a SceneObject.
            ValueError: a name that the scene has already.
        """
        if not isinstance(item, SceneObject):
            raise TypeError(f"item must be a SceneObject, got {checks.shown(item)}")
        if mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, item.name) >= 0:
            raise ValueError(f"the scene has a body {item.name!r} already")
        editable = self._editable.copy()
        add_object(editable, item)
        objects = (*self.spec.objects, item)
        self._become(editable, objects, f"{item.name!r} was added", come=[item.name])

    def remove_object(self, name: str) -> None:
        """Remove an object.

        Raises:
            ValueError: not the name of an object of the scene.
        """
        checks.choice("object", name, [item.name for item in self.spec.objects])
        editable = self._editable.copy()
        editable.delete(editable.body(name))
        kept = tuple(item for item in self.spec.objects if item.name != name)
        self._become(editable, kept, f"{name!r} was removed", gone=[name])

    def _set_start(self) -> None:
        """Make the data's positions, mocap poses and controls keyframe 0, and start there."""
        model, data, key = self.model, self.data, self._editable.keys[0]
        start = {name: getattr(data, name) for name in ("qpos", "ctrl", "act")}
        start |= {"mpos": data.mocap_pos.ravel(), "mquat": data.mocap_quat.ravel()}
        for name, values in start.items():
            setattr(key, name, values)
            getattr(model, f"key_{name}")[0] = values
        mujoco.mj_resetDataKeyframe(model, data, 0)
        mujoco.mj_forward(model, data)

    def _become(
        self,
        editable: mujoco.MjSpec,
        objects: tuple[SceneObject, ...],
        reason: str,
        gone: Sequence[str] = (),
        come: Sequence[str] = (),
    ) -> None:
        """Go over to a scene with other objects: carry the state over, retire the old model."""
        spec = replace(self.spec, objects=objects)
        model = _compile(editable)
        data = mujoco.MjData(model)
        carry_state(self.data, Survivors(self.model, gone), data, Survivors(model, come))
        mujoco.mj_forward(model, data)
        retire(self.model, reason)
        self.spec, self._editable, self.model, self.data = spec, editable, model, data

    def save_xml(self, path: str | PathLike[str]) -> None:
        """Write the scene as one MJCF file: numbers to six digits, assets by absolute paths.

        Masses and inertias are written out, whatever they came from.
        """
        if not isinstance(path, (str, PathLike)):
            raise TypeError(f"path must be a path, got {checks.shown(path)}")
        editable = self._editable.copy()
        editable.compiler.saveinertial = True
        editable.compile()
        Path(path).write_text(editable.to_xml(), encoding="utf-8")

    def body_frame(self, name: str) -> Pose:
        """Return a body's position (3,) and rotation (3, 3) in the world.

        As of the last forward pass over the data.
        """
        body = self.data.body(_known(self.model, mujoco.mjtObj.mjOBJ_BODY, name))
        return Pose(body.xpos.copy(), body.xmat.reshape(3, 3).copy())

    def site_frame(self, name: str) -> Pose:
        """Return a site's position (3,) and rotation (3, 3) in the world.

        As of the last forward pass over the data.
        """
        site = self.data.site(_known(self.model, _SITE, name))
        return Pose(site.xpos.copy(), site.xmat.reshape(3, 3).copy())

    def wrench(self, site: str) -> NDArray[np.float64]:
        """Return what a force-torque sensor reads: force (N), then torque (N m), (6,).

        It is the wrench that the side of the site's body, which the tool is on, exerts on the side
        of its parent, at the site, in the site's axes: under a tool that hangs at rest it reads the
        tool's weight, pointing down. (MuJoCo's own sensors have the opposite sign.) As of the last
        forward pass over the data.

        Args:
            site: a site with a force and a torque sensor. Those of `RobotSpec.force_torque` are
                called "<prefix><body>_ft".

        Raises:
            ValueError: no site, or one without the two sensors.
        """
        index = mujoco.mj_name2id(self.model, _SITE, _known(self.model, _SITE, site))
        return -np.concatenate([self._reading(kind, index, site) for kind in (_FORCE, _TORQUE)])

    def _reading(self, kind: mujoco.mjtSensor, site: int, name: str) -> NDArray[np.float64]:
        model = self.model
        found = np.flatnonzero((model.sensor_type == kind) & (model.sensor_objid == site))
        if not len(found):
            word = "force" if kind == _FORCE else "torque"
            raise ValueError(f"site {name!r} has no {word} sensor")
        start = model.sensor_adr[found[0]]
        return self.data.sensordata[start : start + 3]


def _known(model: mujoco.MjModel, kind: mujoco.mjtObj, name: str) -> str:
    """Return a name that the model has, or raise."""
    word = kind.name.removeprefix("mjOBJ_").lower()
    if not isinstance(name, str):
        raise TypeError(f"{word} must be a name, got {checks.shown(name)}")
    if mujoco.mj_name2id(model, kind, name) < 0:
        raise ValueError(f"the scene has no {word} {name!r}")
    return name


def _compile(editable: mujoco.MjSpec) -> mujoco.MjModel:
    try:
        return editable.compile()
    except ValueError as error:
        raise ValueError(f"the scene can't be compiled: {error}") from error

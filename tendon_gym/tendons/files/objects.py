"""The objects of a native scene and what of a model belongs to each: bodies, joints, actuators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_QPOS = {0: 7, 1: 4, 2: 1, 3: 1}
_QVEL = {0: 6, 1: 3, 2: 1, 3: 1}
"""Numbers of positions and velocities of joints, by their type."""


class Place(NamedTuple):
    """A pose on an object, or on the world with None: in the frame of its body `local_index`."""

    object: str | None
    local_index: int
    position: NDArray[np.float64]
    quaternion: NDArray[np.float64]


@dataclass(frozen=True)
class Held:
    """An object and what it has in a model.

    Attributes:
        name: of the object.
        prefix: that names of its parts have in the model, but not in its own file.
        bodies: ids, in order.
        local: ids by local index; 0 is the world.
        actuators: ids.
        system: whether it is an articulated one.
        height: of a ground, m.
    """

    name: str
    prefix: str = ""
    bodies: tuple[int, ...] = ()
    local: tuple[int, ...] = (0,)
    actuators: range = range(0)
    system: bool = False
    height: float = 0.0


class Objects:
    """The objects of a scene in a compiled model."""

    def __init__(self, model: mujoco.MjModel, objects: list[Held]) -> None:
        self.model = model
        self._by_name = {each.name: each for each in objects}
        self._owner = {body: each for each in objects for body in each.bodies}

    def body(self, name: str, index: int) -> int:
        """Return the id of the body of an object that a local index means.

        Raises:
            ValueError: no such object, or no such body in it.
        """
        held = self._named(name)
        if not 0 <= index < len(held.local):
            checks.reject("local_index", index, f"from 0 to {len(held.local) - 1} for {name}")
        return held.local[index]

    def height(self, name: str) -> float:
        """Return how high above the world's origin the origin of a ground is, m."""
        return self._named(name).height

    def joint(self, name: str, joint: str) -> str:
        """Return the name in the model of a joint of an articulated system.

        Raises:
            ValueError: no such system, or no such hinge or slide joint in it.
        """
        held = self._named(name)
        if not held.system:
            raise ValueError(f"object {checks.shown(name)} is no articulated system")
        joints = [self.model.joint(j).name for j in joints_of(self.model, held.bodies)]
        if held.prefix + joint not in joints:
            legal = [each.removeprefix(held.prefix) for each in joints if each]
            checks.reject("joint", joint, f"a joint of {name}: {', '.join(legal) or 'none'}")
        return held.prefix + joint

    def owner_of_joint(self, joint: str) -> Held:
        """Return the object that has a joint."""
        return self._owner[int(self.model.jnt_bodyid[self.model.joint(joint).id])]

    def place(
        self, body: int, position: NDArray[np.float64], quaternion: NDArray[np.float64]
    ) -> Place:
        """Return a pose on a body as one on the object that the body is of.

        A body that doesn't move against its parent is no body of its own: the pose is then that in
        the frame of the next one above that has a local index.
        """
        model = self.model
        while body:
            held = self._owner[body]
            if body in held.local:
                return Place(held.name, held.local.index(body), position, quaternion)
            moved, turned = np.empty(3), np.empty(4)
            mujoco.mju_rotVecQuat(moved, position, model.body_quat[body])
            mujoco.mju_mulQuat(turned, model.body_quat[body], quaternion)
            position, quaternion = moved + model.body_pos[body], turned
            body = int(model.body_parentid[body])
        return Place(None, 0, position, quaternion)

    def _named(self, name: str) -> Held:
        if name not in self._by_name:
            legal = ", ".join(self._by_name) or "nothing: there are no objects"
            checks.reject("object", name, f"one of {legal}")
        return self._by_name[name]


def local_indices(model: mujoco.MjModel, bodies: tuple[int, ...]) -> tuple[int, ...]:
    """Return the bodies of an articulated system by local index; 0 stands for the world.

    The first is the root: the first body if it floats or is fixed, else the world, which the first
    body is hinged to. The others are those that move against their parents, parents first.
    """
    joints, first = model.body_jntnum, bodies[0] if bodies else 0
    hinged = bool(first and joints[first]) and model.jnt_type[model.body_jntadr[first]] != _FREE
    root = 0 if hinged else first
    moving = [b for b in bodies if b != root and (joints[b] or model.body_mocapid[b] >= 0)]
    return root, *moving


def joints_of(model: mujoco.MjModel, bodies: tuple[int, ...]) -> list[int]:
    """Return the ids of the joints of some bodies."""
    return [j for j in range(model.njnt) if int(model.jnt_bodyid[j]) in set(bodies)]


class Coordinates:
    """The coordinates of an object in a model's qpos and qvel, as native XML has them.

    Angular velocities of what floats are in the frame of the world there, in MuJoCo in that of the
    body.
    """

    def __init__(self, model: mujoco.MjModel, bodies: tuple[int, ...]) -> None:
        joints = joints_of(model, bodies)
        self._free = [j for j in joints if int(model.jnt_type[j]) == _FREE]
        self._model = model
        self.qpos = _addresses(joints, model.jnt_type, model.jnt_qposadr, _QPOS)
        self.qvel = _addresses(joints, model.jnt_type, model.jnt_dofadr, _QVEL)

    def positions(self, data: mujoco.MjData) -> NDArray[np.float64]:
        """Return the positions."""
        return data.qpos[self.qpos]

    def velocities(self, data: mujoco.MjData) -> NDArray[np.float64]:
        """Return the velocities."""
        qvel = data.qvel.copy()
        self._turn(data, qvel, to_world)
        return qvel[self.qvel]

    def write(
        self, data: mujoco.MjData, positions: tuple[float, ...], velocities: tuple[float, ...]
    ) -> None:
        """Set positions and velocities; empty ones stay as they are."""
        if positions:
            data.qpos[self.qpos] = positions
        for joint in self._free:
            start = self._model.jnt_qposadr[joint] + 3
            quaternion = data.qpos[start : start + 4]
            checks.number("the length of a quaternion in qpos", quaternion @ quaternion, above=0.0)
            mujoco.mju_normalize4(quaternion)
        if velocities:
            data.qvel[self.qvel] = velocities
            self._turn(data, data.qvel, to_body)

    def _turn(
        self,
        data: mujoco.MjData,
        qvel: NDArray[np.float64],
        turned: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
    ) -> None:
        for joint in self._free:
            start = self._model.jnt_qposadr[joint] + 3
            spin = self._model.jnt_dofadr[joint] + 3
            quaternion = data.qpos[start : start + 4]
            qvel[spin : spin + 3] = turned(quaternion, qvel[spin : spin + 3].copy())


def to_world(quaternion: NDArray[np.float64], vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a vector of the body's frame in the world's, rounded to 13 digits of its length.

    The rounding makes it the same again after it has been turned back and forth.
    """
    result = np.empty(3)
    mujoco.mju_rotVecQuat(result, vector, quaternion)
    length = float(np.abs(result).max())
    if length > 0.0 and quaternion[1:].any():
        # a third of a power of ten is no number of 13 digits, so that none is near such a border
        result = np.round(result, min(13 - int(np.floor(np.log10(3.0 * length))), 300))
    return result + 0.0  # no negative zeros, which would not last


def to_body(quaternion: NDArray[np.float64], vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a vector of the world's frame in the body's."""
    result, inverse = np.empty(3), np.empty(4)
    mujoco.mju_negQuat(inverse, quaternion)
    mujoco.mju_rotVecQuat(result, vector, inverse)
    return result


def _addresses(
    joints: list[int],
    types: NDArray[np.int32],
    starts: NDArray[np.int32],
    widths: dict[int, int],
) -> NDArray[np.int64]:
    parts = [np.arange(starts[j], starts[j] + widths[int(types[j])]) for j in joints]
    return np.concatenate([*parts, np.empty(0, np.int64)]).astype(np.int64)


def actuator_indices(model: mujoco.MjModel, actuators: range, what: str) -> NDArray[np.int64]:
    """Return where the activations ("act") or controls ("ctrl") of some actuators are."""
    starts = model.actuator_actadr if what == "act" else model.actuator_ctrladr
    counts = model.actuator_actnum if what == "act" else model.actuator_ctrlnum
    parts = [np.arange(starts[k], starts[k] + counts[k]) for k in actuators if counts[k]]
    return np.concatenate([*parts, np.empty(0, np.int64)]).astype(np.int64)


def name_bodies(spec: mujoco.MjSpec) -> None:
    """Give all bodies of a spec that has been compiled names, by which tendons hold on to them."""
    taken = {body.name for body in spec.bodies}
    for body in spec.bodies:
        if not body.name:
            name = f"body_{body.id}"
            while name in taken:
                name += "_"
            body.name = name
            taken.add(name)

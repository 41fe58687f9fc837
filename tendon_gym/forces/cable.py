"""A cable between bodies or the world, over obstacles: see `tendon_gym.cables`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym import cables, checks, config
from tendon_gym.cables import (
    CablePulls,
    CableSpan,
    CableSystem,
    ConstantTension,
    Elastic,
    Winch,
    drives,
    pulls,
)
from tendon_gym.cables.bodies import unit_quaternion
from tendon_gym.cables.drawing import draw
from tendon_gym.compiled import compiled
from tendon_gym.forces import bounds
from tendon_gym.forces.term import Motion, Push, register
from tendon_gym.spatial import Vector, cross, frame_at, to_world, vector_at

KINDS = {"sphere": 1, "cylinder": 1, "ellipsoid": 3, "torus": 2}
"""Kinds of obstacles, and how many radii (m) are the `size` of each."""

SAMPLES = 17
"""Points of a drawn cable along its curve over an obstacle."""

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Station:
    """A point of a body, or of the world, that a cable begins, ends or passes at.

    Attributes:
        body: name.
        station: in its frame, m.
    """

    body: str
    station: Triple = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Reject what is not finite."""
        checks.array("station", self.station, (3,))


@dataclass(frozen=True)
class Obstacle:
    """What a cable wraps over.

    Attributes:
        kind: of KINDS.
        size: radii, m; of a torus those of the ring and of the tube.
        body: name, which may be the world.
        position: of the surface's frame in the body, m.
        quaternion: of that frame, (w, x, y, z); cylinders and tori are about its z axis.
        hint: a point, in that frame, near which the cable touches first, m.
        friction: coefficient.
    """

    kind: Literal["sphere", "cylinder", "ellipsoid", "torus"]
    size: tuple[float, ...]
    body: str = "world"
    position: Triple = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    hint: Triple | None = None
    friction: float = 0.0

    def __post_init__(self) -> None:
        """Reject what no obstacle is."""
        checks.array("size", self.size, (KINDS[checks.choice("kind", self.kind, KINDS)],))
        _ = self.surface
        checks.array("position", self.position, (3,))
        unit_quaternion("quaternion", checks.array("quaternion", self.quaternion, (4,)))
        if self.hint is not None:
            checks.array("hint", self.hint, (3,))
        checks.number("friction", self.friction, minimum=0.0, maximum=pulls.MOST_FRICTION)

    @property
    def surface(self) -> cables.Surface:
        """The surface."""
        if self.kind == "sphere":
            return cables.Sphere(*self.size)
        if self.kind == "cylinder":
            return cables.Cylinder(*self.size)
        if self.kind == "torus":
            return cables.Torus(*self.size)
        return cables.Ellipsoid((self.size[0], self.size[1], self.size[2]))


@dataclass(frozen=True)
class Cable:
    """A cable with its drive.

    Attributes:
        origin: where it begins, and where its winch or its constant tension is.
        termination: where it ends.
        drive: what gives it tension.
        path: what it runs over or through between its ends, in this order.
        grip_stiffness: N/m, of obstacles' hold on the cable; see `CablePulls`.
        width: diameter in pictures, m.
        rgba: colour in pictures.
    """

    origin: Station
    termination: Station
    drive: ConstantTension | Elastic | Winch
    path: tuple[Obstacle | Station, ...] = ()
    grip_stiffness: float = 1000.0
    width: float = 0.008
    rgba: tuple[float, float, float, float] = (0.1, 0.1, 0.1, 1.0)

    def __post_init__(self) -> None:
        """Reject what cannot be drawn, and what no obstacle holds with."""
        checks.number("grip_stiffness", self.grip_stiffness, above=0.0, maximum=drives.LARGEST)
        checks.number("width", self.width, above=0.0, maximum=1.0)
        for k, part in enumerate(checks.array("rgba", self.rgba, (4,))):
            checks.number(f"rgba[{k}]", float(part), minimum=0.0, maximum=1.0)

    def build(self, model: mujoco.MjModel) -> CableSystem:
        """Return the cable as the only one of a system on the model's bodies.

        Raises:
            ValueError: no such body, or a value that is no good.
        """
        system = CableSystem(model, on_fault="keep")
        points = {f"path[{k}]": point for k, point in enumerate(self.path)}
        points |= {"origin": self.origin, "termination": self.termination}
        for name, point in points.items():
            checks.choice(f"forces.cable.{name}.body", point.body, system.bodies.names)
        ends = (self.origin, self.termination)
        first, last = ((end.body, end.station) for end in ends)
        span = CableSpan(system, *first, *last)
        for item in self.path:
            if isinstance(item, Station):
                span.add_via_point(item.body, item.station)
            else:
                pose = (*item.position, *item.quaternion)
                span.add_obstacle(item.body, pose, item.surface, item.hint)
        return system


class CableTerm:
    """The force term of a `Cable`; its state is that of the cable's paths and winches.

    Attributes:
        span: the cable.
        paths: its `CableState`, at the last physics step.
        pulls: its tensions; `pulls.command` asks for lengths or tensions of each simulation.
        failed: (n,), whether it has no path; its last good one stays, and it doesn't pull.
    """

    needs_motion = True

    def __init__(self, model: mujoco.MjModel, n: int, cable: Cable) -> None:
        """Make the same cable in all n simulations."""
        if isinstance(cable.drive, ConstantTension):
            bounds.check_force((cable.drive.tension, 0.0, 0.0), model)
        self._cable, self._timestep = cable, model.opt.timestep
        system = cable.build(model)
        self.span: Any = system.cables[0]
        self.paths = system.new_state(n)
        friction = [item.friction for item in cable.path if isinstance(item, Obstacle)]
        self.pulls = CablePulls(self.paths, [cable.drive], [friction], cable.grip_stiffness)
        self.reset(np.arange(n))
        self.failed = np.zeros(n, bool)
        self._forces = np.zeros((n, model.nbody, 6))
        self._centres = np.tile(model.body_ipos, (n, 1, 1))

    @property
    def state(self) -> NDArray[np.float64]:
        """All that the cable remembers, live, (n, s)."""
        return self.paths.state

    def reset(self, ids: NDArray) -> None:
        """Forget the paths, and wind the winches back to where they begin.

        The new poses are seen in `add` only: until then nobody who reads finds a path.
        """
        self.paths.reset(ids)
        self.paths.hold()

    def set_model_fields(self, ids: NDArray, values: Mapping[str, NDArray]) -> None:
        """Take note of the bodies' centres of mass."""
        if "body_ipos" in values:
            self._centres[ids] = values["body_ipos"]

    def add(self, time: NDArray, motion: Motion | None, push: Push) -> None:
        """Solve the path at the present poses, and pull; see `ForceTerm.add`."""
        assert motion is not None
        self._move(self.paths, motion)
        self._forces[:] = 0.0
        self.pulls.add_forces(self._forces, self._timestep)
        self.failed[:] = self.paths.memory["fault"][:, 0] != 0.0
        add_wrenches(self._forces, motion.body_rotation, self._centres, push.wrench)

    @staticmethod
    def _move(paths: cables.CableState, motion: Motion, rows: slice = slice(None)) -> None:
        paths.position[:] = motion.body_position[rows]
        paths.rotation[:] = motion.body_rotation[rows]
        paths.velocity[:] = motion.body_velocity[rows]
        paths.angular_velocity[:] = motion.body_angular_velocity[rows]
        paths.mark_unsolved()

    def draw(self, i: int, motion: Motion, scene: mujoco.MjvScene) -> None:
        """Add the cable of simulation i, where it is now, to a scene; the simulation is as before.

        Args:
            i: simulation.
            motion: of all simulations.
            scene: added to.
        """
        shown = self.paths.single(i)
        self._move(shown, motion, slice(i, i + 1))
        points = self.span.resampled_points(shown, SAMPLES)[0]
        draw(scene, points, self._cable.width, self._cable.rgba)


@compiled
def add_wrenches(forces: NDArray, rotation: NDArray, centres: NDArray, wrench: NDArray) -> None:
    """Add forces about the bodies' origins to wrenches about their centres of mass.

    Args:
        forces: (n, b, 6), in world axes.
        rotation: (n, b, 3, 3), body to world.
        centres: (n, b, 3), of mass, in the bodies' frames.
        wrench: (n, b, 6), added to; the world, body 0, isn't pushed.
    """
    for i in range(forces.shape[0]):
        for b in range(1, forces.shape[1]):
            force: Vector = (forces[i, b, 0], forces[i, b, 1], forces[i, b, 2])
            arm = to_world(frame_at(rotation, i, b), vector_at(centres, i, b))
            less = cross(arm, force)
            for k in range(3):
                wrench[i, b, k] += force[k]
                wrench[i, b, 3 + k] += forces[i, b, 3 + k] - less[k]


def _make(model: mujoco.MjModel, n: int, values: Mapping[str, Any]) -> CableTerm:
    return CableTerm(model, n, config.from_dict(Cable, values, "forces.cable"))


register("cable", _make)

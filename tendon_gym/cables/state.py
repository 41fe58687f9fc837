"""Poses of bodies and the cables' paths over them, for one simulation or for n."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.boxes import box
from tendon_gym.cables import bodies, elements
from tendon_gym.cables.bodies import index, rotation
from tendon_gym.cables.forces import add_forces, length_rates
from tendon_gym.cables.problem import Problem
from tendon_gym.cables.records import CURVE, NODE, PATH
from tendon_gym.cables.solver import solve_all
from tendon_gym.cables.surfaces import Surface, surface
from tendon_gym.cables.workspace import workspace
from tendon_gym.compiled import entry

if TYPE_CHECKING:
    from tendon_gym.cables.system import CableSystem

Array = NDArray[np.float64]


class CableState:
    """What cables are computed from, and the paths that were found: all there is to copy.

    Made by `CableSystem.new_state`. Its paths are brought up to date whenever something is read
    that depends on them, once for all cables, after bodies or the configuration changed. The path
    of a solve is where the next one begins, so that a path depends on those before it; `reset`
    forgets them.

    Attributes:
        system: whose cables these are.
        n: simulations.
        scalar: whether it was made for one simulation, without a leading axis in results.
        position: (n, b, 3), origins of the bodies in the world, m. After writing to this or the
            following arrays, call `solve`.
        rotation: (n, b, 3, 3), body to world.
        velocity: (n, b, 3), of the origins, m/s.
        angular_velocity: (n, b, 3), in world axes, rad/s.
    """

    def __init__(self, system: CableSystem, n: int, scalar: bool) -> None:
        self.system, self.n, self.scalar = system, n, scalar
        count = system.bodies.count
        self.position = np.zeros((n, count, 3))
        self.rotation = np.tile(np.eye(3), (n, count, 1, 1))
        self.velocity = np.zeros((n, count, 3))
        self.angular_velocity = np.zeros((n, count, 3))
        self._own: dict[tuple[int, int, int], elements.Obstacle] = {}
        self._revision, self._layout = -1, ()
        self._generations: Sequence[int] = ()
        self._solved = False
        self._problem: Problem
        self._backing: Array = np.zeros((n, 0))

    # --- what is given -----------------------------------------------------------------------

    def set_poses(self, position: ArrayLike, orientation: ArrayLike) -> None:
        """Move all bodies.

        Args:
            position: (n, b, 3), or (b, 3) for a state of one simulation, m.
            orientation: the same with quaternions (..., 4), (w, x, y, z), or rotation matrices
                (..., 3, 3), body to world.

        Raises:
            ValueError: a shape or a value is bad; nothing has changed.
        """
        new = self._array("position", position, (3,))
        turned = np.asarray(orientation)
        if turned.ndim and turned.shape[-1] == 4:
            matrices = rotation("orientation", self._array("orientation", orientation, (4,)))
        else:
            matrices = self._array("orientation", orientation, (3, 3))
            wrong = np.abs(matrices @ matrices.swapaxes(-1, -2) - np.eye(3)).max() > 1e-6
            if wrong or not (np.linalg.det(matrices) > 0.0).all():
                checks.reject("orientation", orientation, "made of rotation matrices")
        self.position[:], self.rotation[:] = new, matrices
        self._solved = False

    def set_velocities(self, velocity: ArrayLike, angular_velocity: ArrayLike) -> None:
        """Give all bodies velocities of their origins (..., b, 3) and angular ones, world axes."""
        linear = self._array("velocity", velocity, (3,))
        angular = self._array("angular_velocity", angular_velocity, (3,))
        self.velocity[:], self.angular_velocity[:] = linear, angular

    def _array(self, name: str, value: ArrayLike, item: tuple[int, ...]) -> Array:
        lead = () if self.scalar else (self.n,)
        return checks.array(name, value, (*lead, self.system.bodies.count, *item)).reshape(
            self.n, -1, *item
        )

    def set_obstacle(
        self,
        simulation: int,
        cable: int,
        obstacle: int,
        *,
        pose: ArrayLike | None = None,
        surface: Surface | None = None,
    ) -> None:
        """Give an obstacle of one simulation a pose or a surface of its own.

        Its cable is solved from its hints next. The simulation's `reset` keeps the obstacle.

        Raises:
            IndexError: there is no such simulation, cable or obstacle.
            ValueError: the surface is a height map, which simulations share.
        """
        index("simulation", simulation, self.n)
        shared = self.system.cables[index("cable", cable, len(self.system.cables))]
        key = (simulation, cable, obstacle)
        own = copy.copy(self._own.get(key, shared.obstacle(obstacle)))
        if pose is not None:
            own.pose = elements.pose(pose)
        if surface is not None:
            own.surface = _own_surface(surface)
        known = key in self._own and self._revision == self.system.revision
        self._own[key] = own
        if known:  # then its row is there, and stays where it is
            first = self._problem.cables[cable]["first"]
            own.write(
                self._problem.elements[simulation, first + shared.place_of_obstacle(obstacle)]
            )
        else:
            self._revision = -1
        self._solved = False
        if self._layout:
            self._problem.paths["known"][simulation, cable] = 0.0

    # --- what is found -----------------------------------------------------------------------

    @property
    def state(self) -> Array:
        """A live array (n, s): the paths, all that a solve remembers, finite."""
        self.refresh()
        return self._backing

    def reset(self, simulations: ArrayLike | None = None) -> None:
        """Forget the paths: they are solved from the hints next.

        Args:
            simulations: index, or indices; None: all.

        Raises:
            TypeError, IndexError: no such simulations.
        """
        rows = bodies.simulations(simulations, self.n)
        self.refresh()
        self._backing[rows] = 0.0
        self._solved = False

    def copy(self) -> CableState:
        """Return an independent state with the same poses and paths."""
        twin = CableState(self.system, self.n, self.scalar)
        for name in ("position", "rotation", "velocity", "angular_velocity"):
            getattr(twin, name)[:] = getattr(self, name)
        twin._own = dict(self._own)
        if self._layout:
            self.refresh()
            twin.refresh()
            twin._backing[:] = self._backing
            twin._solved = self._solved
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle, with a system of its own, is made from."""
        if self._layout:
            self.refresh()
        return {k: v for k, v in vars(self).items() if k not in ("_problem", "_box", "_solve")}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        """Make the arrays for kernels anew."""
        vars(self).update(parts)
        known, backing, solved = bool(self._layout), self._backing, self._solved
        self._revision, self._layout, self._generations = -1, (), ()
        if known:
            self.refresh()
            self._backing[:], self._solved = backing, solved

    def single(self, simulation: int) -> CableState:
        """Return an independent state, a batch of one, with what one simulation has in this one."""
        i = index("simulation", simulation, self.n)
        twin = CableState(self.system, 1, scalar=False)
        for name in ("position", "rotation", "velocity", "angular_velocity"):
            getattr(twin, name)[0] = getattr(self, name)[i]
        twin._own = {(0, *key[1:]): own for key, own in self._own.items() if key[0] == i}
        self.refresh()
        twin.refresh()
        twin._backing[0] = self._backing[i]
        return twin

    def solve(self) -> None:
        """Find the paths for the bodies' present poses.

        Raises:
            CableFault: a path cannot be found at all, and the system says "raise".
            NotConverged: a path is not smooth, and the system says "raise".
        """
        self.refresh()
        faults, unconverged = self._solve(self._box)
        self._solved = True
        if faults or unconverged:
            self.system.report(self, bool(faults), bool(unconverged))

    @property
    def problem(self) -> Problem:
        """All arrays, with paths that are up to date."""
        self.refresh()
        if not self._solved:
            self.solve()
        return self._problem

    def add_forces(self, tension: Array, forces: Array) -> None:
        """Add to forces (n, b, 6) what tensions (n, k) of all cables do, as `forces` tells."""
        _ = self.problem
        add_forces(self._box, tension, forces)

    def length_rates(self) -> Array:
        """Return how fast each cable becomes longer, (n, k), m/s."""
        rates = np.zeros(self.problem.paths.shape)
        length_rates(self._box, rates)
        return rates

    @property
    def boxed(self) -> Any:
        """The box with `problem`, for kernels."""
        _ = self.problem
        return self._box

    def shaped(self, values: Any) -> Any:
        """Return results (n, ...) as they are for n simulations, the only one for a single one."""
        if not self.scalar:
            return values
        return values[0].item() if np.ndim(values[0]) == 0 else values[0]

    def mark_unsolved(self) -> None:
        """Let the paths be found anew when they are read next."""
        self._solved = False

    def hold(self) -> None:
        """Let what is read be what was found last, until `mark_unsolved`: reading solves nothing.

        Where nothing has been found since a reset, that is zero.
        """
        self.refresh()
        self._solved = True

    @property
    def memory(self) -> NDArray:
        """The live PATH records (n, k) as they are; nothing is solved for them."""
        self.refresh()
        return self._problem.paths

    @property
    def nodes(self) -> NDArray:
        """The live NODE records (n, e) as they are; nothing is solved for them."""
        self.refresh()
        return self._problem.nodes

    @property
    def layout(self) -> tuple[int, ...]:
        """How many elements each cable has."""
        self.refresh()
        return self._layout

    # --- what belongs to the configuration ---------------------------------------------------

    def refresh(self) -> None:
        """Take over the system's configuration if it has changed."""
        if self._revision == self.system.revision:
            return
        shared, tables, cables = self.system.records()
        layout = tuple(len(cable.path) for cable in self.system.cables)
        counts = (shared.shape[1] * CURVE.itemsize, shared.shape[1] * NODE.itemsize)
        a, b = counts[0] // 8, (counts[0] + counts[1]) // 8
        before = self._problem if self._layout else None
        if layout != self._layout:
            size = b + len(layout) * PATH.itemsize // 8
            self._backing = np.zeros((self.n, size))
            self._own = {k: v for k, v in self._own.items() if k[1] < len(layout)}
        most = max(layout, default=2)
        self._problem = Problem(
            elements=self._own_elements(shared, cables),
            tables=tables,
            cables=cables,
            position=self.position,
            rotation=self.rotation,
            velocity=self.velocity,
            angular_velocity=self.angular_velocity,
            curves=self._backing[:, :a].view(CURVE),
            nodes=self._backing[:, a:b].view(NODE),
            paths=self._backing[:, b:].view(PATH),
            workspace=workspace(most - 2, shared.shape[1]),
        )
        if before is not None and layout != self._layout:
            self._keep(before, layout)
        for k, generation in enumerate(self._generations):
            if generation != self.system.generations()[k]:
                self._problem.paths["known"][:, k] = 0.0
        found, spare = self._problem, self._problem.workspace
        strided = [found.curves, found.nodes, found.paths, spare.curves, spare.nodes]
        self._box = box(found, strided)
        self._solve = entry(solve_all, self._box)
        self._revision, self._layout = self.system.revision, layout
        self._generations = self.system.generations()
        self._solved = False

    def _keep(self, before: Problem, layout: tuple[int, ...]) -> None:
        """Take over what cables remember from before some were added or got more elements."""
        now = self._problem
        now.paths[:, : before.paths.shape[1]] = before.paths
        for k, count in enumerate(self._layout):
            if count == layout[k]:
                a, b = int(before.cables[k]["first"]), int(now.cables[k]["first"])
                now.curves[:, b : b + count] = before.curves[:, a : a + count]
                now.nodes[:, b : b + count] = before.nodes[:, a : a + count]

    def _own_elements(self, shared: NDArray, cables: NDArray) -> NDArray:
        """Return the elements (1, e), or (n, e) where simulations have some of their own."""
        if not self._own:
            return shared
        result = np.repeat(shared, self.n, axis=0)
        for (i, k, obstacle), own in self._own.items():
            place = self.system.cables[k].place_of_obstacle(obstacle)
            own.write(result[i, cables[k]["first"] + place])
        return result


def _own_surface(value: object) -> Surface:
    """Return a surface that a simulation may have for itself."""
    result = surface(value)
    if len(result.table):
        checks.reject("surface", value, "no height map, which all simulations share")
    return result

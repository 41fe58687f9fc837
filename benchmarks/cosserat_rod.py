"""PyElastica's Cosserat rod in a plane, clamped at one end: its rest and its modes, linearised.

The forces are PyElastica's own (Gazzola, Dudte, McCormick and Mahadevan 2018, "Forward and inverse
problems in the mechanics of soft filaments"); what is ours is Newton's method for the rest and the
eigenproblem of the forces' derivative, by central differences, with the rod's lumped masses.

The rod stands for an arm that neither shears nor stretches: both stiffnesses are raised until they
no longer matter. A very short first element makes the clamp one of the rod's end, where PyElastica
would hold half an element straight. A last, nearly rigid element carries the sphere at the tip.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import elastica
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.linalg import eigh, solve
from scipy.spatial.transform import Rotation

from tendon_gym.model import Arm

Array = NDArray[np.float64]
ACROSS = np.array([0.0, 1.0, 0.0])
"""The axis that the rod bends about."""
FIRST = 0.01
"""Length of the first element, in those of the others."""
RIGID = 1e3
"""By how much stiffer the element of the tip bends."""
MOVE, TURN = 1e-7, 1e-6
"""Changes for central differences, m and rad."""
LARGEST_TURN = 0.3
"""Largest change of an angle between two iterations, rad."""


@dataclass(frozen=True)
class Loads:
    """What acts on the rod: gravity along -z, m/s^2, and a force at the tip, N."""

    gravity: float = 9.81
    tip_force: Array = field(default_factory=lambda: np.zeros(3))


class PlanarRod:
    """A rod that begins at the origin and bends in the x-z plane.

    Coordinates are moves along x and z of all nodes but the first, then turns of all elements but
    the first.

    Attributes:
        rod: PyElastica's.
        count: number of coordinates.
    """

    def __init__(
        self, arm: Arm, elements: int, direction: tuple[float, float, float], rigidity: float = 1e3
    ) -> None:
        """Lay a straight rod with the arm's section, mass and tip.

        Args:
            arm: its number of links is of no matter.
            elements: of equal length, besides that at the clamp and that of the tip.
            direction: of the straight rod, in the plane.
            rigidity: by how much shear and stretch are stiffer than those of the arm's section.
        """
        along = np.array(direction) / np.linalg.norm(direction)
        step = arm.length / (elements + FIRST)
        places = np.concatenate([[0.0], step * (FIRST + np.arange(elements + 1.0))])
        if arm.tip_offset > 0.0:
            places = np.append(places, arm.length + arm.tip_offset)
        section = np.pi * arm.radius**2
        young = arm.bending_stiffness / (section * arm.radius**2 / 4.0)
        self.rod = elastica.CosseratRod.straight_rod(
            len(places) - 1, np.zeros(3), along, ACROSS.copy(), float(places[-1]), arm.radius,
            arm.mass / (arm.length * section), youngs_modulus=young,
            shear_modulus=young / 3.0, position=np.outer(along, places),
        )  # fmt: skip
        self.rod.shear_matrix *= rigidity
        self._carry_tip(arm)
        nodes, turns = self.rod.position_collection.shape[1] - 1, self.rod.n_elems - 1
        self._nodes, self.count = nodes, 2 * nodes + turns

    def _carry_tip(self, arm: Arm) -> None:
        """Put the sphere's mass and inertia on the last element, and make it rigid."""
        rod, inertia = self.rod, 0.4 * arm.tip_mass * arm.tip_radius**2
        if arm.tip_offset > 0.0:
            own = rod.mass[-1]  # half of what this element would weigh as a piece of rod
            rod.mass[-2:] -= own
            rod.mass_second_moment_of_inertia[..., -1] = 0.0
            rod.bend_matrix[..., -1] = arm.bending_stiffness * np.eye(3)
            half = 0.5 * rod.rest_lengths[-2]  # what bends between the last two elements' middles
            rod.bend_matrix[..., -1] *= rod.rest_voronoi_lengths[-1] / half
        rod.mass[-1] += arm.tip_mass
        rod.mass_second_moment_of_inertia[..., -1] += inertia * np.eye(3)

    def rest(self, loads: Loads, steps: int = 1) -> None:
        """Bring the rod to rest, under loads that grow in steps.

        Raises:
            RuntimeError: it finds none.
        """
        for share in np.linspace(0.0, 1.0, steps + 1)[1:]:
            self._settle(Loads(share * loads.gravity, share * loads.tip_force))

    def frequencies(self, loads: Loads, count: int) -> Array:
        """Return the first natural frequencies about the rest under the loads, Hz, (count,)."""
        return self.modes(loads, count)[0]

    def modes(self, loads: Loads, count: int) -> tuple[Array, Array]:
        """Return frequencies as `frequencies` does, and the modes by coordinates, (count, n)."""
        self.rest(loads)
        stiffness = -self._derivative(loads)
        moved = np.repeat(self.rod.mass[1:], 2)
        turned = self.rod.mass_second_moment_of_inertia[0, 0, 1:]
        mass = np.diag(np.concatenate([moved, turned]))
        squares, shapes = eigh(
            0.5 * (stiffness + stiffness.T), mass, subset_by_index=(0, count - 1)
        )
        return np.sqrt(squares) / (2.0 * np.pi), shapes.T

    def places(self, distances: Array) -> Array:
        """Return where points at distances (k,) from the clamp along the rod are, m, (k, 2)."""
        lengths = np.concatenate([[0.0], np.cumsum(self.rod.rest_lengths)])
        return CubicSpline(lengths, self.rod.position_collection[::2].T)(distances)

    def move(self, step: Array) -> None:
        """Change the coordinates; an element that turns takes its length and its strain with it.

        Added to the positions as it is, a large step would stretch what turns, and a rod that
        hardly stretches would never come to rest.
        """
        rod, nodes = self.rod, self._nodes
        moves = np.zeros((3, nodes + 1))
        moves[::2, 1:] = step[: 2 * nodes].reshape(nodes, 2).T
        turns = np.zeros((nodes, 3))
        turns[1:] = np.outer(step[2 * nodes :], ACROSS)
        edges = np.diff(rod.position_collection).T
        turned = Rotation.from_rotvec(turns).apply(edges) - np.cross(turns, edges)
        edges = turned.T + np.diff(moves)
        rod.position_collection[:, 1:] = np.cumsum(edges, axis=1)
        back = Rotation.from_rotvec(-step[2 * nodes :, None] * [1.0, 0.0, 0.0]).as_matrix()
        rod.director_collection[..., 1:] = np.einsum(
            "nij,jkn->ikn", back, rod.director_collection[..., 1:]
        )

    def _settle(self, loads: Loads) -> None:
        for _ in range(100):
            step = solve(-self._derivative(loads), self._forces(loads))
            largest = float(np.abs(step[2 * self._nodes :]).max())
            self.move(step * min(1.0, LARGEST_TURN / max(largest, LARGEST_TURN)))
            if largest < 1e-9:
                return
        raise RuntimeError(f"the rod finds no rest under {loads}")

    def _forces(self, loads: Loads) -> Array:
        """Return the forces along the coordinates."""
        rod = self.rod
        rod.compute_internal_forces_and_torques(np.float64(0.0))
        forces = rod.internal_forces.copy()
        forces[2] -= loads.gravity * rod.mass
        forces[:, -1] += loads.tip_force
        return np.concatenate([forces[::2, 1:].T.ravel(), rod.internal_torques[0, 1:]])

    def _derivative(self, loads: Loads) -> Array:
        """Return the derivative of the forces by the coordinates, (count, count)."""
        position = self.rod.position_collection.copy()
        directors = self.rod.director_collection.copy()
        columns = []
        for k in range(self.count):
            size, sides = (MOVE if k < 2 * self._nodes else TURN), []
            for sign in (1.0, -1.0):
                step = np.zeros(self.count)
                step[k] = sign * size
                self.move(step)
                sides.append(self._forces(loads))
                self.rod.position_collection[:] = position
                self.rod.director_collection[:] = directors
            columns.append((sides[0] - sides[1]) / (2.0 * size))
        return np.stack(columns, axis=1)

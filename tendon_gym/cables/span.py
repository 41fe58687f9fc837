"""Cables: the path of each over its obstacles, its length, forces and frames."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.cables.bodies import index, wrenches
from tendon_gym.cables.configuration import Body, CableConfiguration, end
from tendon_gym.cables.elements import Array
from tendon_gym.cables.points import decorative_count, resample, sample, spare_curve
from tendon_gym.cables.records import NO_FAULT
from tendon_gym.cables.state import CableState
from tendon_gym.cables.system import FAULTS, CableSystem


class FrenetFrame(NamedTuple):
    """A frame on a surface, in the world; NaN where the cable doesn't touch it.

    Attributes:
        position: (..., 3), m.
        rotation: (..., 3, 3), whose columns are the path's tangent, the surface's outward normal
            and the binormal.
    """

    position: Array
    rotation: Array


class UnitForce(NamedTuple):
    """What a cable with a tension of 1 N does at a place, in world axes.

    Attributes:
        moment: (..., 3), about the origin of the body there, N m.
        force: (..., 3), N.
    """

    moment: Array
    force: Array


class CableSpan(CableConfiguration):
    """The path of a frictionless cable from an origin over obstacles and through via points.

    It consists of straight lines and of geodesics on the obstacles, smoothly joined: locally the
    shortest. The cable slides over the surfaces, lifts off and touches down. Obstacles are taken
    in the order in which they were added, each at most once. What it computes, it computes from a
    `CableState` of its system, with a leading axis (n,) if that is a batch.

    After M. Sherman, A. Seth and S. Delp's Simbody, class CableSpan, and Scholz et al. 2015, A
    fast multi-obstacle muscle wrapping method using natural geodesic variations.
    """

    def __init__(
        self,
        system: CableSystem | None = None,
        origin_body: Body | None = None,
        origin_station: ArrayLike | None = None,
        termination_body: Body | None = None,
        termination_station: ArrayLike | None = None,
    ) -> None:
        """Make a straight cable, or without arguments one to be adopted and configured later.

        Args:
            system: its owner.
            origin_body: the body that it begins at.
            origin_station: where in that body's frame (3,), m.
            termination_body: the body that it ends at.
            termination_station: where in that body's frame (3,), m.
        """
        super().__init__()
        ends = (origin_body, origin_station, termination_body, termination_station)
        if system is None:
            if any(part is not None for part in ends):
                raise ValueError("a cable with ends needs the CableSystem that owns it")
            return
        if any(part is not None for part in ends):
            if (
                origin_body is None
                or origin_station is None
                or termination_body is None
                or termination_station is None
            ):
                raise ValueError("a cable has too few points: give body and station of both ends")
            self._origin = end(system, "origin_station", origin_body, origin_station)
            self._termination = end(
                system, "termination_station", termination_body, termination_station
            )
        system.adopt(self)

    # --- where things are in the arrays ------------------------------------------------------

    def _path_of(self, state: CableState, field: str) -> Any:
        self._check(state)
        return state.shaped(state.problem.paths[field][:, self.index].copy())

    def _check(self, state: CableState) -> None:
        if not isinstance(state, CableState) or state.system is not self.owner:
            raise ValueError("state must be one that this cable's system made by new_state")

    @staticmethod
    def _lead(state: CableState) -> tuple[int, ...]:
        """Return the leading axes of what is computed from a state."""
        return () if state.scalar else (state.n,)

    def _place(self, state: CableState, place: int) -> int:
        self._check(state)
        return int(state.problem.cables[self.index]["first"]) + place

    def _direction(self, state: CableState, place: int, side: int) -> Any:
        node = self._place(state, place)
        return state.shaped(state.problem.nodes["direction"][:, node, side].copy())

    def _unit_force(self, state: CableState, place: int) -> UnitForce:
        k = self._place(state, place)
        node = state.problem.nodes[:, k]
        arm = node["point"] - state.problem.position[:, self.path[place].body][:, None]
        moments = np.cross(arm, node["direction"])
        force = node["direction"][:, 1] - node["direction"][:, 0]
        moment = moments[:, 1] - moments[:, 0]
        nowhere = state.problem.paths["fault"][:, self.index] != NO_FAULT
        force[nowhere], moment[nowhere] = 0.0, 0.0
        return UnitForce(state.shaped(moment), state.shaped(force))

    # --- ends --------------------------------------------------------------------------------

    def origin_tangent(self, state: CableState) -> Any:
        """Return the direction (..., 3) of the path at its origin; zero if it has no length."""
        return self._direction(state, 0, 1)

    def origin_unit_force(self, state: CableState) -> UnitForce:
        """Return what the cable does at its origin: it pulls along the path."""
        return self._unit_force(state, 0)

    def termination_tangent(self, state: CableState) -> Any:
        """Return the direction (..., 3) of the path at its termination."""
        return self._direction(state, len(self.path) - 1, 0)

    def termination_unit_force(self, state: CableState) -> UnitForce:
        """Return what the cable does at its termination: it pulls back along the path."""
        return self._unit_force(state, len(self.path) - 1)

    # --- the solve ---------------------------------------------------------------------------

    def num_iterations(self, state: CableState) -> Any:
        """Return how many corrections led to the path, summed between fixed points.

        Those of tries that led nowhere are not among them; see `solver_max_iterations`.
        """
        values = np.asarray(self._path_of(state, "iterations")).astype(np.int64)
        return values if values.ndim else int(values)

    def smoothness(self, state: CableState) -> Any:
        """Return the largest angle (as a sine) between lines and curves of the path."""
        return self._path_of(state, "smoothness")

    def converged(self, state: CableState) -> Any:
        """Return whether the path is as smooth as the tolerance asks for, and has no fault."""
        self._check(state)
        return state.shaped(state.problem.paths["converged"][:, self.index] == 1.0)

    def fault(self, state: CableState) -> Any:
        """Return what kept the cable from having a path: a word of FAULTS, "none" if nothing did.

        Other words are seen only where the system keeps the last good path on a fault.
        """
        self._check(state)
        codes = state.problem.paths["fault"][:, self.index]
        words = np.array([FAULTS[code] for code in codes.tolist()])
        return state.shaped(words)

    # --- the path ----------------------------------------------------------------------------

    def length(self, state: CableState) -> Any:
        """Return the length of the path, m."""
        return self._path_of(state, "length")

    def length_rate(self, state: CableState) -> Any:
        """Return how fast the length grows with the state's velocities, m/s."""
        self._check(state)
        return state.shaped(state.length_rates()[:, self.index])

    def body_forces(self, state: CableState, tension: ArrayLike = 1.0) -> Array:
        """Return what the cable does to all bodies, (..., b, 6), as `apply_body_forces` adds."""
        self._check(state)
        forces = np.zeros((*self._lead(state), state.system.bodies.count, 6))
        self.apply_body_forces(state, tension, forces)
        return forces

    def apply_body_forces(self, state: CableState, tension: ArrayLike, forces: NDArray) -> None:
        """Add what the cable does to the bodies it touches.

        Args:
            state: of the system.
            tension: N, finite, one for all simulations or (n,); if not positive, the cable is
                slack and nothing is added.
            forces: ([n,] b, 6), added to: force (N) and moment (N m) about the origin of each
                body, in world axes.
        """
        self._check(state)
        pulls = np.zeros(state.problem.paths.shape)
        pulls[:, self.index] = _tensions(tension, state.n)
        wrenches(forces, (*self._lead(state), state.system.bodies.count, 6))
        state.add_forces(pulls, forces[None] if state.scalar else forces)

    def power(self, state: CableState, tension: ArrayLike) -> Any:
        """Return the power (W) that the cable gives to the bodies; 0 if it is slack."""
        forces = self.body_forces(state, tension).reshape(state.n, -1, 6)
        motion = np.concatenate([state.velocity, state.angular_velocity], axis=-1)
        powers = np.where(forces == 0.0, 0.0, forces * motion)  # no matter how others move
        return state.shaped(powers.sum(axis=(1, 2)))

    def moment_arms(self, state: CableState, jacobians: ArrayLike) -> Any:
        """Return the moment arms (..., v): the generalised forces of a tension of 1 N.

        They are minus the derivatives of the length by the v coordinates' speeds.

        Args:
            state: of the system.
            jacobians: (..., b, 6, v), of every body's origin velocity (3) and angular velocity
                (3), in world axes, by the speeds; of as many simulations as the state has.
        """
        forces = self.body_forces(state)
        moved = checks.array("jacobians", jacobians, (*forces.shape, None))
        return np.einsum("...bi,...biv->...v", forces, moved)

    # --- points ------------------------------------------------------------------------------

    def decorative_points(self, state: CableState, simulation: int = 0) -> Array:
        """Return points (m, 3) along the path of a simulation, closer where it bends more."""
        problem, points, first = state.problem, [], self._place(state, 0)
        i = index("simulation", simulation, state.n)
        obstacles = [self.place_of_obstacle(k) for k in range(self.num_obstacles)]
        for place in range(len(self.path)):
            node = problem.nodes[i, first + place]
            if place not in obstacles:
                points.append(node["point"][:1].copy())
            elif node["active"]:
                count = decorative_count(problem.curves[i, first + place])
                points.append(self._sampled(state, i, first + place, count))
        return np.concatenate(points)

    def resampled_points(self, state: CableState, samples: int) -> Any:
        """Return points (..., m, 3): the ends, the via points, and `samples` for every obstacle.

        Those of an obstacle that isn't touched are all where the path comes closest to it, so
        that m is always the same.
        """
        self._check(state)
        count = checks.integer("samples", samples, minimum=2)
        size = self.num_obstacles * count + self.num_via_points + 2
        points, spare, boxed = np.zeros((state.n, size, 3)), spare_curve(), state.boxed
        for i in range(state.n):
            resample(boxed, i, self.index, count, spare, points[i])
        return state.shaped(points)

    def curve_resampled_points(self, state: CableState, obstacle: int, samples: int) -> Any:
        """Return points (..., samples, 3) at equal distances along an obstacle's curve."""
        count = checks.integer("samples", samples, minimum=2)
        k = self._place(state, self.place_of_obstacle(obstacle))
        return state.shaped(np.stack([self._sampled(state, i, k, count) for i in range(state.n)]))

    def _sampled(self, state: CableState, i: int, k: int, count: int) -> Array:
        problem, points = state.problem, np.zeros((count, 3))
        element = problem.elements[i % len(problem.elements), k]
        curve, node, spare = problem.curves[i, k], problem.nodes[i, k], spare_curve()
        accuracy, stages = self.settings.accuracy, problem.workspace.stages
        sample(element, problem.tables, curve, node, accuracy, spare, stages, points)
        return points

    # --- curves over obstacles ---------------------------------------------------------------

    def in_contact(self, state: CableState, obstacle: int) -> Any:
        """Return whether the cable touches an obstacle."""
        k = self._place(state, self.place_of_obstacle(obstacle))
        return state.shaped(state.problem.nodes["active"][:, k] == 1.0)

    def initial_frame(self, state: CableState, obstacle: int) -> FrenetFrame:
        """Return the frame where the cable first touches an obstacle."""
        return self._frame(state, obstacle, "start")

    def final_frame(self, state: CableState, obstacle: int) -> FrenetFrame:
        """Return the frame where the cable leaves an obstacle."""
        return self._frame(state, obstacle, "end")

    def _frame(self, state: CableState, obstacle: int, side: str) -> FrenetFrame:
        k = self._place(state, self.place_of_obstacle(obstacle))
        node, curve = state.problem.nodes[:, k], state.problem.curves[:, k][side]
        axes = node["axes"]
        position = node["origin"] + np.einsum("nij,nj->ni", axes, curve[:, 0])
        tangent = np.einsum("nij,nj->ni", axes, curve[:, 1])
        normal = np.einsum("nij,nj->ni", axes, curve[:, 2])
        frame = np.stack([tangent, normal, np.cross(tangent, normal)], axis=-1)
        lifted = node["active"] == 0.0
        position[lifted], frame[lifted] = np.nan, np.nan
        return FrenetFrame(state.shaped(position), state.shaped(frame))

    def arc_length(self, state: CableState, obstacle: int) -> Any:
        """Return the length of the curve over an obstacle, m; NaN if the cable is off it."""
        k = self._place(state, self.place_of_obstacle(obstacle))
        node = state.problem.nodes[:, k]
        return state.shaped(np.where(node["active"] == 1.0, node["arc_length"], np.nan))

    def obstacle_unit_force(self, state: CableState, obstacle: int) -> UnitForce:
        """Return what the cable does to an obstacle; zero if it is off it."""
        return self._unit_force(state, self.place_of_obstacle(obstacle))

    # --- via points --------------------------------------------------------------------------

    def via_point_location(self, state: CableState, via_point: int) -> Any:
        """Return where a via point is in the world, (..., 3), m."""
        k = self._place(state, self.place_of_via_point(via_point))
        return state.shaped(state.problem.nodes["point"][:, k, 0].copy())

    def via_point_unit_force(self, state: CableState, via_point: int) -> UnitForce:
        """Return what the cable does at a via point."""
        return self._unit_force(state, self.place_of_via_point(via_point))

    def via_point_incoming_tangent(self, state: CableState, via_point: int) -> Any:
        """Return the direction (..., 3) in which the path arrives at a via point."""
        return self._direction(state, self.place_of_via_point(via_point), 0)

    def via_point_outgoing_tangent(self, state: CableState, via_point: int) -> Any:
        """Return the direction (..., 3) in which the path leaves a via point."""
        return self._direction(state, self.place_of_via_point(via_point), 1)


def _tensions(tension: ArrayLike, n: int) -> Array:
    """Return tensions as an array (n,), finite."""
    shape = (n,) if np.ndim(tension) else ()
    return np.broadcast_to(checks.array("tension", tension, shape), (n,))

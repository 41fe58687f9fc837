"""What a cable is: its ends, obstacles, via points and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from tendon_gym import checks
from tendon_gym.cables import elements
from tendon_gym.cables.bodies import index
from tendon_gym.cables.elements import ALGORITHMS, Array, Obstacle, Point, Settings
from tendon_gym.cables.records import END, VIA
from tendon_gym.cables.surfaces import Surface, surface

if TYPE_CHECKING:
    from tendon_gym.cables.system import CableSystem

Body = str | int


def end(system: CableSystem, name: str, body: Body, station: ArrayLike) -> Point:
    """Return an end of a cable of a system, from what its owner gave."""
    return Point(END, system.bodies.index(body), elements.station(name, station))


class CableConfiguration:
    """The part of a `CableSpan` that doesn't depend on a state.

    Every change takes effect at the next solve. Bodies are named, or numbered; stations are
    points in their frames, in m; indices of obstacles and via points count from 0 in path order.
    Wrong names raise KeyError, wrong indices IndexError, other bad values ValueError or TypeError,
    before anything has changed.
    """

    def __init__(self) -> None:
        self.system: CableSystem | None = None
        self.generation = 0
        self.settings = Settings()
        self._origin: Point | None = None
        self._termination: Point | None = None
        self._between: list[Point | Obstacle] = []

    # --- the owner ---------------------------------------------------------------------------

    @property
    def owner(self) -> CableSystem:
        """The system that owns the cable.

        Raises:
            RuntimeError: there is none yet.
        """
        if self.system is None:
            raise RuntimeError("this cable belongs to no CableSystem yet; CableSystem.adopt it")
        return self.system

    @property
    def index(self) -> int:
        """The cable's index in its system."""
        return self.owner.cables.index(self)

    @property
    def path(self) -> list[Point | Obstacle]:
        """All elements in path order.

        Raises:
            ValueError: an end is missing.
        """
        ends = {"origin": self._origin, "termination": self._termination}
        for name, end in ends.items():
            if end is None:
                raise ValueError(f"cable {self.index} has too few points: set its {name} first")
        return [*filter(None, (self._origin, *self._between, self._termination))]

    def _change(self, begin_anew: bool = False) -> None:
        """Tell the owner, if any; `begin_anew` if the last path is no beginning any more."""
        self.generation += begin_anew
        if self.system is not None:
            self.system.changed()

    # --- ends --------------------------------------------------------------------------------

    def set_origin(self, body: Body, station: ArrayLike) -> None:
        """Let the cable begin at a station (3,) of a body."""
        self._origin = end(self.owner, "origin_station", body, station)
        self._change()

    def set_termination(self, body: Body, station: ArrayLike) -> None:
        """Let the cable end at a station (3,) of a body."""
        self._termination = end(self.owner, "termination_station", body, station)
        self._change()

    @staticmethod
    def _known(end: Point | None) -> Point:
        if end is None:
            raise ValueError("this end of the cable has not been set yet")
        return end

    @property
    def origin_body(self) -> int:
        """Index of the body that the origin is attached to; set it by index or name."""
        return self._known(self._origin).body

    @origin_body.setter
    def origin_body(self, body: Body) -> None:
        self.set_origin(body, self._known(self._origin).station)

    @property
    def origin_station(self) -> Array:
        """The origin (3,) in its body's frame, m."""
        return self._known(self._origin).station.copy()

    @origin_station.setter
    def origin_station(self, station: ArrayLike) -> None:
        self.set_origin(self.origin_body, station)

    @property
    def termination_body(self) -> int:
        """Index of the body that the termination is attached to; set it by index or name."""
        return self._known(self._termination).body

    @termination_body.setter
    def termination_body(self, body: Body) -> None:
        self.set_termination(body, self._known(self._termination).station)

    @property
    def termination_station(self) -> Array:
        """The termination (3,) in its body's frame, m."""
        return self._known(self._termination).station.copy()

    @termination_station.setter
    def termination_station(self, station: ArrayLike) -> None:
        self.set_termination(self.termination_body, station)

    # --- obstacles ---------------------------------------------------------------------------

    def add_obstacle(
        self,
        body: Body,
        pose: ArrayLike,
        surface: Surface,
        contact_point_hint: ArrayLike | None = None,
    ) -> int:
        """Let the cable run over one more obstacle, after all that it has.

        Args:
            body: what the obstacle is fixed to.
            pose: (7,), position (m) and quaternion (w, x, y, z) of the surface's frame in it.
            surface: a smooth surface.
            contact_point_hint: (3,), a point in the surface's frame (m), on it or near it, that
                the first path begins at; it picks the side. Without one the cable is off the
                obstacle until it is in its way.

        Returns:
            The obstacle's index.
        """
        made = self._obstacle(body, pose, surface, contact_point_hint)
        self._between.append(made)
        self._change(begin_anew=True)
        return self.num_obstacles - 1

    def _obstacle(
        self, body: Body, pose: ArrayLike, shape: Surface, hint: ArrayLike | None
    ) -> Obstacle:
        bodies = self.owner.bodies
        return Obstacle(
            bodies.index(body), elements.pose(pose), surface(shape), elements.hint(hint)
        )

    @property
    def num_obstacles(self) -> int:
        """How many obstacles there are."""
        return sum(isinstance(element, Obstacle) for element in self._between)

    def place_of_obstacle(self, obstacle: int) -> int:
        """Return where in `path` an obstacle is."""
        places = [k for k, e in enumerate(self._between) if isinstance(e, Obstacle)]
        return 1 + places[index("obstacle", obstacle, len(places))]

    def obstacle_at(self, place: int) -> int | None:
        """Return the index of the obstacle at a place of `path`, None where there is none."""
        places = [k for k, e in enumerate(self._between, 1) if isinstance(e, Obstacle)]
        return places.index(place) if place in places else None

    def obstacle(self, obstacle: int) -> Obstacle:
        """Return the record of an obstacle."""
        made = self._between[self.place_of_obstacle(obstacle) - 1]
        assert isinstance(made, Obstacle)
        return made

    def obstacle_body(self, obstacle: int) -> int:
        """Return the index of the body that an obstacle is fixed to."""
        return self.obstacle(obstacle).body

    def set_obstacle_body(self, obstacle: int, body: Body) -> None:
        """Fix an obstacle to another body."""
        made, number = self.obstacle(obstacle), self.owner.bodies.index(body)
        made.body = number
        self._change()

    def obstacle_pose(self, obstacle: int) -> Array:
        """Return the pose (7,) of an obstacle's surface in its body."""
        return self.obstacle(obstacle).pose.copy()

    def set_obstacle_pose(self, obstacle: int, pose: ArrayLike) -> None:
        """Move an obstacle in its body."""
        made, new = self.obstacle(obstacle), elements.pose(pose)
        made.pose = new
        self._change()

    def obstacle_surface(self, obstacle: int) -> Surface:
        """Return an obstacle's surface."""
        return self.obstacle(obstacle).surface

    def set_obstacle_surface(self, obstacle: int, shape: Surface) -> None:
        """Give an obstacle another surface; the next path begins at the hints."""
        made, new = self.obstacle(obstacle), surface(shape)
        made.surface = new
        self._change(begin_anew=True)

    def obstacle_contact_point_hint(self, obstacle: int) -> Array | None:
        """Return the hint (3,) of an obstacle, None if it has none."""
        hint = self.obstacle(obstacle).hint
        return None if hint is None else hint.copy()

    def set_obstacle_contact_point_hint(self, obstacle: int, hint: ArrayLike | None) -> None:
        """Give an obstacle another hint, or none; the next path begins at the hints."""
        made, new = self.obstacle(obstacle), elements.hint(hint)
        made.hint = new
        self._change(begin_anew=True)

    # --- via points --------------------------------------------------------------------------

    def add_via_point(self, body: Body, station: ArrayLike) -> int:
        """Let the cable run through one more point, after all that it has; return its index."""
        number = self.owner.bodies.index(body)
        self._between.append(Point(VIA, number, elements.station("station", station)))
        self._change(begin_anew=True)
        return self.num_via_points - 1

    @property
    def num_via_points(self) -> int:
        """How many via points there are."""
        return len(self._between) - self.num_obstacles

    def place_of_via_point(self, via_point: int) -> int:
        """Return where in `path` a via point is."""
        places = [k for k, e in enumerate(self._between) if isinstance(e, Point)]
        return 1 + places[index("via_point", via_point, len(places))]

    def _via_point(self, via_point: int) -> Point:
        made = self._between[self.place_of_via_point(via_point) - 1]
        assert isinstance(made, Point)
        return made

    def via_point_body(self, via_point: int) -> int:
        """Return the index of the body that a via point is fixed to."""
        return self._via_point(via_point).body

    def set_via_point_body(self, via_point: int, body: Body) -> None:
        """Fix a via point to another body."""
        made, number = self._via_point(via_point), self.owner.bodies.index(body)
        made.body = number
        self._change()

    def via_point_station(self, via_point: int) -> Array:
        """Return a via point (3,) in its body's frame, m."""
        return self._via_point(via_point).station.copy()

    def set_via_point_station(self, via_point: int, station: ArrayLike) -> None:
        """Move a via point in its body."""
        made, new = self._via_point(via_point), elements.station("station", station)
        made.station = new
        self._change()

    # --- settings ----------------------------------------------------------------------------

    @property
    def curve_segment_accuracy(self) -> float:
        """Largest error of a step of the integrator along a geodesic, in m and rad."""
        return self.settings.accuracy

    @curve_segment_accuracy.setter
    def curve_segment_accuracy(self, value: float) -> None:
        self.settings.accuracy = checks.number("curve_segment_accuracy", value, minimum=1e-14)
        self._change()

    @property
    def solver_max_iterations(self) -> int:
        """Most corrections of one try at a path; 0 places the curves and measures their errors.

        A path between two fixed points may have had twice as many: where minimising the length
        stalls, smoothness itself is looked for, with as many again.
        """
        return self.settings.max_iterations

    @solver_max_iterations.setter
    def solver_max_iterations(self, value: int) -> None:
        self.settings.max_iterations = checks.integer("solver_max_iterations", value, minimum=0)
        self._change()

    @property
    def smoothness_tolerance(self) -> float:
        """Largest angle between lines and curves of a path that counts as smooth, rad."""
        return self.settings.tolerance

    @smoothness_tolerance.setter
    def smoothness_tolerance(self, value: float) -> None:
        self.settings.tolerance = checks.number("smoothness_tolerance", value, above=0.0)
        self._change()

    @property
    def algorithm(self) -> str:
        """Either "minimum_length", or "scholz_2015", which finds any stationary path."""
        return self.settings.algorithm

    @algorithm.setter
    def algorithm(self, value: str) -> None:
        self.settings.algorithm = checks.choice("algorithm", value, ALGORITHMS)
        self._change()

    @property
    def use_warm_start(self) -> bool:
        """Whether a solve begins at the last path, not at the hints."""
        return self.settings.warm_start

    @use_warm_start.setter
    def use_warm_start(self, value: bool) -> None:
        self.settings.warm_start = checks.flag("use_warm_start", value)
        self._change()

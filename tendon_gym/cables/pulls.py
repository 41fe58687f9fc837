"""Cables that pull: every cable of a state with a drive and with friction on its obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.boxes import box
from tendon_gym.cables import bodies
from tendon_gym.cables.bodies import index, wrenches
from tendon_gym.cables.drives import DRIVE, LARGEST, ConstantTension, Drive, Elastic
from tendon_gym.cables.elements import Array
from tendon_gym.cables.records import LOADS
from tendon_gym.cables.state import CableState
from tendon_gym.cables.tension import Pulls, pull

MOST_FRICTION = 10.0
"""Largest coefficient of friction."""


class CablePulls:
    """The tensions of all cables of a `CableState`, and what they do to the bodies.

    All that has a memory (the length that a winch has paid out, what was asked of a drive, how far
    friction has given way) and all that was found lie in the state, and are copied, saved and reset
    with it. What is read holds for the last `add_forces`, and is zero after a reset; results have a
    leading axis (n,) if the state is a batch.
    """

    def __init__(
        self,
        state: CableState,
        drives: Sequence[Drive],
        friction: Sequence[ArrayLike] | None = None,
        grip_stiffness: float = 1000.0,
    ) -> None:
        """Give every cable a drive.

        Args:
            state: of a system whose cables are complete.
            drives: one per cable.
            friction: per cable the coefficients of its obstacles, or one for all of them; None:
                no friction.
            grip_stiffness: by how much (N/m) friction holds a cable the more, the further it gives
                way, before it slides.

        Raises:
            TypeError: what is no state, no drive or no number.
            ValueError: not one drive and one friction per cable, or a bad coefficient.
        """
        if not isinstance(state, CableState):
            raise TypeError(f"state must be a CableState, got {checks.described(state)}")
        cables = state.system.cables
        _one_per_cable("drives", drives, len(cables))
        given = [0.0] * len(cables) if friction is None else friction
        _one_per_cable("friction", given, len(cables))
        checks.number("grip_stiffness", grip_stiffness, above=0.0, maximum=LARGEST)
        self.state = state
        elements, _, rows = state.system.records()
        records = np.zeros(len(cables), DRIVE)
        coefficients = np.zeros(elements.shape[1])
        for k, (cable, drive) in enumerate(zip(cables, drives, strict=True)):
            if not isinstance(drive, ConstantTension | Elastic):
                legal = "a ConstantTension, Elastic or Winch"
                raise TypeError(f"drives[{k}] must be {legal}, got {checks.described(drive)}")
            drive.write(records[k])
            for j, mu in enumerate(_of_obstacles(f"friction[{k}]", given[k], cable.num_obstacles)):
                coefficients[rows[k]["first"] + cable.place_of_obstacle(j)] = mu
        records["grip_stiffness"] = grip_stiffness
        self.values = Pulls(records, coefficients)
        self._box = box(self.values)
        self._layout = state.layout

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle, with a state of its own, is made from."""
        return {k: v for k, v in vars(self).items() if k != "_box"}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        """Make the box for kernels anew."""
        vars(self).update(parts)
        self._box = box(self.values)

    def add_forces(self, forces: NDArray, dt: float = 0.0) -> None:
        """Let winches turn and friction give way for dt, and add what all cables do to the bodies.

        Args:
            forces: (n, b, 6), also for a single simulation; added to: force (N) and moment (N m)
                about the origin of each body, in world axes.
            dt: s; 0: what has a memory stays as it is.

        Raises:
            ValueError: a bad value, or the cables have got more of anything since this was made.
        """
        self._check_layout()
        dt = checks.number("dt", dt, minimum=0.0)
        wrenches(forces, (*self.state.position.shape[:2], 6))
        pull(self.state.boxed, self._box, dt, forces)

    def command(self, cable: int, value: ArrayLike, simulations: ArrayLike | None = None) -> None:
        """Ask for another rest length (m) of a winch, or another constant tension (N).

        It holds until the simulation's reset.

        Args:
            cable: index.
            value: one, or one per simulation that is meant.
            simulations: index, or indices; None: all.

        Raises:
            TypeError, IndexError: no such cable or simulations.
            ValueError: the cable has no winch and no constant tension, or a value is negative.
        """
        k = self._at(cable)
        drive = self.values.drives[k]
        if drive["elastic"] and not drive["speed"] > 0.0:
            raise ValueError(f"cable {k} is elastic and has no winch: nothing can be asked of it")
        rows = bodies.simulations(simulations, self.state.n)
        shape = rows.shape if np.ndim(value) else ()
        wanted = checks.array("value", value, shape, minimum=0.0, maximum=LARGEST)
        usual = drive["target"] if drive["elastic"] else drive["tension"]
        self.state.memory["asked"][rows, k] = wanted - usual

    # --- what was found ----------------------------------------------------------------------

    def tension(self, cable: int = 0) -> Any:
        """Return the tension at the origin, N."""
        return self.load("tension", cable)

    def tensions(self, cable: int, obstacle: int) -> Array:
        """Return the tensions (..., 2) before and after an obstacle, N; zero if it is off it."""
        nodes = self._nodes(cable, obstacle)
        return self.state.shaped(np.stack([nodes["before"], nodes["after"]], axis=-1))

    def held(self, cable: int, obstacle: int) -> Any:
        """Return how far an obstacle's friction has let the cable give way, m, signed as sliding.

        Times the grip's stiffness it is the difference of `tensions` in a cable at rest.
        """
        return self.state.shaped(self._nodes(cable, obstacle)["held"].copy())

    def sliding(self, cable: int, obstacle: int) -> Any:
        """Return how fast a cable slides over an obstacle, m/s, positive to its termination."""
        return self.state.shaped(self._nodes(cable, obstacle)["sliding"].copy())

    def angle(self, cable: int, obstacle: int) -> Any:
        """Return how far a cable turns on an obstacle with friction, rad."""
        return self.state.shaped(self._nodes(cable, obstacle)["angle"].copy())

    def load(self, name: str, cable: int = 0) -> Any:
        """Return one of LOADS, by name."""
        checks.choice("name", name, LOADS)
        return self.state.shaped(self.state.memory[name][:, self._at(cable)].copy())

    def _check_layout(self) -> None:
        if self.state.layout != self._layout:
            before, now = checks.shown(self._layout), checks.shown(self.state.layout)
            raise ValueError(
                "the cables have changed since these CablePulls were made, which need new ones: "
                f"they had {before} points and obstacles, now {now}"
            )

    def _at(self, cable: int) -> int:
        self._check_layout()
        return index("cable", cable, len(self.values.drives))

    def _nodes(self, cable: int, obstacle: int) -> NDArray:
        k = self._at(cable)
        place = self.state.system.cables[k].place_of_obstacle(obstacle)
        return self.state.nodes[:, self.state.system.records()[2][k]["first"] + place]


def _one_per_cable(name: str, value: object, count: int) -> None:
    """Raise unless `value` is a sequence with something for every cable."""
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        legal = "a sequence, with something for every cable"
        raise TypeError(f"{name} must be {legal}, got {checks.described(value)}")
    if len(value) != count:
        checks.reject(f"number of {name}", len(value), f"{count}, one per cable")


def _of_obstacles(name: str, value: ArrayLike, count: int) -> Array:
    """Return coefficients of friction (count,), from one for all or one per obstacle."""
    shape = (count,) if np.ndim(value) else ()
    given = checks.array(name, value, shape, minimum=0.0, maximum=MOST_FRICTION)
    return np.broadcast_to(given, (count,))

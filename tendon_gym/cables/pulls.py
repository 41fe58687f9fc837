"""Cables that pull: every cable of a state with a drive and with friction on its obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.boxes import box
from tendon_gym.cables.bodies import index
from tendon_gym.cables.drives import DRIVE, GRIP, LARGEST, LOAD, Drive
from tendon_gym.cables.elements import Array
from tendon_gym.cables.state import CableState
from tendon_gym.cables.tension import Pulls, pull

MOST_FRICTION = 10.0
"""Largest coefficient of friction."""


class CablePulls:
    """The tensions of all cables of a `CableState`, and what they do to the bodies.

    What has a memory (the length that a winch has paid out, what was asked of a drive, how far
    friction has given way) lies in the state, and is copied, saved and reset with it. What is read
    holds for the last `add_forces`; results have a leading axis (n,) if the state is a batch.
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
            ValueError: not one drive and one friction per cable, or a bad coefficient.
        """
        cables = state.system.cables
        if len(drives) != len(cables):
            checks.reject("number of drives", len(drives), f"{len(cables)}, one per cable")
        coefficients = [0.0] * len(cables) if friction is None else friction
        if len(coefficients) != len(cables):
            checks.reject("number of frictions", len(coefficients), f"{len(cables)}, as of cables")
        self.state = state
        elements, _, rows = state.system.records()
        records = np.zeros(len(cables), DRIVE)
        grips = np.zeros((state.n, elements.shape[1]), GRIP)
        for k, (cable, drive) in enumerate(zip(cables, drives, strict=True)):
            drive.write(records[k])
            places = [cable.place_of_obstacle(j) for j in range(cable.num_obstacles)]
            values = np.broadcast_to(np.asarray(coefficients[k], float), (len(places),))
            for place, value in zip(places, values, strict=True):
                name = f"friction of cable {k}"
                mu = checks.number(name, float(value), minimum=0.0, maximum=MOST_FRICTION)
                grips["friction"][:, rows[k]["first"] + place] = mu
        checks.number("grip_stiffness", grip_stiffness, above=0.0, maximum=LARGEST)
        records["grip_stiffness"] = grip_stiffness
        self.values = Pulls(records, grips, np.zeros((state.n, len(cables)), LOAD))
        self._box = box(self.values)

    def add_forces(self, forces: NDArray, dt: float = 0.0) -> None:
        """Let winches turn and friction give way for dt, and add what all cables do to the bodies.

        Args:
            forces: (n, b, 6), also for a single simulation; added to: force (N) and moment (N m)
                about the origin of each body, in world axes.
            dt: s; 0: what has a memory stays as it is.
        """
        shape = (*self.state.position.shape[:2], 6)
        if forces.shape != shape or forces.dtype != np.float64:
            got = f"{forces.dtype} {forces.shape}"
            raise ValueError(f"forces must be a float64 array of shape {shape}, got {got}")
        pull(self.state.boxed, self._box, float(dt), forces)

    def command(self, cable: int, value: ArrayLike, simulations: ArrayLike | None = None) -> None:
        """Ask for another rest length (m) of a winch, or another constant tension (N).

        It holds until the simulation's reset.

        Args:
            cable: index.
            value: one, or one per simulation.
            simulations: indices; None: all.

        Raises:
            ValueError: the cable has no winch and no constant tension, or a value is negative.
        """
        k = index("cable", cable, len(self.values.drives))
        drive = self.values.drives[k]
        if drive["elastic"] and not drive["speed"] > 0.0:
            raise ValueError(f"cable {k} is elastic and has no winch: nothing can be asked of it")
        rows = np.arange(self.state.n) if simulations is None else np.asarray(simulations)
        wanted = np.asarray(value, float)
        wanted = checks.array("value", wanted, rows.shape if wanted.ndim else ())
        if not ((wanted >= 0.0) & (wanted <= LARGEST)).all():
            checks.reject("value", value, f"from 0 to {LARGEST:g}")
        usual = drive["target"] if drive["elastic"] else drive["tension"]
        self.state.memory["asked"][rows, k] = wanted - usual

    # --- what was found ----------------------------------------------------------------------

    def tension(self, cable: int = 0) -> Any:
        """Return the tension at the origin, N."""
        return self.state.shaped(self.state.memory["tension"][:, self._at(cable)].copy())

    def tensions(self, cable: int, obstacle: int) -> Array:
        """Return the tensions (..., 2) before and after an obstacle, N; zero if it is off it."""
        grips = self._grips(cable, obstacle)
        return self.state.shaped(np.stack([grips["before"], grips["after"]], axis=-1))

    def held(self, cable: int, obstacle: int) -> Any:
        """Return how far an obstacle's friction has let the cable give way, m, signed as sliding.

        Times the grip's stiffness it is the difference of `tensions` in a cable at rest.
        """
        nodes = self.state.nodes[:, self._element(cable, obstacle)]
        return self.state.shaped(nodes["held"].copy())

    def sliding(self, cable: int, obstacle: int) -> Any:
        """Return how fast a cable slides over an obstacle, m/s, positive to its termination."""
        return self.state.shaped(self._grips(cable, obstacle)["sliding"].copy())

    def angle(self, cable: int, obstacle: int) -> Any:
        """Return how far a cable turns on an obstacle with friction, rad."""
        return self.state.shaped(self._grips(cable, obstacle)["angle"].copy())

    def load(self, name: str, cable: int = 0) -> Any:
        """Return a field of LOAD, by name."""
        checks.choice("name", name, LOAD.names or ())
        return self.state.shaped(self.values.loads[name][:, self._at(cable)].copy())

    def _at(self, cable: int) -> int:
        return index("cable", cable, len(self.values.drives))

    def _element(self, cable: int, obstacle: int) -> int:
        k = self._at(cable)
        place = self.state.system.cables[k].place_of_obstacle(obstacle)
        return self.state.system.records()[2][k]["first"] + place

    def _grips(self, cable: int, obstacle: int) -> NDArray:
        return self.values.grips[:, self._element(cable, obstacle)]

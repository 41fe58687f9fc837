"""The owner of cables: gives each its index and solves all of them once per state."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.cables import elements
from tendon_gym.cables.bodies import Bodies
from tendon_gym.cables.configuration import CableConfiguration
from tendon_gym.cables.records import (
    CABLE,
    NO_FAULT,
    NOT_FINITE,
    OFF_PATCH,
    POINT_INSIDE,
)
from tendon_gym.cables.state import CableState

FAULTS = {
    NO_FAULT: "none",
    NOT_FINITE: "not_finite",
    POINT_INSIDE: "point_inside",
    OFF_PATCH: "off_patch",
}
"""Names of what can be wrong with a path, by PATH.fault."""


class CableFault(ValueError):
    """A cable has no path: a point of it lies inside an obstacle, or a pose is not finite.

    Attributes:
        simulation, cable: which one.
        obstacle: index in the cable, None if the fault is not about an obstacle.
        depth: how deep a point lies inside it, m.
    """

    def __init__(
        self, message: str, simulation: int, cable: int, obstacle: int | None, depth: float
    ) -> None:
        super().__init__(message)
        self.simulation, self.cable = simulation, cable
        self.obstacle, self.depth = obstacle, depth


class NotConverged(RuntimeError):
    """A path is less smooth than asked for."""


class CableSystem:
    """Cables over the same bodies, solved together.

    Attributes:
        bodies: what they are attached to.
        cables: in the order of their indices.
        on_fault: "raise" a CableFault where a cable has no path, or "keep" the last good one (the
            straight line where there has been none); `CableSpan.fault` tells.
        on_not_converged: "ignore", "warn" or "raise"; `CableSpan.converged` tells.
        revision: changes whenever a cable's configuration does.
    """

    def __init__(
        self, bodies: Any, on_fault: str = "raise", on_not_converged: str = "ignore"
    ) -> None:
        """Begin without cables.

        Args:
            bodies: an mjModel, names of bodies, or how many there are.
            on_fault: "raise" or "keep".
            on_not_converged: "ignore", "warn" or "raise".
        """
        self.bodies = Bodies.of(bodies)
        self.on_fault = checks.choice("on_fault", on_fault, ["raise", "keep"])
        self.on_not_converged = checks.choice(
            "on_not_converged", on_not_converged, ["ignore", "warn", "raise"]
        )
        self.cables: list[CableConfiguration] = []
        self.revision = 0
        self._records: tuple[int, tuple[NDArray, NDArray, NDArray]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle is made from: no addresses of functions."""
        return vars(self) | {"_records": None}

    def adopt(self, cable: CableConfiguration) -> int:
        """Take in a cable that has no owner yet and return its index.

        Raises:
            TypeError: it is no cable.
            ValueError: it has an owner.
        """
        if not isinstance(cable, CableConfiguration):
            raise TypeError(f"cable must be a CableSpan, got {checks.described(cable)}")
        if cable.system is not None:
            raise ValueError(f"cable {cable.index} already belongs to a CableSystem")
        self.cables.append(cable)
        cable.system = self
        self.revision += 1
        return len(self.cables) - 1

    def new_state(self, n: int | None = None) -> CableState:
        """Return a state with all bodies at the origin: for one simulation, or a batch of n."""
        count = 1 if n is None else checks.integer("n", n, minimum=1)
        return CableState(self, count, scalar=n is None)

    def changed(self) -> None:
        """Let every state take over the configuration before its next solve."""
        self.revision += 1

    def generations(self) -> tuple[int, ...]:
        """Return a number per cable that changes when its last path is no good beginning."""
        return tuple(cable.generation for cable in self.cables)

    def records(self) -> tuple[NDArray, NDArray, NDArray]:
        """Return elements (1, e), tables and cables (k,) as kernels read them.

        Raises:
            ValueError: a cable lacks an end.
        """
        if self._records is None or self._records[0] != self.revision:
            paths = [cable.path for cable in self.cables]
            made, tables = elements.records(paths)
            cables = np.zeros(len(paths), CABLE)
            first = 0
            for cable, record in zip(self.cables, cables, strict=True):
                settings = cable.settings
                record["first"], record["last"] = first, first + len(cable.path) - 1
                record["accuracy"], record["tolerance"] = settings.accuracy, settings.tolerance
                record["max_iterations"] = settings.max_iterations
                record["algorithm"] = elements.ALGORITHMS[settings.algorithm]
                record["warm_start"] = settings.warm_start
                first += len(cable.path)
            self._records = (self.revision, (made, tables, cables))
        return self._records[1]

    def report(self, state: CableState, faulty: bool, rough: bool) -> None:
        """Raise or warn about what a solve found, as this system is told to."""
        paths = state.problem.paths
        if faulty and self.on_fault == "raise":
            i, k = (int(x) for x in np.argwhere(paths["fault"] != NO_FAULT)[0])
            fault = self._fault(state, i, k)
            state.mark_unsolved()
            raise fault
        if rough and self.on_not_converged != "ignore":
            bad = (paths["converged"] == 0.0) & (paths["fault"] == NO_FAULT)
            i, k = (int(x) for x in np.argwhere(bad)[0])
            wanted = self.cables[k].settings.tolerance
            message = (
                f"cable {k}{_of(state, i)} did not converge: smoothness "
                f"{paths['smoothness'][i, k]:.3g} rad after {int(paths['iterations'][i, k])} "
                f"iterations, asked for {wanted:.3g}"
            )
            if self.on_not_converged == "raise":
                state.mark_unsolved()
                raise NotConverged(message)
            warnings.warn(message, stacklevel=4)

    def _fault(self, state: CableState, i: int, k: int) -> CableFault:
        """Return the exception for a path's fault."""
        path = state.problem.paths[i, k]
        kind, depth = float(path["fault"]), float(path["fault_depth"])
        place = int(path["fault_element"]) - int(state.problem.cables[k]["first"])
        obstacle = self.cables[k].obstacle_at(place)
        name = f"cable {k}{_of(state, i)}"
        if kind == NOT_FINITE:
            body = self.cables[k].path[place].body
            return CableFault(f"{name}: the pose of body {body} is not finite", i, k, None, 0.0)
        if kind == OFF_PATCH:
            words = f"{name} leaves the patch of obstacle {obstacle}, a height map"
            return CableFault(words, i, k, obstacle, 0.0)
        words = f"{name}: a point of its path lies {depth:.6g} m inside obstacle {obstacle}"
        return CableFault(words, i, k, obstacle, depth)


def _of(state: CableState, i: int) -> str:
    return "" if state.scalar else f" of simulation {i}"

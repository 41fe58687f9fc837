"""Constraint rows of MuJoCo that obey a compliance and a share of correction, exactly.

RaiSim's law for a row with position error C, velocity u = J v, step h, compliance c and correction
b is u+ = -b C / h - (c / h^2) p with the impulse p. MuJoCo's row has a stiffness k, a damping and a
softness R (its documentation, chapter "Computation", constraint model):

- Euler, implicit and implicitfast: u+ = u - B u - K C / h - R p, with B = h b, K = h^2 k.
- discrete: u+ = (u - K C / h - R p) / (1 + B + K); a large 1 + B + K = 1 + N leaves of the
  incoming u only 1 / (1 + N).

R comes from the impedance d by R = A (1 - d) / d, with d in [0.0001, 0.9999]. A is the inverse
inertia along the row in the model's reference pose, 1 / kg. MuJoCo uses it for nothing else, so
that another one may stand in its place: it only says that R is from A / 9999 to 9999 A.
"""

from __future__ import annotations

from typing import NamedTuple

IMPEDANCE = (1e-4, 0.9999)
"""The least and greatest impedance that MuJoCo allows."""
HARD = 1e-3
"""Share of the inverse inertia that hard rows are made with."""
STIFF = 1e3
"""N of rows under the discrete integrator."""


class Row(NamedTuple):
    """solref (stiffness, damping), negative as MuJoCo takes them literally, and the impedance."""

    stiffness: float
    damping: float
    impedance: float

    @property
    def solref(self) -> tuple[float, float]:
        """As MuJoCo's solref."""
        return self.stiffness, self.damping

    @property
    def solimp(self) -> tuple[float, float, float, float, float]:
        """As MuJoCo's solimp: the same impedance everywhere."""
        return self.impedance, self.impedance, 1e-3, 0.5, 2.0


def inertia_for(inertia: float, h: float, compliance: float, discrete: bool) -> float:
    """Return the A to be used for a row of a compliance (m/N) with the inverse inertia A, 1/kg.

    Without compliance it is small, for a row that is harder than MuJoCo's hardest; with one it is
    at least so great that R can be what it should.
    """
    low = IMPEDANCE[0]
    return max(HARD * inertia, _size(discrete) * compliance / h**2 * low / (1.0 - low))


def impedance(inertia: float, softness: float) -> float:
    """Return d for the inverse inertia A and the softness R, 1/kg both."""
    low, high = IMPEDANCE
    if inertia <= 0.0:  # nothing moves along the row, and MuJoCo drops it
        return high
    return min(max(inertia / (inertia + softness), low), high)


def bilateral(
    inertia: float, h: float, correction: float, compliance: float, discrete: bool
) -> Row:
    """Return the row of a lock, a coupling, or a limit that is violated."""
    size = _size(discrete)
    d = impedance(inertia, size * compliance / h**2)
    k = correction * size
    # B + K = N; with all of an error corrected at once that leaves no damping
    damping = max(size - 1.0 - k, 0.0) if discrete else 1.0
    return Row(-k * d / h**2, -damping * d / h, d)


def friction(inertia: float, h: float, compliance: float, discrete: bool) -> Row:
    """Return the row of dry friction, which brings the velocity to zero."""
    size = _size(discrete)
    d = impedance(inertia, size * compliance / h**2)
    return Row(-1.0, -(size - 1.0 if discrete else 1.0) * d / h, d)


def _size(discrete: bool) -> float:
    """Return 1 + B + K where it divides, else 1."""
    return 1.0 + STIFF if discrete else 1.0

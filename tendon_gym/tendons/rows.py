"""Constraint rows of MuJoCo that obey a compliance and a share of correction, exactly.

RaiSim's law for a row with position error C, velocity u = J v, step h, compliance c and correction
b is u+ = -b C / h - (c / h^2) p with the impulse p: p = h f. MuJoCo's row has a stiffness, a damping
and a softness R (its chapter "Computation", constraint model):

- Euler, implicit and implicitfast: u+ = u - B u - K C / h - R p, with B = h b, K = h^2 k.
- discrete: u+ = (u - K C / h - R p) / (1 + B + K); a large 1 + B + K = 1 + N leaves of the
  incoming u only 1 / (1 + N).

R comes from the impedance d by R = A (1 - d) / d, where A is the inverse inertia along the row that
MuJoCo computed in the model's reference pose; d stays within [0.0001, 0.9999].
"""

from __future__ import annotations

from typing import NamedTuple

IMPEDANCE = (1e-4, 0.9999)
"""The least and greatest impedance that MuJoCo allows."""
STIFF = 1e3
"""N of rows under the discrete integrator, where the compliance leaves room for it."""


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


def impedance(inertia: float, softness: float) -> float:
    """Return d for the inverse inertia A and the softness R, 1/kg both."""
    low, high = IMPEDANCE
    if inertia <= 0.0:  # nothing moves along the row, and MuJoCo drops it
        return high
    return min(max(inertia / (inertia + softness), low), high)


def bilateral(inertia: float, h: float, correction: float, compliance: float, discrete: bool) -> Row:
    """Return the row of a lock, a coupling, or a limit that is violated."""
    softness = compliance / h**2
    if not discrete:
        d = impedance(inertia, softness)
        return Row(-correction * d / h**2, -d / h, d)
    size = 1.0 + stiff(inertia, softness)
    d = impedance(inertia, size * softness)
    k = correction * size
    return Row(-k * d / h**2, -max(size - 1.0 - k, 0.0) * d / h, d)


def friction(inertia: float, h: float, compliance: float, discrete: bool) -> Row:
    """Return the row of dry friction, which brings the velocity to zero."""
    softness = compliance / h**2
    size = stiff(inertia, softness) if discrete else 1.0
    d = impedance(inertia, softness * ((1.0 + size) if discrete else 1.0))
    return Row(-1.0, -size * d / h, d)


def stiff(inertia: float, softness: float) -> float:
    """Return N under the discrete integrator: as large as the least impedance leaves room for."""
    if softness == 0.0:
        return STIFF
    low = IMPEDANCE[0]
    room = inertia * (1.0 - low) / (low * softness) - 1.0
    return min(max(room, 1.0), STIFF)

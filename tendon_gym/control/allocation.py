"""From the bend that is asked of the arm to the tensions of its tendons.

A bend vector (mu cos beta, mu sin beta) names a direction and a magnitude 0 <= mu <= 1 in the
base's x and y axes. Tendon i at angle phi_i and radius r_i adds the bending moment
T_i r_i (cos phi_i, sin phi_i), and can only pull: 0 <= T_i <= T_max,i.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.compiled import compiled, inlined
from tendon_gym.references.setpoint import Record

KIND_EQUAL = 0
KIND_BOUNDED = 1
KIND_MAX_COS = 2
_KINDS = {"equal": KIND_EQUAL, "bounded": KIND_BOUNDED, "max_cos": KIND_MAX_COS}

TENDON = np.dtype(
    [
        ("direction", np.float64, 2),
        ("radius", np.float64),
        ("tension_max", np.float64),
    ]
)
"""One tendon as the kernels read it; direction is (cos phi, sin phi)."""

ALLOCATION = np.dtype([("kind", np.int64), ("authority", np.float64), ("span", np.float64)])
"""What the tendons share; span is the largest of max_i cos - min_i cos over all directions."""

# The piecewise linear problem takes a few steps; the bound is for a fault in the numbers.
_STEPS = 60
_CLOSE = 1e-12
_FLAT = 1e-9


@dataclass(frozen=True)
class TendonAllocation:
    """A map from bend vectors to tensions.

    Kinds:
        equal: evenly spaced alike tendons, T_i = mu T_max / S (c_i - min_j c_j) with
            c_i = cos(beta - phi_i) and S the largest spread of the c_i over all beta. The
            slackest tendon is at zero, none exceeds T_max, every direction gets the same moment.
        bounded: any tendons; the tensions of least norm that give the moment mu * authority
            exactly, within their bounds.
        max_cos: the older map T_i = mu T_max max(c_i, 0), whose moment depends on beta.

    "equal" and "max_cos" are maps of "An Open MuJoCo Simulation Framework for a Quadrotor
    Carrying a Tendon-Driven Soft Continuum Arm".

    Attributes:
        angles: phi_i, rad, at least three, in any order.
        radii: r_i, m.
        tension_max: T_max,i, N.
        kind: see above.
    """

    angles: tuple[float, ...]
    radii: tuple[float, ...]
    tension_max: tuple[float, ...]
    kind: Literal["equal", "bounded", "max_cos"] = "equal"

    def __post_init__(self) -> None:
        """Reject tendons that cannot bend the arm in every direction, and uneven "equal" ones."""
        checks.choice("kind", self.kind, _KINDS)
        n = len(checks.array("angles", self.angles, (None,)))
        if n < 3:
            raise ValueError(f"angles must be of at least 3 tendons, got {n}")
        for name in ("radii", "tension_max"):
            for k, value in enumerate(checks.array(name, getattr(self, name), (n,)).tolist()):
                checks.number(f"{name}[{k}]", value, above=0.0)
        if self._smallest_support() < 1e-6 * max(self._pulls()):
            raise ValueError(f"angles must not leave half of the circle empty, got {self.angles}")
        if self.kind == "equal" and not self._even():
            raise ValueError(
                'kind "equal" needs evenly spaced tendons of one radius and tension_max, got '
                f"angles {self.angles}, radii {self.radii}, tension_max {self.tension_max}; "
                'use "bounded"'
            )

    @classmethod
    def of(cls, angles: ArrayLike, radii: ArrayLike, tension_max: ArrayLike) -> TendonAllocation:
        """Return the "equal" map where the tendons allow it, else the "bounded" one."""
        given = [
            tuple(checks.array(name, value, (None,)).tolist())
            for name, value in (("angles", angles), ("radii", radii), ("tension_max", tension_max))
        ]
        bounded = cls(*given, kind="bounded")
        return cls(*given, kind="equal") if bounded._even() else bounded

    @property
    def authority(self) -> float:
        """The moment at mu = 1, N m; for "max_cos" in the weakest direction.

        For "bounded" it is the largest that exists in every direction: the radius of the circle
        inscribed in the zonotope of all moments. "equal" reaches the same for n = 3 and 4 and
        gives part of it away for more tendons.
        """
        if self.kind == "bounded":
            return self._smallest_support()
        if self.kind == "equal":
            return len(self.angles) * self._pulls()[0] / (2.0 * self._span())
        sweep = np.concatenate([np.linspace(0.0, 2.0 * np.pi, 3601), *self._normals()])
        cosines = np.cos(sweep[:, None] - np.array(self.angles))
        tensions = np.maximum(cosines, 0.0) * np.array(self.tension_max)
        return float(np.linalg.norm(self.moment(tensions), axis=1).min())

    def moment(self, tensions: ArrayLike) -> NDArray[np.float64]:
        """Return the bending moment sum T_i r_i (cos phi_i, sin phi_i), (..., 2) N m.

        Args:
            tensions: (..., n_tendons), N.
        """
        angles, radii = np.array(self.angles), np.array(self.radii)
        arms = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
        return np.asarray(tensions, dtype=np.float64) @ arms

    def tendons(self) -> NDArray[np.void]:
        """Return the tendons as the kernels read them, (n_tendons,) of TENDON."""
        rows = np.zeros(len(self.angles), TENDON)
        rows["direction"] = np.stack([np.cos(self.angles), np.sin(self.angles)], axis=1)
        rows["radius"] = self.radii
        rows["tension_max"] = self.tension_max
        return rows

    def record(self) -> NDArray[np.void]:
        """Return what the tendons share as an ALLOCATION array of length 1."""
        return np.array([(_KINDS[self.kind], self.authority, self._span())], ALLOCATION)

    def _pulls(self) -> list[float]:
        return [r * t for r, t in zip(self.radii, self.tension_max, strict=True)]

    def _normals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        angles = np.array(self.angles)
        return angles + np.pi / 2.0, angles - np.pi / 2.0

    def _smallest_support(self) -> float:
        """Return the least over directions u of max m . u: it is at a side's normal."""
        cosines = np.cos(np.concatenate(self._normals())[:, None] - np.array(self.angles))
        return float((np.maximum(cosines, 0.0) @ np.array(self._pulls())).min())

    def _span(self) -> float:
        n = len(self.angles)
        return 2.0 * math.cos(math.pi / (2.0 * n)) if n % 2 else 2.0

    def _even(self) -> bool:
        """Return whether the tendons are alike and their gaps equal to within 1e-9 rad."""
        turn = 2.0 * np.pi
        ordered = np.sort(np.mod(np.array(self.angles), turn))
        gaps = np.diff(ordered, append=ordered[0] + turn)
        alike = np.ptp(self.radii) <= 1e-12 * max(self.radii)
        alike = alike and np.ptp(self.tension_max) <= 1e-12 * max(self.tension_max)
        return bool(alike and np.abs(gaps - turn / len(ordered)).max() < 1e-9)


@inlined
def allocate_one(
    bend: NDArray[np.float64],
    tendons: NDArray[np.void],
    allocation: Record,
    out: NDArray[np.float64],
) -> None:
    """Write the tensions (n_tendons,), N, for one bend vector (2,) to `out`."""
    length = math.sqrt(bend[0] * bend[0] + bend[1] * bend[1])
    share = 1.0 / length if length > 1.0 else 1.0
    x, y = share * bend[0], share * bend[1]
    if allocation["kind"] == KIND_BOUNDED:
        authority = allocation["authority"]
        _least_tensions(authority * x, authority * y, authority, tendons, out)
        return
    n = tendons.shape[0]
    slackest = 0.0
    for i in range(n):
        direction = tendons[i]["direction"]
        out[i] = direction[0] * x + direction[1] * y
        slackest = min(slackest, out[i])
    span = allocation["span"]
    for i in range(n):
        most = tendons[i]["tension_max"]
        if allocation["kind"] == KIND_EQUAL:
            out[i] = min(most, most / span * (out[i] - slackest))
        else:
            out[i] = min(most, most * max(out[i], 0.0))


@compiled
def _pull(
    x: float, y: float, tendons: NDArray[np.void], out: NDArray[np.float64]
) -> tuple[float, float, float, float, float]:
    """Write T = clip(A' l, 0, T_max) for the multiplier l = (x, y) to `out`.

    Returns A T (2) and the three entries of its derivative by l.
    """
    mx, my, hxx, hxy, hyy = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(tendons.shape[0]):
        radius, most = tendons[i]["radius"], tendons[i]["tension_max"]
        ax = radius * tendons[i]["direction"][0]
        ay = radius * tendons[i]["direction"][1]
        free = ax * x + ay * y
        out[i] = min(max(free, 0.0), most)
        mx += ax * out[i]
        my += ay * out[i]
        if 0.0 < free < most:
            hxx += ax * ax
            hxy += ax * ay
            hyy += ay * ay
    return mx, my, hxx, hxy, hyy


@compiled
def _stride(
    x: float, y: float, dx: float, dy: float, slope: float, tendons: NDArray[np.void]
) -> float:
    """Return the t >= 0 at which the dual function is least on the line l + t d, exactly.

    Its derivative along the line is `slope` < 0 at t = 0, and grows piecewise linearly: walk from
    bend to bend, a tendon reaching one of its bounds at each.
    """
    t, length = 0.0, math.sqrt(dx * dx + dy * dy)
    for _ in range(2 * tendons.shape[0] + 1):
        growth, end = 0.0, math.inf
        for i in range(tendons.shape[0]):
            radius, most = tendons[i]["radius"], tendons[i]["tension_max"]
            direction = tendons[i]["direction"]
            rate = radius * (direction[0] * dx + direction[1] * dy)
            # A tendon square to the line never leaves its place, whatever its cosine's rounding.
            if abs(rate) <= _CLOSE * radius * length:
                continue
            start = radius * (direction[0] * x + direction[1] * y)
            slack, full = -start / rate, (most - start) / rate
            first, last = min(slack, full), max(slack, full)
            if first > t:
                end = min(end, first)
            elif last > t:
                end = min(end, last)
                growth += rate * rate
        if end == math.inf or slope >= 0.0:
            return t
        if slope + growth * (end - t) >= 0.0:
            return t - slope / growth
        slope += growth * (end - t)
        t = end
    return t


@compiled
def _least_tensions(
    mx: float,
    my: float,
    authority: float,
    tendons: NDArray[np.void],
    out: NDArray[np.float64],
) -> None:
    """Write the tensions of least norm with A T = (mx, my) and 0 <= T <= T_max to `out`.

    The optimum is T = clip(A' l, 0, T_max) for the l that minimises a convex, piecewise
    quadratic dual function in the plane. Newton steps with an exact line search find it
    (semismooth Newton; Qi and Sun 1993, "A nonsmooth version of Newton's method"), and end on
    the exact active set.
    """
    size = 0.0
    for i in range(tendons.shape[0]):
        size += tendons[i]["radius"] * tendons[i]["radius"]
    # Half of the tendons pull: where even ones without an upper bound would have their optimum.
    x, y = 4.0 * mx / size, 4.0 * my / size
    for _ in range(_STEPS):
        ax, ay, hxx, hxy, hyy = _pull(x, y, tendons, out)
        gx, gy = ax - mx, ay - my
        if abs(gx) + abs(gy) <= _CLOSE * authority:
            return
        # Where the free tendons span no plane the step needs a little curvature of its own.
        if hxx * hyy - hxy * hxy <= _FLAT * size * size:
            hxx, hyy = hxx + _FLAT * size, hyy + _FLAT * size
        determinant = hxx * hyy - hxy * hxy
        dx, dy = (hxy * gy - hyy * gx) / determinant, (hxy * gx - hxx * gy) / determinant
        t = _stride(x, y, dx, dy, gx * dx + gy * dy, tendons)
        x, y = x + t * dx, y + t * dy


@compiled
def allocate(
    bend: NDArray[np.float64],
    tendons: NDArray[np.void],
    allocation: NDArray[np.void],
    out: NDArray[np.float64],
) -> None:
    """Write the tensions for n bend vectors; one longer than 1 is shortened to 1.

    Args:
        bend: (n, 2), (mu cos beta, mu sin beta) in the base's x and y axes.
        tendons: (n_tendons,) of TENDON, from `TendonAllocation.tendons`.
        allocation: (1 or n,) of ALLOCATION, from `TendonAllocation.record`.
        out: (n, n_tendons), tensions in N, written.
    """
    for i in range(bend.shape[0]):
        allocate_one(bend[i], tendons, allocation[i % allocation.shape[0]], out[i])

"""Least squares through roll-outs: estimates with standard errors.

Minimised is the sum of squares of (simulated - measured) / noise over the parameters and the
windows' starts. With J its derivative, J^T J is the information on all of them; what is left of it
for the parameters when the starts are free (its Schur complement) has the inverse of their
covariance (Seber and Wild 2003, "Nonlinear Regression", chapters 2 and 5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from tendon_gym import checks
from tendon_gym.identification.estimate import Estimate
from tendon_gym.identification.recording import Recording
from tendon_gym.identification.shooting import Shooting
from tendon_gym.identification.unknowns import Unknowns
from tendon_gym.model import ModelParameters

Array = NDArray[np.float64]
CHANGE = 1e-6
"""For forward differences: share of a parameter's scale; offsets in rad, m, rad/s, m/s."""
ROUNDS = 2
"""Fits in which the noise is found; the first takes that of the signals' second differences."""
TOLERANCE = 1e-8
"""Of the least squares: relative change of their sum or of the unknowns at the end."""
LEAST_INFORMATION = 1.0
"""On a direction of the parameters, in that of their bounds taken as uniform distributions."""
AT_BOUND = 1e-6
"""Share of the bounds' width within which a value counts as one of them."""
QUIET = 1e-12
"""Least noise that is found, so that a recording without noise can be fitted, in SI units."""


def identify(
    recording: Recording,
    parameters: ModelParameters,
    unknowns: Mapping[str, tuple[float, float]],
    window: float = 0.5,
    noise: Mapping[str, float] | None = None,
) -> Estimate:
    """Return the values of unknown parameters with which the model moves as it was recorded.

    Args:
        recording: what was measured. With joint angles, and the base's pose if it flies, it is cut
            into windows; else the base must be clamped, and the recording begin at rest.
        parameters: of the model; those of the unknown ones are where the search begins.
        unknowns: lowest and highest value by name: "arm.bending_stiffness", "airframe.inertia.0"
            and so on, or "thrust_gain" and "tension_gain", what rotors and winches do of the
            recorded controls.
        window: length of the windows, s. Longer ones tell more, and are harder to find the way in.
        noise: standard deviation of each signal's noise; None: it is found.

    Raises:
        ValueError: unknown names, bounds that no model can have, a recording of another model, or a
            simulation that does not stay finite within the bounds.
    """
    problem = _Problem(Shooting(recording, Unknowns(parameters, unknowns), window))
    levels, rounds = problem.first_noise(), ROUNDS
    if noise is not None:
        checks.known_keys("noise", noise, levels)
        levels = {
            name: checks.number(f"noise[{name!r}]", noise.get(name), above=0.0) for name in levels
        }
        rounds = 1
    z, evaluations = problem.start, 0
    for _ in range(rounds):
        found = least_squares(
            problem.residuals, z, problem.derivative,  # pyright: ignore[reportArgumentType]
            bounds=(problem.low, problem.high), args=(levels,), x_scale="jac",
            xtol=TOLERANCE, ftol=TOLERANCE, gtol=TOLERANCE,
        )  # fmt: skip
        z, evaluations = found.x, evaluations + found.nfev
        if noise is None:
            levels = problem.noise_left(z)
    return _estimate(problem, z, levels, evaluations)


class _Problem:
    """The least-squares problem in z: parameters in units of their scale, then all offsets."""

    def __init__(self, shooting: Shooting) -> None:
        self.shooting, unknowns = shooting, shooting.unknowns
        self.p, self.free = len(unknowns.names), shooting.free
        width = unknowns.high - unknowns.low
        self.scale = np.maximum(np.abs(unknowns.start), 1e-3 * width)
        offsets = np.zeros(shooting.windows * self.free)
        inside = 1e-6 * width  # least_squares must begin off the bounds
        start = np.clip(unknowns.start, unknowns.low + inside, unknowns.high - inside)
        self.start = np.concatenate([start / self.scale, offsets])
        self.low = np.concatenate([unknowns.low / self.scale, offsets - math.inf])
        self.high = np.concatenate([unknowns.high / self.scale, offsets + math.inf])

    def split(self, z: Array) -> tuple[Array, Array]:
        """Return the parameters' values (p,) and the offsets (W, free)."""
        return z[: self.p] * self.scale, z[self.p :].reshape(self.shooting.windows, self.free)

    def first_noise(self) -> dict[str, float]:
        """Return a level for each signal: that of its second differences, as white noise has it."""
        recording = self.shooting.recording
        names = self.shooting.differences(*self.split(self.start))
        levels = {}
        for name in names:
            values = getattr(recording, name)
            rough = float(np.sqrt(np.mean(np.diff(values, 2, axis=0) ** 2) / 6.0))
            levels[name] = max(rough, 1e-4 * float(np.std(values)), QUIET)
        return levels

    def noise_left(self, z: Array) -> dict[str, float]:
        """Return what the fit leaves of each signal, with what the unknowns took of it put back."""
        left = self.shooting.differences(*self.split(z))
        total = sum(part.size for part in left.values())
        share = max(total - len(z), 1) / total
        return {
            name: max(float(np.sqrt(np.mean(part**2) / share)), QUIET)
            for name, part in left.items()
        }

    def residuals(self, z: Array, levels: Mapping[str, float]) -> Array:
        """Return the differences in units of the noise, then the velocities' offsets."""
        values, offsets = self.split(z)
        parts = [part.ravel() for part in self._rows(values, offsets, levels)]
        return np.concatenate([*parts, self._prior(offsets).ravel()])

    def derivative(self, z: Array, levels: Mapping[str, float]) -> Array:
        """Return the residuals' derivative, by forward differences, (rows, len(z)).

        All windows' offsets change at once: none is felt in another window.
        """
        values, offsets = self.split(z)
        base = self._rows(values, offsets, levels)
        where = [np.repeat(self.shooting.window_of, part.shape[1]) for part in base]
        window, rows = np.concatenate(where), np.concatenate([part.ravel() for part in base])
        matrix = np.zeros((len(rows) + self._prior(offsets).size, len(z)))
        for k in range(self.p):
            changed = values.copy()
            step = CHANGE * self.scale[k]
            changed[k] += step if changed[k] + step <= self.high[k] * self.scale[k] else -step
            parts = self._rows(changed, offsets, levels)
            slope = np.concatenate([part.ravel() for part in parts]) - rows
            matrix[: len(rows), k] = slope / (changed[k] - values[k]) * self.scale[k]
        for j in range(self.free):
            changed = offsets.copy()
            changed[:, j] += CHANGE
            parts = self._rows(values, changed, levels)
            slope = np.concatenate([part.ravel() for part in parts]) - rows
            matrix[np.arange(len(rows)), self.p + window * self.free + j] = slope / CHANGE
        half = self.free // 2
        for row, (w, j) in enumerate(np.ndindex(self.shooting.windows, half), start=len(rows)):
            matrix[row, self.p + w * self.free + half + j] = 1.0 / self.shooting.speeds[j]
        return matrix

    def _rows(self, values: Array, offsets: Array, levels: Mapping[str, float]) -> list[Array]:
        found = self.shooting.differences(values, offsets)
        return [part / levels[name] for name, part in found.items()]

    def _prior(self, offsets: Array) -> Array:
        """Return the velocities' offsets in typical ones: what no sample shows stays small."""
        return offsets[:, self.free // 2 :] / self.shooting.speeds[: self.free // 2]


def _estimate(
    problem: _Problem, z: Array, levels: Mapping[str, float], evaluations: int
) -> Estimate:
    unknowns, p = problem.shooting.unknowns, problem.p
    jacobian = problem.derivative(z, levels)
    information = jacobian.T @ jacobian
    ours, mixed, starts = information[:p, :p], information[:p, p:], information[p:, p:]
    if starts.size:
        ours = ours - mixed @ np.linalg.solve(starts, mixed.T)
    # In units of the bounds' width: a uniform distribution over it has the variance 1/12.
    width = unknowns.high - unknowns.low
    relative = width / problem.scale
    ours = ours * np.outer(relative, relative)
    sizes, directions = np.linalg.eigh(0.5 * (ours + ours.T))
    sizes = np.maximum(sizes, np.finfo(float).eps * max(float(sizes[-1]), 1.0))
    covariance = (directions / sizes) @ directions.T
    errors = np.sqrt(np.diag(covariance))
    values, _ = problem.split(z)
    near = np.minimum(values - unknowns.low, unknowns.high - values) < AT_BOUND * width
    vague = sizes < 12.0 * LEAST_INFORMATION
    from_vague = (directions[:, vague] ** 2 / sizes[vague]).sum(axis=1)
    return Estimate(
        unknowns=unknowns,
        values=values,
        standard_errors=errors * width,
        correlations=covariance / np.outer(errors, errors),
        noise=dict(levels),
        unresolved=tuple(
            dict(zip(unknowns.names, way.tolist(), strict=True)) for way in directions.T[vague]
        ),
        unidentified=_named(unknowns, from_vague > 0.5 * errors**2),
        at_bounds=_named(unknowns, near),
        samples=len(problem.shooting.samples),
        windows=problem.shooting.windows,
        evaluations=evaluations,
    )


def _named(unknowns: Unknowns, which: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name, true in zip(unknowns.names, which, strict=True) if true)

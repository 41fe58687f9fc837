"""What was found: values, how sure they are, and what the recording does not tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tendon_gym.identification.unknowns import Unknowns
from tendon_gym.model import ModelParameters

Array = NDArray[np.float64]
SHOWN = 0.05
"""Smallest share of a parameter in a direction that is told."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Values of p unknown parameters.

    Attributes:
        unknowns: what was asked for.
        values: (p,), in the order of `unknowns.names`.
        standard_errors: (p,), from the noise; those of parameters that the recording does not tell
            are larger than their bounds are apart.
        correlations: of the errors, (p, p).
        noise: standard deviation of each signal's noise, as given or as it was found.
        unresolved: directions that the recording tells less of than the bounds do, each as shares
            of the parameters by name, in their bounds' width. A direction of several parameters:
            they can change together, and the recorded motion would hardly.
        unidentified: parameters that owe most of their error to these directions: the recording
            tells too little of them, or tells them only together with others.
        at_bounds: parameters whose value is one of their bounds.
        samples: number of samples that were compared.
        windows: number of windows.
        evaluations: of the differences, without those for derivatives.
    """

    unknowns: Unknowns
    values: Array
    standard_errors: Array
    correlations: Array
    noise: Mapping[str, float]
    unresolved: tuple[Mapping[str, float], ...]
    unidentified: tuple[str, ...]
    at_bounds: tuple[str, ...]
    samples: int
    windows: int
    evaluations: int

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names, (p,)."""
        return self.unknowns.names

    @property
    def parameters(self) -> ModelParameters:
        """The model's parameters with the values that were found; gains are not among them.

        Raises:
            ValueError: the recording does not tell some of them, or they ended at a bound.
        """
        unsure = [name for name in self.names if name in (*self.unidentified, *self.at_bounds)]
        if unsure:
            raise ValueError(
                f"the recording does not determine {', '.join(unsure)}, see `report`: record more "
                "motion, fix some of them, or widen their bounds"
            )
        return self.unknowns.model(self.values)

    def report(self) -> str:
        """Return all of it as text."""
        lines = []
        for name, value, error in zip(self.names, self.values, self.standard_errors, strict=True):
            words = "  not identified" if name in self.unidentified else ""
            words += "  at a bound" if name in self.at_bounds else ""
            lines.append(f"{name:<28} {value:>12.6g} +- {error:<10.3g}{words}")
        for way in self.unresolved:
            shares = ", ".join(f"{s:+.2f} {n}" for n, s in way.items() if abs(s) >= SHOWN)
            lines.append(f"undetermined direction, in widths of the bounds: {shares}")
        levels = ", ".join(f"{name} {level:.3g}" for name, level in self.noise.items())
        lines.append(f"noise: {levels}; {self.samples} samples in {self.windows} windows")
        return "\n".join(lines)

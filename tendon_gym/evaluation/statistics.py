"""From episodes to statements: means, the worst twentieth, intervals by the bootstrap.

Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 14 (BCa intervals).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

CONFIDENCE = 0.95
WORST = 0.05
RESAMPLES = 9999
FEWEST = 5
"""Fewest values that have an interval: the bootstrap's are far too short for less."""

Array = NDArray[np.float64]
Interval = tuple[float, float] | None


def interval(values: Array) -> Interval:
    """Return the 95 % BCa interval of the mean of `values` (n,); None for less than FEWEST.

    The draws are always the same ones, so that equal values give an equal interval.
    """
    if len(values) < FEWEST:
        return None
    if np.ptp(values) <= 1e-12 * np.abs(values).max():
        return float(values[0]), float(values[0])
    result = bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return float(result.low), float(result.high)


def worst(values: Array, higher_is_better: bool = False) -> float:
    """Return the mean of the worst 5 % of `values` (n,), of at least one."""
    count = max(1, math.ceil(WORST * len(values) - 1e-9))
    ordered = np.sort(values)
    return float((ordered[:count] if higher_is_better else ordered[-count:]).mean())


def summary(values: Array, higher_is_better: bool = False) -> dict[str, Any]:
    """Return mean, its interval and the mean of the worst 5 % as plain values."""
    return {
        "mean": float(values.mean()),
        "interval": interval(values),
        "worst": worst(values, higher_is_better),
    }


def difference(values: Array, reference: Array) -> dict[str, Any]:
    """Return mean and interval of `values` - `reference`, paired episode by episode."""
    if values.shape != reference.shape:
        raise ValueError(
            f"paired values must have equal shapes, got {values.shape} and {reference.shape}"
        )
    gaps = values - reference
    return {"mean": float(gaps.mean()), "interval": interval(gaps)}

"""The definitions behind the table, on plain arrays."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rms(values: Array) -> float:
    """Return the root mean square of values (k,), or of the lengths of vectors (k, d)."""
    return math.sqrt(np.square(values).sum() / len(values))


def dominant_frequency(samples: Array, step: float) -> float:
    """Return the frequency, Hz, that carries the most power in samples (k, d).

    The spectra of the columns, each without its mean and under a Hann window, are added; the
    samples are padded with zeros to 100 s or more, so that the frequency is not bound to multiples
    of one over their duration.

    Args:
        samples: NaN anywhere gives NaN.
        step: s between samples.
    """
    if not np.isfinite(samples).all():
        return math.nan
    window = np.hanning(len(samples))[:, None]
    length = max(len(samples), round(100.0 / step))
    centred = samples - samples.mean(axis=0)
    power = (np.abs(np.fft.rfft(window * centred, length, axis=0)) ** 2).sum(axis=1)
    return float(np.fft.rfftfreq(length, step)[int(power.argmax())])


def settling_time(time: Array, distance: Array, limit: float, since: float) -> float:
    """Return how long after `since` the distance is above the limit for the last time, s.

    Args:
        time: (k,), s, increasing.
        distance: (k,); NaN, after an early end, gives NaN.
        limit: of the distance.
        since: s; 0 is returned if the distance never exceeds the limit after it.
    """
    if not np.isfinite(distance).all():
        return math.nan
    over = (distance > limit) & (time > since)
    return float(time[over][-1] - since) if over.any() else 0.0


def spread(values: Array) -> float:
    """Return half the range of values (k,) >= 0 over the range's middle: the x in +-x.

    Values that are all zero have no spread.
    """
    low, high = float(values.min()), float(values.max())
    return (high - low) / (high + low) if high != 0.0 else 0.0


def saturates(places: Array, values: Array) -> bool:
    """Return whether values rise linearly from the first place on, and flatten towards the last.

    Linear: the second step is as steep as the first to within 10 %. Flat: the last step is less
    than half as steep.
    """
    slopes = np.diff(values) / np.diff(places)
    linear = abs(slopes[1] - slopes[0]) < 0.1 * slopes[0]
    return bool(linear and slopes[-1] < 0.5 * slopes[0])

"""Checks at the door: every value from a user passes one of these before anything changes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

SHOWN = 300
"""Most characters of a bad value that a message repeats."""
ELEMENTS = 100
"""Most elements of an array that a message lists."""
DEPTH = 20
"""How deep nested values are made plain; what refers to itself ends there."""


def shown(value: object) -> str:
    """Return a value as messages show it: NumPy's numbers as plain ones, and not too long."""
    if isinstance(value, np.ndarray) and value.size > ELEMENTS:
        return f"an array of shape {value.shape} and type {value.dtype}"
    text = repr(_plain(value, DEPTH))
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def described(value: object) -> str:
    """Return a value as messages show it where its kind is what is wrong with it."""
    if not isinstance(value, np.ndarray):
        return f"{shown(value)} of type {type(value).__name__}"
    if value.size > ELEMENTS:
        return shown(value)
    return f"{shown(value)}, an array of shape {value.shape} and type {value.dtype}"


def _plain(value: Any, depth: int) -> Any:
    """Return a value without NumPy's types, as far as it is made of Python's own containers."""
    if isinstance(value, np.floating):  # a long double has no plain type of its own
        return float(value)
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if depth == 0:
        return value
    if type(value) in (list, tuple, set):
        return type(value)(_plain(item, depth - 1) for item in value)
    if type(value) is dict:
        return {_plain(key, 0): _plain(item, depth - 1) for key, item in value.items()}
    return value


def reject(name: str, value: object, legal: str) -> NoReturn:
    """Raise the one form of error that this package gives for a bad value."""
    raise ValueError(f"{name} must be {legal}, got {shown(value)}")


def number(
    name: str,
    value: object,
    *,
    minimum: float = -math.inf,
    maximum: float = math.inf,
    above: float = -math.inf,
    below: float = math.inf,
) -> float:
    """Return `value` as a finite float in [minimum, maximum] and strictly in (above, below)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {described(value)}")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    inside = minimum <= result <= maximum and above < result < below
    if not math.isfinite(result) or not inside:
        reject(name, value, _range_words(minimum, maximum, above, below))
    return result


def _range_words(minimum: float, maximum: float, above: float, below: float) -> str:
    words = []
    if minimum > -math.inf:
        words.append(f"at least {minimum:g}")
    if above > -math.inf:
        words.append(f"greater than {above:g}")
    if maximum < math.inf:
        words.append(f"at most {maximum:g}")
    if below < math.inf:
        words.append(f"less than {below:g}")
    return " and ".join(["finite", *words])


def integer(
    name: str, value: object, *, minimum: int | None = None, maximum: int | None = None
) -> int:
    """Return `value` as an int in [minimum, maximum]."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {described(value)}")
    result = int(value)
    too_small = minimum is not None and result < minimum
    if too_small or (maximum is not None and result > maximum):
        legal = f"an integer from {minimum} to {maximum}"
        if maximum is None:
            legal = f"an integer of at least {minimum}"
        elif minimum is None:
            legal = f"an integer of at most {maximum}"
        reject(name, value, legal)
    return result


def flag(name: str, value: object) -> bool:
    """Return `value`, which must be True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {described(value)}")
    return bool(value)


def choice(name: str, value: Any, legal: Iterable[Any]) -> Any:
    """Return `value`, which must be one of `legal`."""
    options = list(legal)
    plain = value.item() if isinstance(value, np.generic) else value
    if not any(type(plain) is type(option) and plain == option for option in options):
        reject(name, value, "one of " + ", ".join(map(shown, options)))
    return plain


def array(
    name: str,
    value: ArrayLike,
    shape: Sequence[int | None],
    *,
    minimum: float = -math.inf,
    maximum: float = math.inf,
) -> NDArray[np.float64]:
    """Return a new finite float64 array of `shape` (None: any length) within [minimum, maximum]."""
    try:
        given = np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise TypeError(f"{name} must be an array of numbers, got {described(value)}") from error
    # NumPy would read strings, booleans and None as numbers
    if given.dtype.kind not in "iuf" or _has_boolean(value):
        raise TypeError(f"{name} must be an array of numbers, got {described(value)}")
    result = given.astype(np.float64)
    fits = result.ndim == len(shape) and all(
        want is None or have == want for have, want in zip(result.shape, shape, strict=True)
    )
    if not fits:
        words = "(" + ", ".join("any" if want is None else str(want) for want in shape) + ")"
        raise ValueError(f"{name} must have shape {words}, got {result.shape}")
    bad = ~np.isfinite(result) | (result < minimum) | (result > maximum)
    if bad.any():
        index = tuple(int(k) for k in np.argwhere(bad)[0])
        where = name + "".join(f"[{k}]" for k in index)
        reject(where, float(result[index]), _range_words(minimum, maximum, -math.inf, math.inf))
    return result


def _has_boolean(value: object) -> bool:
    """Return whether there is a boolean in nested lists, which NumPy makes a 0 or 1 of."""
    if isinstance(value, (list, tuple)):
        return any(map(_has_boolean, value))
    return isinstance(value, (bool, np.bool_))


def increasing(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Return a finite 1-D float64 array whose elements strictly increase."""
    result = array(name, value, (None,))
    steps = np.diff(result)
    if (steps <= 0).any():
        k = int(np.flatnonzero(steps <= 0)[0])
        before, after = shown(result[k]), shown(result[k + 1])
        raise ValueError(f"{name} must increase strictly, got {after} at [{k + 1}] after {before}")
    return result


def known_keys(name: str, mapping: Iterable[str], legal: Iterable[str]) -> None:
    """Raise if `mapping` has a key that is not in `legal`."""
    options = list(legal)
    for key in mapping:
        if key not in options:
            legal_keys = ", ".join(options) or "nothing"
            raise ValueError(f"{name} has no {shown(key)}; it takes {legal_keys}")

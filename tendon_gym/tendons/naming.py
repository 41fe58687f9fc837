"""Checks that say which tendon, coupling or field they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from tendon_gym import checks

Result = TypeVar("Result")


def checked_name(what: str, value: object) -> str:
    """Return a name, which must be a string that isn't empty."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, got {checks.shown(value)}")
    if not value:
        raise ValueError(f"{what} must not be empty")
    # MuJoCo's names end at a NUL, and are UTF-8, which has no halves of pairs
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError(f"{what} must have no NUL and no lone surrogates, got {value!r}")
    return value


def items(what: str, value: object) -> tuple[Any, ...]:
    """Return what a sequence, or anything that can be iterated over, holds."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"{what} must be a sequence, got {checks.shown(value)}")
    return tuple(value)


def about(subject: str, check: Callable[[], Result]) -> Result:
    """Return what a check returns; what it refuses is raised with the subject before it."""
    try:
        return check()
    except (TypeError, ValueError) as error:
        raise type(error)(f"{subject}: {error}") from error


def of_kind(what: str, value: object, kind: type) -> None:
    """Raise if a value isn't an instance of a class."""
    if not isinstance(value, kind):
        raise TypeError(f"{what} must be a {kind.__name__}, got {checks.shown(value)}")

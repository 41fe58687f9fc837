"""Checks that say which tendon, coupling or field they are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tendon_gym import checks

Result = TypeVar("Result")


def checked_name(what: str, value: object) -> str:
    """Return a name, which must be a string that isn't empty."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, got {checks.shown(value)}")
    if not value:
        raise ValueError(f"{what} must not be empty")
    return value


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

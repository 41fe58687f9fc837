"""Frozen dataclasses as configuration: plain nested values in, plain nested values out.

Every configuration of this package is a frozen dataclass that checks itself in
`__post_init__`. Users hand over plain dictionaries (`model={"arm": {"n_links": 24}}`), so that
an environment's spec stays JSON; `override` lays such a dictionary over an instance.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from tendon_gym import checks

Config = TypeVar("Config")


def to_dict(config: Any) -> dict[str, Any]:
    """Return a config as plain nested values (dicts, lists, numbers, strings): JSON as it is."""
    return {name: _plain(getattr(config, name)) for name in _hints(type(config))}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return to_dict(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value


def _hints(cls: type) -> dict[str, Any]:
    """Return the annotated types of the fields that a config's constructor takes, by name."""
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls) if field.init}


def from_dict(cls: type[Config], values: Mapping[str, Any], name: str = "") -> Config:
    """Build a config from plain nested values; what is left out keeps its default.

    Raises:
        ValueError: an unknown key, a missing one, or a value that the config refuses.
        TypeError: a value of the wrong type.
    """
    name = name or cls.__name__
    hints = _known(name, values, cls)
    for key in _required(cls):
        if key not in values:
            raise ValueError(f"{name}.{key} is required; {name} takes {', '.join(hints)}")
    typed = {key: _typed(hints[key], item, f"{name}.{key}") for key, item in values.items()}
    return _built(name, lambda: cls(**typed))


def override(config: Config, values: Mapping[str, Any], name: str = "") -> Config:
    """Return `config` with nested `values` laid over it; `config` itself is unchanged.

    Raises:
        ValueError: an unknown key, or a value that the config refuses.
        TypeError: a value of the wrong type.
    """
    name = name or type(config).__name__
    hints = _known(name, values, type(config))
    changes = {}
    for key, item in values.items():
        current = getattr(config, key)
        where = f"{name}.{key}"
        nested = dataclasses.is_dataclass(current) and isinstance(item, Mapping)
        changes[key] = override(current, item, where) if nested else _typed(hints[key], item, where)
    return _built(name, lambda: dataclasses.replace(config, **changes))  # type: ignore[type-var]


def _known(name: str, values: Mapping[str, Any], cls: type) -> dict[str, Any]:
    """Return the hints of `cls` after checking that `values` is a dict of its fields."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} must be a dict, got {checks.shown(values)}")
    hints = _hints(cls)
    checks.known_keys(name, values, hints)
    return hints


def _required(cls: type) -> list[str]:
    """Return the names of the fields that have no default."""
    missing = dataclasses.MISSING
    return [
        field.name
        for field in dataclasses.fields(cls)
        if field.init and field.default is missing and field.default_factory is missing
    ]


def _built(name: str, build: Callable[[], Config]) -> Config:
    """Return `build()`; what its own checks refuse is raised with the path to the config."""
    try:
        return build()
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from error


def _typed(hint: Any, value: Any, name: str) -> Any:
    """Convert a plain value to the annotated type of a field."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _typed_union(arguments, value, name)
    if origin is typing.Literal:
        return checks.choice(name, value, arguments)
    if origin is tuple:
        return _typed_tuple(arguments, value, name)
    if dataclasses.is_dataclass(hint):
        return value if isinstance(value, hint) else from_dict(hint, value, name)  # type: ignore[arg-type]
    if hint is float:
        return checks.number(name, value)
    if hint is int:
        return checks.integer(name, value)
    if hint is bool:
        return checks.flag(name, value)
    if hint is str and not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {checks.shown(value)}")
    if origin in (dict, Mapping):
        if not isinstance(value, Mapping):
            raise TypeError(f"{name} must be a dict, got {checks.shown(value)}")
        return {key: _typed(arguments[1], item, f"{name}.{key}") for key, item in value.items()}
    return value


def _typed_union(options: tuple[Any, ...], value: Any, name: str) -> Any:
    if value is None and type(None) in options:
        return None
    fitting = [option for option in options if _fits(option, value)]
    failures = []
    for option in fitting or options:
        if option is type(None):
            continue
        try:
            return _typed(option, value, name)
        except (TypeError, ValueError) as error:
            failures.append(error)
    kind = TypeError if isinstance(failures[0], TypeError) else ValueError
    raise kind("; or ".join(str(failure) for failure in failures))


def _fits(option: Any, value: Any) -> bool:
    """Say whether a type takes dicts or lists, if the value is one: it alone then knows faults."""
    origin = typing.get_origin(option)
    if isinstance(value, Mapping):
        return dataclasses.is_dataclass(option) or origin in (dict, Mapping)
    return origin is tuple if isinstance(value, (tuple, list, np.ndarray)) else True


def _typed_tuple(arguments: tuple[Any, ...], value: Any, name: str) -> tuple[Any, ...]:
    items = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(items, (list, tuple)):
        raise TypeError(f"{name} must be a list, got {checks.shown(value)}")
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_typed(arguments[0], item, f"{name}[{k}]") for k, item in enumerate(items))
    if len(items) != len(arguments):
        raise ValueError(f"{name} must have {len(arguments)} elements, got {len(items)}")
    pairs = enumerate(zip(arguments, items, strict=True))
    return tuple(_typed(hint, item, f"{name}[{k}]") for k, (hint, item) in pairs)

"""References by name, by file or as plain values, so that an environment's spec stays JSON."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tendon_gym import checks, config
from tendon_gym.references import library
from tendon_gym.references.csv_file import load_csv
from tendon_gym.references.distribution import SmoothDistribution
from tendon_gym.references.library import Reference

Source = Reference | SmoothDistribution
Maker = Callable[..., Source]


def _smooth(**values: Any) -> SmoothDistribution:
    return config.from_dict(SmoothDistribution, values, "smooth")


_BUILT_IN: dict[str, Maker] = {
    "hover": library.hover,
    "transition": library.transition,
    "figure_eight": library.figure_eight,
    "steady_figure_eight": library.steady_figure_eight,
    "bend_hold": library.bend_hold,
    "rotating_bend": library.rotating_bend,
    "mission": library.mission,
    "waypoints": library.waypoints,
    "smooth": _smooth,
}
_makers: dict[str, Maker] = dict(_BUILT_IN)


def names() -> list[str]:
    """Return the names that `make` knows."""
    return sorted(_makers)


def register(name: str, maker: Maker) -> None:
    """Let `make` know a reference of your own.

    Args:
        name: not the name of a built-in reference, and not ending in .csv; a name of your own may
            be registered again.
        maker: called with the parameters of the spec as keywords, returns a Reference or a
            SmoothDistribution.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {checks.shown(name)}")
    if not name or name in _BUILT_IN or name.endswith(".csv"):
        checks.reject("name", name, f"no file and none of {', '.join(_BUILT_IN)}")
    if not callable(maker):
        raise TypeError(f"maker of {name!r} must be a function, got {checks.described(maker)}")
    _makers[name] = maker


def make(spec: str | Mapping[str, Any]) -> Source:
    """Return the reference that `spec` describes.

    Args:
        spec: a name; a path that ends in .csv; or {"name": one of these, **parameters}. "smooth"
            is the distribution from which every episode draws its own reference.

    Raises:
        FileNotFoundError: there is no such CSV file.
        TypeError: a value of the wrong type.
        ValueError: an unknown name or parameter (the legal ones are listed), a missing parameter,
            or a value that the maker refuses.
    """
    if isinstance(spec, str):
        spec = {"name": spec}
    if not isinstance(spec, Mapping) or not isinstance(spec.get("name"), str):
        raise TypeError(
            f"a reference must be a name or a dict with a 'name', got {checks.shown(spec)}"
        )
    parameters = dict(spec)
    name = parameters.pop("name")
    if name.endswith(".csv"):
        checks.known_keys(name, parameters, ())
        return load_csv(name)
    if name not in _makers:
        checks.reject("reference", name, f"a path ending in .csv or one of {', '.join(names())}")
    maker = _makers[name]
    _check_parameters(name, maker, parameters)
    result = maker(**parameters)
    if not isinstance(result, Source):
        told = checks.described(result)
        raise TypeError(f"maker of {checks.shown(name)} must return a Reference, got {told}")
    return result


def _check_parameters(name: str, maker: Maker, parameters: dict[str, Any]) -> None:
    """Raise if the maker does not take these parameters or lacks one."""
    signature = inspect.signature(maker).parameters.values()
    for key in parameters:
        if not isinstance(key, str):
            raise TypeError(f"{name}: a parameter's name must be a string, got {checks.shown(key)}")
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature):
        checks.known_keys(name, parameters, [parameter.name for parameter in signature])
    for parameter in signature:
        optional = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        if parameter.default is parameter.empty and not optional:
            if parameter.name not in parameters:
                raise ValueError(f"{name} needs {parameter.name!r}, got {checks.shown(parameters)}")

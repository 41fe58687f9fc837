"""Parameters that are to be found: their names, bounds, and the models that they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks, config
from tendon_gym.model import ModelParameters, check_timestep

Array = NDArray[np.float64]
GAINS = ("thrust_gain", "tension_gain")
"""Besides numbers of `ModelParameters`: what rotors and winches do of the recorded controls."""
GROUPS = ("airframe", "arm", "fluid", "tendons")
"""Parts of `ModelParameters` whose numbers may be found."""


@dataclass(frozen=True)
class Unknowns:
    """p unknown parameters of a model.

    Attributes:
        parameters: all others, and where the search begins.
        bounds: the lowest and the highest value of each by name: "arm.mass", or with the index of
            an element, "airframe.inertia.0", or one of GAINS.
    """

    parameters: ModelParameters
    bounds: Mapping[str, tuple[float, float]]

    def __post_init__(self) -> None:
        """Check names and bounds, and that every bound gives a model that can be stepped."""
        if not isinstance(self.bounds, Mapping) or not self.bounds:
            told = checks.shown(self.bounds)
            raise TypeError(f"unknowns must be a dict of names and bounds, got {told}")
        for name, pair in self.bounds.items():
            low, high = checks.array(f"unknowns[{name!r}]", pair, (2,))
            checks.number(f"unknowns[{name!r}][1]", float(high), above=float(low))
            self._check_name(name)
            for value in (low, high):
                if name in GAINS:
                    checks.number(f"unknowns[{name!r}]", float(value), minimum=0.0)
                else:
                    check_timestep(self._with({name: float(value)}))

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, (p,)."""
        return tuple(self.bounds)

    @property
    def low(self) -> Array:
        """Lower bounds, (p,)."""
        return np.array([pair[0] for pair in self.bounds.values()], np.float64)

    @property
    def high(self) -> Array:
        """Upper bounds, (p,)."""
        return np.array([pair[1] for pair in self.bounds.values()], np.float64)

    @property
    def start(self) -> Array:
        """Where the search begins, (p,): the parameters' own values, within the bounds."""
        own = [1.0 if name in GAINS else _number(self.parameters, name) for name in self.names]
        return np.clip(own, self.low, self.high)

    def model(self, values: ArrayLike) -> ModelParameters:
        """Return the parameters with values (p,) of the unknown ones; gains are left out."""
        given = dict(zip(self.names, np.asarray(values, np.float64).tolist(), strict=True))
        return self._with({name: value for name, value in given.items() if name not in GAINS})

    def gains(self, values: ArrayLike) -> tuple[float, float]:
        """Return by what the thrusts and the tensions have to be multiplied."""
        given = dict(zip(self.names, np.asarray(values, np.float64).tolist(), strict=True))
        thrust, tension = (given.get(name, 1.0) for name in GAINS)
        return thrust, tension

    def _with(self, given: Mapping[str, float]) -> ModelParameters:
        parameters = self.parameters
        for name, value in given.items():
            group, field, *index = name.split(".")
            item: Any = value
            if index:
                item = list(getattr(getattr(parameters, group), field))
                item[int(index[0])] = value
            parameters = config.override(parameters, {group: {field: item}}, "model")
        return parameters

    def _check_name(self, name: str) -> None:
        """Raise if a name is not that of a number."""
        if name in GAINS:
            return
        try:
            _number(self.parameters, name)
        except (AttributeError, IndexError, TypeError, ValueError):
            groups = {group: getattr(self.parameters, group) for group in GROUPS}
            legal = [
                f"{group}.{field}" + (".0" if isinstance(value, list) else "")
                for group, part in groups.items()
                for field, value in config.to_dict(part).items()
                if _is_number(value) or (isinstance(value, list) and all(map(_is_number, value)))
            ]
            checks.reject("unknown parameter", name, "one of " + ", ".join([*GAINS, *legal]))


def _is_number(value: object) -> bool:
    return isinstance(value, float)


def _number(parameters: ModelParameters, name: str) -> float:
    """Return a number of the parameters, or raise where there is none of that name."""
    group, field, *index = name.split(".")
    if group not in GROUPS or len(index) > 1:
        raise ValueError(name)
    value = getattr(getattr(parameters, group), field)
    if index:
        value = value[int(index[0])]
    if not _is_number(value):
        raise TypeError(name)
    return value

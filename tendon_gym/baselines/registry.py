"""Policies by name: the interface first, since it decides what environment is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tendon_gym import checks
from tendon_gym.baselines import geometric, hoist, learned, simple, tether_perch, tip_control
from tendon_gym.baselines.policy import Env, Policy
from tendon_gym.registration import Entry


@dataclass(frozen=True)
class Baseline:
    """How to make a policy.

    Attributes:
        interface: what settings the environment needs for it.
        make: builds the policy for such an environment.
        flies: the only task, by its name; None: every task.
    """

    interface: Callable[[Entry], dict[str, Any]]
    make: Callable[[Env], Policy]
    flies: str | None = None


BASELINES = {
    "zero": Baseline(simple.direct, simple.Zero),
    "random": Baseline(simple.direct, simple.Random),
    "geometric_paper": Baseline(geometric.interface, geometric.geometric_paper),
    "geometric_full": Baseline(geometric.interface, geometric.geometric_full),
    "tip_control": Baseline(geometric.interface, tip_control.TipControl),
    "hoist": Baseline(hoist.interface, hoist.Hoist, flies="Hoist"),
    "tether_perch": Baseline(geometric.interface, tether_perch.TetherPerch, flies="TetherPerch"),
}


def get(name: str) -> Baseline:
    """Return a baseline by its name, or a learned policy by its name or its folder.

    Raises:
        FileNotFoundError: a folder without a learned policy.
        ValueError: an unknown name (the legal ones are listed), or a broken policy.
    """
    if name in BASELINES:
        return BASELINES[name]
    shipped = learned.shipped()
    unknown = name not in shipped and not Path(name).is_dir() and Path(name).name == name
    if unknown or not name:
        legal = ", ".join([*BASELINES, *shipped])
        checks.reject("policy", name, f"the folder of a learned policy or one of {legal}")
    artefact = learned.load(shipped.get(name, name))
    return Baseline(artefact.interface, artefact.make)

"""Policies by name: the interface first, since it decides what environment is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tendon_gym import checks
from tendon_gym.baselines import geometric, simple
from tendon_gym.baselines.policy import Env, Policy
from tendon_gym.registration import Entry


@dataclass(frozen=True)
class Baseline:
    """How to make a policy for any task.

    Attributes:
        interface: what settings the environment needs for it.
        make: builds the policy for such an environment.
    """

    interface: Callable[[Entry], dict[str, Any]]
    make: Callable[[Env], Policy]


BASELINES = {
    "zero": Baseline(simple.direct, simple.Zero),
    "random": Baseline(simple.direct, simple.Random),
    "geometric_paper": Baseline(geometric.interface, geometric.geometric_paper),
    "geometric_full": Baseline(geometric.interface, geometric.geometric_full),
}


def get(name: str) -> Baseline:
    """Return the baseline of a name, or raise and list the names."""
    checks.choice("policy", name, BASELINES)
    return BASELINES[name]

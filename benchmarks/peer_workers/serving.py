"""What the process of every peer does: make its cases, then measure a round whenever it is told.

A worker runs in the virtual environment of its peer, so that this file needs nothing but Python. It
reads one round number per line from standard input and answers with one line of JSON on the file
descriptor that its only argument names: standard output belongs to whatever the libraries print.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

CORES = len(os.sched_getaffinity(0))

Seconds = float


def counted(count: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{count} {what}{'s' if count > 1 else ''}"


@dataclass(frozen=True)
class Case:
    """One way to step a peer.

    Attributes:
        name: of the case.
        measure: takes the round's number, returns us per environment step, of the environment and
            of its bare physics.
        about: what the row says of it: num_envs, threads, substeps, seconds (of simulated time).
    """

    name: str
    measure: Callable[[int], tuple[float, float]]
    about: dict[str, Any] = field(default_factory=dict)


def serve(make: Callable[[], Sequence[Case]], packages: Sequence[str]) -> None:
    """Make the cases, warm each up with one round, then answer until the input ends."""
    answers = os.fdopen(int(sys.argv[1]), "w", buffering=1)
    cases = make()
    for case in cases:
        case.measure(0)
    hello = {
        "versions": {name: version(name) for name in packages},
        "cases": {case.name: case.about for case in cases},
    }
    answers.write(json.dumps(hello) + "\n")
    for line in sys.stdin:
        times = {case.name: case.measure(int(line)) for case in cases}
        answers.write(json.dumps(times) + "\n")

"""What a step costs in every form, as `tendon-gym bench`, into the folder of published results.

`python benchmarks/steps_per_second.py` takes about ten minutes, with `--quick` less than one.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from tendon_gym.evaluation.bench import BenchCommand


@dataclass(frozen=True)
class Options(BenchCommand):
    """Those of `tendon-gym bench`; older results in `out` are replaced."""

    out: Path = Path("benchmarks/results")


if __name__ == "__main__":
    sys.exit(tyro.cli(Options).run(fresh=False))

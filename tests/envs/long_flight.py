"""The long form of `test_tendons`: 64 arms for 10,000 steps at once, and each of them alone.

`make long` runs it, for a quarter of an hour. It fails where a bit differs, or a limit or the
coupling doesn't hold, and else writes what was flown.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import mujoco
import numpy as np

from tests.envs.test_tendons import TASK, N, check, fly

STEPS, SAVED = 10_000, 500


def main() -> None:
    """Fly, check and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="JSON file for what was flown")
    out = parser.parse_args().out
    lengths, episodes = fly(STEPS, SAVED, range(N))
    check(lengths, episodes, STEPS)
    flown = {
        "task": TASK,
        "environments": N,
        "steps": STEPS,
        "compared_alone": N,
        "episodes": episodes,
        "saved_and_put_back": STEPS // SAVED,
        "lengths_m": [lengths.min(axis=(0, 1)).tolist(), lengths.max(axis=(0, 1)).tolist()],
        "versions": {"mujoco": mujoco.__version__, "numpy": np.__version__},
    }
    out.write_text(json.dumps(flown, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

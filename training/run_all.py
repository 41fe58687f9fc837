"""Train every recipe with every seed, one run after another, and keep what matters.

A run that was interrupted goes on where it stopped, one that is finished is left alone; so this
script may be started again at any time. Curves and results land in training/results/, the policy
of the median seed, by the reward of its last validation, in envs_assets/policies/<benchmark>/.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tendon_gym.baselines.learned import DESCRIPTION, WEIGHTS
from tendon_gym.training import recipe, recipe_names

TOP = Path(__file__).resolve().parents[1]
RESULTS, POLICIES = TOP / "training" / "results", TOP / "envs_assets" / "policies"
CURVES = ("curve.csv", "curve.png")
TOLD = ("benchmark", "algo", "seed", "validation", "wall_time", "command", "versions")


def train(benchmark: str, algo: str, seed: int, out: Path) -> dict[str, Any]:
    """Train one seed to its end, if that hasn't happened yet; return the artefact's description."""
    folder = out / f"{benchmark}-{algo}-seed-{seed}"
    description = folder / DESCRIPTION
    if not description.is_file():
        names = [benchmark, "--algo", algo, "--seed", str(seed), "--out", str(folder), "--resume"]
        subprocess.run([sys.executable, "-m", "tendon_gym", "train", *names], check=True, cwd=TOP)
    result = RESULTS / benchmark / f"seed-{seed}"
    result.mkdir(parents=True, exist_ok=True)
    for name in CURVES:
        shutil.copyfile(folder / name, result / name)
    about = json.loads(description.read_text(encoding="utf-8"))
    told = {name: about[name] for name in TOLD}
    (result / "result.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return about


def ship(benchmark: str, algo: str, seed: int, out: Path) -> None:
    """Put the policy of one seed where it is found by the benchmark's name."""
    target = POLICIES / benchmark
    target.mkdir(parents=True, exist_ok=True)
    for name in (WEIGHTS, DESCRIPTION):
        shutil.copyfile(out / f"{benchmark}-{algo}-seed-{seed}" / name, target / name)


def main() -> None:
    """Work through recipes and seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipes", nargs="*", default=recipe_names(), choices=recipe_names())
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument(
        "--out", type=Path, default=TOP / "out" / "train", help="folder of the runs"
    )
    arguments = parser.parse_args()
    for name in arguments.recipes:
        benchmark, _, algo = name.rpartition("-")
        assert recipe(benchmark, algo).benchmark == benchmark
        done = [(train(benchmark, algo, seed, arguments.out), seed) for seed in arguments.seeds]
        ranked = sorted(done, key=lambda pair: pair[0]["validation"]["reward"])
        ship(benchmark, algo, ranked[len(ranked) // 2][1], arguments.out)


if __name__ == "__main__":
    main()

"""The script that trains all recipes: finished runs are left alone, the median seed is shipped."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "training" / "run_all.py"
REWARDS = {0: 0.9, 1: 0.5, 2: 0.7}


@pytest.fixture
def script(tmp_path, monkeypatch) -> ModuleType:
    """The script, with its results below tmp_path."""
    spec = importlib.util.spec_from_file_location("run_all", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(module, "POLICIES", tmp_path / "policies")
    return module


def finish(folder: Path, seed: int) -> None:
    """Leave what a finished run leaves."""
    folder.mkdir(parents=True)
    about = {
        "benchmark": "bend-tension",
        "algo": "ppo",
        "seed": seed,
        "validation": {"reward": REWARDS[seed]},
        "wall_time": 1.0,
        "command": "tendon-gym train",
        "versions": {},
        "layout": [],
    }
    (folder / "policy.json").write_text(json.dumps(about))
    for name in ("policy.npz", "curve.csv", "curve.png", "model.zip"):
        (folder / name).write_text(f"{name} of seed {seed}")


def run(script: ModuleType, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["run_all.py", "--recipes", "bend-tension-ppo", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", arguments)
    script.main()


def test_finished_runs_are_collected_and_the_median_is_shipped(script, tmp_path, monkeypatch):
    for seed in REWARDS:
        finish(tmp_path / "out" / f"bend-tension-ppo-seed-{seed}", seed)
    monkeypatch.setattr(script.subprocess, "run", lambda *a, **k: pytest.fail("trained again"))
    run(script, tmp_path / "out", monkeypatch)
    shipped = tmp_path / "policies" / "bend-tension"
    assert json.loads((shipped / "policy.json").read_text())["seed"] == 2
    assert (shipped / "policy.npz").read_text() == "policy.npz of seed 2"
    for seed, reward in REWARDS.items():
        folder = tmp_path / "results" / "bend-tension" / f"seed-{seed}"
        files = {path.name for path in folder.iterdir()}
        assert files == {"curve.csv", "curve.png", "result.json"}
        assert json.loads((folder / "result.json").read_text())["validation"]["reward"] == reward


def test_only_what_is_missing_is_trained(script, tmp_path, monkeypatch):
    finish(tmp_path / "out" / "bend-tension-ppo-seed-0", 0)
    trained = []

    def train(command: list[str], **_: object) -> None:
        assert command[-1] == "--resume"
        seed = int(command[command.index("--seed") + 1])
        trained.append(seed)
        finish(Path(command[command.index("--out") + 1]), seed)

    monkeypatch.setattr(script.subprocess, "run", train)
    run(script, tmp_path / "out", monkeypatch)
    assert trained == [1, 2]

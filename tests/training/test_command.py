"""The subcommand: folders are never overwritten, and a killed process loses little."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tendon_gym import cli, config
from tendon_gym.training import checkpoint, curve, recipe
from tendon_gym.training.command import TrainCommand
from tendon_gym.training.config import TrainConfig, highest_seed
from tendon_gym.training.ppo import CHECKPOINTS, CURVE
from tendon_gym.training.recipes import recipes

CHECKOUT = Path(__file__).parents[2]
TINY = {
    "num_envs": 4,
    "n_steps": 32,
    "batch_size": 128,
    "epochs": 1,
    "network": [8],
    "validate_every": 512,
    "checkpoint_every": 512,
    "validation_episodes": 1,
    "threads": 1,
    "env": {"horizon": 0.5},
}


@pytest.fixture
def tiny(monkeypatch) -> TrainConfig:
    """A recipe in place of every other one."""
    settings = config.override(recipe("bend-tension"), TINY)
    monkeypatch.setattr("tendon_gym.training.command.recipe", lambda benchmark, algo: settings)
    return settings


def test_a_run_ends_with_a_policy_and_one_line(tiny, tmp_path, capsys):
    command = TrainCommand("bend-tension", seed=2, steps=256, out=tmp_path / "run")
    assert command.run() == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("bend-tension, seed 2: 256 steps in ")
    about = json.loads((tmp_path / "run" / "policy.json").read_text())
    assert about["seed"] == 2
    assert about["command"] == "tendon-gym train bend-tension --algo ppo --seed 2 --steps 256"
    resumed = TrainCommand("bend-tension", steps=384, out=tmp_path / "run", resume=True)
    assert resumed.run() == 0
    rows = curve.read_curve(tmp_path / "run" / CURVE, 10_000)
    assert [row["step"] for row in rows] == [0, 256, 384]


def test_a_folder_that_holds_something_is_left_alone(tiny, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="--resume goes on"):
        TrainCommand("bend-tension", out=tmp_path).run()
    with pytest.raises(ValueError, match=r"no run to resume.*config\.json"):
        TrainCommand("bend-tension", out=tmp_path, resume=True).run()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    "asked", [{"benchmark": "track-residual"}, {"seed": 3}], ids=["benchmark", "seed"]
)
def test_another_run_is_not_resumed(tmp_path, asked):
    settings = recipe("bend-tension")
    (tmp_path / "config.json").write_text(json.dumps(config.to_dict(settings)))
    command = TrainCommand(**{"benchmark": "bend-tension", **asked}, out=tmp_path, resume=True)
    with pytest.raises(ValueError, match="is bend-tension, ppo, seed 0, not"):
        command.run()


def test_the_folder_is_named_after_the_run():
    settings = recipe("bend-tension")
    folder = TrainCommand("bend-tension").folder(settings)
    assert folder == Path("out/train/bend-tension-ppo-seed-0")


@pytest.mark.parametrize("device", ["bogus", "cuda:99", "meta", ""])
def test_a_device_that_is_not_there_leaves_no_folder(tiny, tmp_path, device):
    with pytest.raises(ValueError, match=f"device must be .*'cpu', got '{device}'"):
        TrainCommand("bend-tension", out=tmp_path / "a" / "run", device=device).run()
    assert not list(tmp_path.iterdir())


def test_a_run_that_cannot_start_leaves_no_folder(tiny, tmp_path, monkeypatch):
    def fail(*arguments):
        raise ValueError("no run")

    monkeypatch.setattr("tendon_gym.training.ppo.Run", fail)
    with pytest.raises(ValueError, match="no run"):
        TrainCommand("bend-tension", out=tmp_path / "a" / "run").run()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_told_before_training(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("tendon_gym.training.ppo.Run", None)
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(ValueError, match=r"the output folder .* cannot be written"):
            TrainCommand("bend-tension", out=path).run()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"config\.json' is no JSON"),
        ("[]", r"config\.json must be a dict, got \[\]"),
        ("{}", r"config\.json\.benchmark is required"),
    ],
)
def test_a_run_with_a_broken_config_is_not_resumed(tiny, tmp_path, text, message):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises((TypeError, ValueError), match=message):
        TrainCommand("bend-tension", out=tmp_path, resume=True).run()


def test_the_help_tells_the_recipes_and_their_seeds(capsys):
    with pytest.raises(SystemExit):
        cli.main(["train", "--help"])
    words = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for each in recipes():
        assert each.benchmark in words
        highest = config.override(each, {"seed": highest_seed(each.num_envs)})
        assert f"0 to {highest.seed} for {each.benchmark}" in words
        with pytest.raises(ValueError, match=f"seed must be .* to {highest.seed}, got"):
            config.override(each, {"seed": highest.seed + 1})


def test_an_unknown_recipe_names_those_there_are():
    with pytest.raises(
        ValueError,
        match=r"benchmark must be one of 'bend-tension', 'hoist-residual', .*'track-res.*'x'",
    ):
        TrainCommand("x").run()
    with pytest.raises(ValueError, match="algo must be one of 'ppo', got 'sac'"):
        TrainCommand("bend-tension", algo="sac").run()


def test_without_the_extra_it_says_what_to_install(tiny, tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == "torch" else find(n))
    with pytest.raises(ModuleNotFoundError, match=r"needs torch: .*'tendon-gym\[train\]'"):
        TrainCommand("bend-tension", out=tmp_path / "run").run()
    assert not (tmp_path / "run").exists()


def test_the_configuration_imports_without_torch():
    code = "import sys, tendon_gym.training.command; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert not {"torch", "stable_baselines3", "tqdm"} & set(done.stdout.split())


@pytest.mark.slow
def test_a_killed_process_loses_one_interval_at_most(tmp_path):
    """SIGKILL at any moment: the folder stays readable, and the run goes on from a checkpoint."""
    folder = tmp_path / "run"
    folder.mkdir()
    settings = config.override(recipe("bend-tension"), {**TINY, "total_steps": 1_000_000})
    code = (
        "import json, pathlib; from tendon_gym import config; "
        "from tendon_gym.training.config import TrainConfig; "
        "from tendon_gym.training.ppo import Run; "
        f"values = json.loads({json.dumps(config.to_dict(settings))!r}); "
        "Run(config.from_dict(TrainConfig, values), pathlib.Path('run')).learn()"
    )
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=environment)
    deadline = time.monotonic() + 120.0
    while len(checkpoint.found(folder / CHECKPOINTS)) < 2:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    last = int(checkpoint.found(folder / CHECKPOINTS)[-1].name)
    rows = curve.read_curve(folder / CURVE, 1_000_000)
    assert rows[-1]["step"] - last in (0, 512)
    command = TrainCommand("bend-tension", steps=last + 128, out=folder, resume=True)
    assert command.run() == 0
    rows = curve.read_curve(folder / CURVE, 1_000_000)
    assert [row["step"] for row in rows] == [*range(0, last + 1, 512), last + 128]

"""Whole runs, short ones: they learn, they survive an interruption, they export what they fly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO

from tendon_gym import baselines, config
from tendon_gym.baselines import learned
from tendon_gym.training import checkpoint, curve
from tendon_gym.training.config import TrainConfig
from tendon_gym.training.ppo import CHECKPOINTS, CONFIG, CURVE, MODEL, Run
from tendon_gym.training.scales import FixedScales

SMALL = TrainConfig(
    benchmark="armbend-tension",
    num_envs=4,
    n_steps=32,
    batch_size=64,
    epochs=2,
    total_steps=640,
    network=(16, 8),
    validate_every=384,
    checkpoint_every=256,
    validation_episodes=2,
    interface={"control_frequency": 50.0},
    env={"horizon": 0.7},
    threads=1,
    scales="running",
)
STEPS = [0, 384, 640]


def learn(folder: Path, settings: TrainConfig = SMALL, **more: Any) -> Run:
    folder.mkdir(exist_ok=True)
    run = Run(settings, folder, **more)
    run.learn()
    return run


def values(run: Run) -> dict[str, Any]:
    """Everything that a run has learned."""
    optimiser = run.model.policy.optimizer.state_dict()["state"]
    moments = {
        f"{k}.{name}": value for k, each in optimiser.items() for name, value in each.items()
    }
    statistics: Any = run.normaliser.obs_rms
    return {**run.model.policy.state_dict(), **moments, "mean": statistics.mean}


def assert_equal(one: Run, other: Run) -> None:
    mine, yours = values(one), values(other)
    assert mine.keys() == yours.keys()
    for name in mine:
        np.testing.assert_array_equal(np.asarray(mine[name]), np.asarray(yours[name]), name)
    for row, same in zip(one.rows, other.rows, strict=True):
        mine, yours = ({**each, "wall_time": 0.0} for each in (row, same))
        assert mine == pytest.approx(yours, rel=1e-5, nan_ok=True)  # rows from the CSV are rounded


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return learn(tmp_path_factory.mktemp("run") / "finished")


def interrupt_at(run: Run, steps: int) -> None:
    """Make a run stop in the middle of a rollout, as Ctrl-C would."""
    step_wait = run.env.step_wait

    def stop() -> Any:
        if run.model.num_timesteps >= steps:
            raise KeyboardInterrupt
        return step_wait()

    run.env.step_wait = stop  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        run.learn()


def test_a_run_leaves_everything_in_its_folder(finished):
    folder = finished.folder
    assert [row["step"] for row in finished.rows] == STEPS
    assert [row["step"] for row in curve.read_curve(folder / CURVE, 10_000)] == STEPS
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in checkpoint.found(folder / CHECKPOINTS)] == [
        "0000000512",
        "0000000640",
    ]
    assert list((folder / "tensorboard").iterdir())
    assert config.from_dict(TrainConfig, json.loads((folder / CONFIG).read_text())) == SMALL
    about = json.loads((folder / learned.DESCRIPTION).read_text())
    assert about["benchmark"] == SMALL.benchmark
    assert about["task"] == "ArmBend"
    assert about["seed"] == 0
    assert about["wall_time"] > 0.0
    assert about["validation"]["step"] == 640
    assert about["versions"]["torch"] == torch.__version__
    assert not list(folder.rglob(".*"))


def test_the_same_seed_learns_the_same_and_another_one_does_not(finished, tmp_path):
    assert_equal(finished, learn(tmp_path / "again"))
    other = learn(tmp_path / "other", config.override(SMALL, {"seed": 1}))
    assert not np.array_equal(values(finished)["mean"], values(other)["mean"])


@pytest.mark.parametrize("steps", [100, 300, 600])
def test_a_resumed_run_equals_one_that_was_never_interrupted(finished, tmp_path, steps):
    run = Run(SMALL, tmp_path)
    interrupt_at(run, steps)
    kept = [int(path.name) for path in checkpoint.found(tmp_path / CHECKPOINTS)]
    assert kept == [step for step in (256, 512) if step <= steps]
    np.random.seed(0)  # noqa: NPY002
    torch.manual_seed(99)  # a new process starts from other states
    assert_equal(finished, learn(tmp_path, resume=True))


def test_a_resumed_run_keeps_fixed_scales(tmp_path):
    settings = config.override(SMALL, {"scales": "fixed"})
    whole = learn(tmp_path / "whole", settings)
    (tmp_path / "cut").mkdir()
    run = Run(settings, tmp_path / "cut")
    interrupt_at(run, 300)
    assert_equal(whole, learn(tmp_path / "cut", settings, resume=True))
    fixed = FixedScales(whole.env.env.core)
    exported = learned.load(tmp_path / "cut").network
    np.testing.assert_array_equal(exported.mean, fixed.mean)
    np.testing.assert_allclose(exported.scale, 1.0 / np.sqrt(fixed.var), rtol=1e-3)


def test_a_checkpoint_that_was_cut_off_does_not_count(finished, tmp_path):
    run = Run(SMALL, tmp_path)
    interrupt_at(run, 600)
    (last,) = checkpoint.found(tmp_path / CHECKPOINTS)[-1:]
    cut = last.with_name(".0000000513.part")
    cut.mkdir()
    (cut / "model.zip").write_bytes(b"PK")
    assert_equal(finished, learn(tmp_path, resume=True))


def test_a_finished_run_may_go_on(finished, tmp_path):
    first = learn(tmp_path)
    longer = config.override(SMALL, {"total_steps": 768})
    second = learn(tmp_path, longer, resume=True)
    assert second.model.num_timesteps == 768
    assert [row["step"] for row in second.rows] == [*STEPS, 768]
    assert second.rows[-1]["wall_time"] > first.rows[-1]["wall_time"]


def test_the_exported_policy_equals_the_models_prediction(finished):
    env = finished.normaliser
    flying = Run(SMALL, finished.folder, resume=True)
    baseline = baselines.get(str(finished.folder))
    policy = baseline.make(flying.env.env)
    model = PPO.load(finished.folder / MODEL, device="cpu")
    rng = np.random.default_rng(0)
    space: Any = env.observation_space
    observations = (space.high * rng.normal(0.0, 0.5, (1000, *space.shape))).astype(np.float32)
    env.training = False
    wanted, _ = model.predict(env.normalize_obs(observations), deterministic=True)  # type: ignore[arg-type]
    actions, state = policy.predict(observations)
    assert state is None
    assert actions.dtype == np.float32
    assert np.abs(actions - wanted).max() < 1e-6
    assert np.ptp(wanted, axis=0).min() > 1e-3
    single, _ = policy.predict(observations[0])
    np.testing.assert_allclose(single, wanted[0], rtol=0.0, atol=1e-6)


def test_a_validation_leaves_the_training_alone(finished, tmp_path):
    """Validating at other steps must not change what is learned, nor the statistics."""
    seldom = config.override(SMALL, {"validate_every": 10_000})
    mine, yours = values(learn(tmp_path, seldom)), values(finished)
    for name in yours:
        np.testing.assert_array_equal(np.asarray(mine[name]), np.asarray(yours[name]), name)


@pytest.mark.slow
def test_a_short_run_improves_on_its_own_start(tmp_path):
    settings = config.override(
        SMALL,
        {
            "num_envs": 32,
            "n_steps": 16,
            "batch_size": 256,
            "epochs": 8,
            "total_steps": 20_000,
            "network": [32, 32],
            "learning_rate": 5e-3,
            "log_std_init": -0.7,
            "gamma": 0.8,
            "gae_lambda": 0.8,
            "scales": "fixed",
            "env": {"horizon": 2.0, "reward": {"bending_moment": {"margin": 0.5}}},
            "validate_every": 100_000,
            "checkpoint_every": 100_000,
            "validation_episodes": 8,
        },
    )
    run = learn(tmp_path, settings)
    first, last = run.rows[0], run.rows[-1]
    assert last["reward"] > first["reward"] + 0.15
    assert last["tip_error"] < 0.7 * first["tip_error"]
    assert last["bend_error"] < 0.7 * first["bend_error"]

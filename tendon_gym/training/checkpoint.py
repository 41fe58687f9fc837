"""Checkpoints: all that a run needs to go on as if it had never been interrupted."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

from tendon_gym.sb3 import SB3VecEnv

KEPT = 2
"""Number of checkpoints that stay; a damaged last one leaves the one before."""

_STATISTICS = ("mean", "var", "count")


def save(
    folder: Path,
    model: PPO,
    normaliser: VecNormalize,
    env: SB3VecEnv,
    progress: Mapping[str, float],
) -> None:
    """Write the checkpoint `folder`/<step>: complete under its final name, or not at all.

    Args:
        folder: of all checkpoints.
        model: as it is between an update and the next rollout.
        normaliser: of its environments.
        env: inside the normaliser.
        progress: plain numbers that `load` gives back.
    """
    path = folder / f"{model.num_timesteps:010d}"
    temporary = folder / f".{path.name}.part"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    model.save(temporary / "model.zip")
    generator = np.random.get_state(legacy=False)  # noqa: NPY002 (the one that SB3 shuffles with)
    arrays = {"torch": torch.get_rng_state().numpy(), "numpy": generator["state"]["key"]}
    for name, source in (("obs", normaliser.obs_rms), ("ret", normaliser.ret_rms)):
        arrays |= {f"{name}_{key}": np.asarray(getattr(source, key)) for key in _STATISTICS}
    np.savez(temporary / "state.npz", **arrays)
    about = {
        "progress": dict(progress),
        "numpy_position": generator["state"]["pos"],
        "environments": env.random_state,
    }
    (temporary / "state.json").write_text(json.dumps(about), encoding="utf-8")
    shutil.rmtree(path, ignore_errors=True)
    os.replace(temporary, path)
    for old in found(folder)[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def found(folder: Path) -> list[Path]:
    """Return the checkpoints in `folder`, the oldest first."""
    return sorted(path for path in folder.glob("[0-9]*") if (path / "state.json").is_file())


def load(
    path: Path, normaliser: VecNormalize, env: SB3VecEnv, device: str
) -> tuple[PPO, dict[str, float]]:
    """Return the model of a checkpoint on `normaliser` (around `env`), and what `save` was told.

    All generators are put back, and the next reset starts the environments' next episodes.
    """
    with np.load(path / "state.npz", allow_pickle=False) as file:
        arrays: dict[str, Any] = dict(file)
    about = json.loads((path / "state.json").read_text(encoding="utf-8"))
    for name, target in (("obs", normaliser.obs_rms), ("ret", normaliser.ret_rms)):
        for key in _STATISTICS:
            value = arrays[f"{name}_{key}"]
            setattr(target, key, value if value.ndim else value[()])
    model = PPO.load(path / "model.zip", env=normaliser, device=device)
    # loading has seeded everything anew
    torch.set_rng_state(torch.from_numpy(arrays["torch"]))
    state = ("MT19937", arrays["numpy"], about["numpy_position"], 0, 0.0)
    np.random.set_state(state)  # noqa: NPY002
    env.random_state = about["environments"]
    return model, about["progress"]

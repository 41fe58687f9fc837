"""From a trained model to an artefact that NumPy alone flies; see `baselines.learned`."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize
from torch import nn

import tendon_gym
from tendon_gym import benchmarks
from tendon_gym.baselines.learned import DESCRIPTION, FORMAT, WEIGHTS, Learned, Network, describe
from tendon_gym.envs.observations import Slice
from tendon_gym.training.config import TrainConfig
from tendon_gym.training.files import write_file, write_text

PACKAGES = ("gymnasium", "mujoco", "numba", "numpy", "stable-baselines3", "torch")


def network_of(model: PPO, normaliser: VecNormalize) -> Network:
    """Return the policy network with the normaliser as it is now."""
    layers = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
    linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
    statistics: Any = normaliser.obs_rms
    return Network(
        mean=np.array(statistics.mean),
        scale=1.0 / np.sqrt(statistics.var + normaliser.epsilon),
        clip=normaliser.clip_obs,
        weights=tuple(_array(layer.weight).T.copy() for layer in linear),
        biases=tuple(_array(layer.bias) for layer in linear),
    )


def _array(values: Any) -> NDArray[np.float32]:
    return values.detach().cpu().numpy().copy()


def policy_of(model: PPO, normaliser: VecNormalize, config: TrainConfig) -> Learned:
    """Return the policy as it will be exported."""
    return Learned(config.benchmark, config.flown_interface, network_of(model, normaliser))


def write_artefact(
    folder: Path,
    network: Network,
    config: TrainConfig,
    layout: dict[str, Slice],
    about: dict[str, Any],
) -> None:
    """Write policy.npz and policy.json.

    Args:
        folder: that exists.
        network: the policy.
        config: that it was trained with.
        layout: of the observation.
        about: what else is worth telling: the command, the wall time, the validation.
    """
    arrays: dict[str, Any] = {"mean": network.mean, "scale": network.scale}
    for k, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        arrays |= {f"weight_{k}": weight, f"bias_{k}": bias}
    description = {
        "format": FORMAT,
        "benchmark": config.benchmark,
        "task": benchmarks.get(config.benchmark).task,
        "interface": config.flown_interface,
        "layout": describe(layout),
        "clip": network.clip,
        "network": [*config.network],
        "activation": "tanh",
        "algo": config.algo,
        "seed": config.seed,
        "versions": versions(),
        **about,
    }
    write_file(folder / WEIGHTS, lambda path: np.savez_compressed(path, **arrays))
    write_text(folder / DESCRIPTION, json.dumps(description, indent=2) + "\n")


def versions() -> dict[str, str]:
    """Return the versions of everything that a result depends on."""
    own = {"tendon_gym": tendon_gym.__version__, "python": platform.python_version()}
    return {**own, **{name: version(name) for name in PACKAGES}}

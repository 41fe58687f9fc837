"""Learned policies from an artefact folder, flown with NumPy alone.

A folder holds `policy.npz` (mean and scale of the observation, weights and biases) and
`policy.json` (what the policy sees, how it acts, and where it comes from).
"""

from __future__ import annotations

import importlib
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks
from tendon_gym.baselines.policy import Action, Env, as_batch
from tendon_gym.envs.observations import Slice
from tendon_gym.envs.task import configure
from tendon_gym.model.assets import asset_folder
from tendon_gym.registration import Entry

BROKEN = (
    AttributeError,
    EOFError,
    KeyError,
    OSError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What damaged files raise."""

FORMAT = 1
"""Version of the artefact; others are refused."""

WEIGHTS, DESCRIPTION = "policy.npz", "policy.json"
KEYS = ("format", "benchmark", "task", "interface", "layout", "clip")
"""What `policy.json` must tell; it may tell more."""

TIP_GOAL = "tip_goal"
"""What a task with goal="tip" observes in the place of the bend."""


@dataclass(frozen=True, eq=False)
class Network:
    """A multilayer perceptron with tanh between its layers, after a normalisation.

    Attributes:
        mean: (inputs,), subtracted from an observation.
        scale: (inputs,), by which the difference is multiplied.
        clip: largest magnitude of a normalised observation.
        weights: of each layer, (inputs, outputs) float32.
        biases: of each layer, (outputs,) float32.
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    clip: float
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]

    def __post_init__(self) -> None:
        """Reject layers that do not fit together and numbers that are not finite."""
        width = len(self.mean)
        checks.array("mean", self.mean, (None,))
        checks.array("scale", self.scale, (width,), minimum=0.0)
        checks.number("clip", self.clip, above=0.0)
        if not self.weights or len(self.weights) != len(self.biases):
            raise ValueError(
                f"a network needs a bias for each of its layers, got {len(self.weights)} weights "
                f"and {len(self.biases)} biases"
            )
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            checks.array(f"weight_{k}", weight, (width, None))
            width = weight.shape[1]
            checks.array(f"bias_{k}", bias, (width,))

    def __call__(self, observation: NDArray) -> NDArray[np.float32]:
        """Return actions (n, outputs) in [-1, 1] for observations (n, inputs)."""
        normalised = np.clip((observation - self.mean) * self.scale, -self.clip, self.clip)
        x = normalised.astype(np.float32)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = np.tanh(x @ weight + bias)
        return np.clip(x @ self.weights[-1] + self.biases[-1], -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Artefact:
    """A learned policy that waits for an environment; see `registry.Baseline`.

    Attributes:
        name: of its folder.
        benchmark: that it was trained for.
        task: of that benchmark.
        settings: of the environment that it flies with: rotor_action, tendon_action, ...
        layout: the slices of the observation: name, size, unit and frame of each, in order.
        network: observation to action.
    """

    name: str
    benchmark: str
    task: str
    settings: Mapping[str, Any]
    layout: Sequence[Mapping[str, Any]]
    network: Network

    def interface(self, entry: Entry) -> dict[str, Any]:
        """Return the settings that the policy flies with, or raise if the task lacks them."""
        legal = {"rotor_action": entry.rotor_actions, "tendon_action": entry.tendon_actions}
        for name, options in legal.items():
            if self.settings.get(name) not in options:
                raise ValueError(
                    f"policy {self.name!r}, trained on {self.benchmark}, flies with "
                    f"{name}={checks.shown(self.settings.get(name))}, but {entry.name} takes "
                    + ", ".join(repr(option) for option in options)
                )
        module = importlib.import_module(f"tendon_gym.envs.tasks.{entry.module}")
        observed = {*module.TASK.observation, TIP_GOAL}
        unseen = [part["name"] for part in self.layout if part["name"] not in observed]
        if unseen:
            raise ValueError(
                f"policy {self.name!r}, trained on {self.benchmark}, flies {self.task} and tasks "
                f"that observe the same; {entry.name} does not observe {', '.join(unseen)}"
            )
        return dict(self.settings)

    def make(self, env: Env) -> Learned:
        """Return the policy for `env`, or raise and say what differs from its training."""
        wanted, core = configure(env.task, self.settings), env.core
        differences = [
            f"{name} must be {checks.shown(value)}, the environment has "
            + checks.shown(getattr(core.config, name))
            for name, value in ((key, getattr(wanted, key)) for key in self.settings)
            if value != getattr(core.config, name)
        ]
        differences += _differences(self.layout, describe(env.observation_layout))
        outputs = self.network.weights[-1].shape[1]
        if outputs != core.interface.size:
            differences.append(f"it gives {outputs} actions, not {core.interface.size}")
        if differences:
            raise ValueError(
                f"policy {self.name!r}, trained on {self.benchmark}, cannot fly this "
                f"{env.task.entry.name}: " + "; ".join(differences)
            )
        return Learned(self.name, self.interface(env.task.entry), self.network)


class Learned:
    """A learned policy, ready to fly; see `Policy`."""

    def __init__(self, name: str, interface: Mapping[str, Any], network: Network) -> None:
        """Keep what it flies with."""
        self.name, self.interface, self.network = name, interface, network

    def predict(
        self,
        observation: NDArray[np.float32],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
    ) -> tuple[Action, Any]:
        """Return the best actions; the policy has no state. See `Policy.predict`."""
        rows, single = as_batch(observation)
        actions = self.network(rows)
        return (actions[0] if single else actions), None


def describe(layout: Mapping[str, Slice]) -> list[dict[str, Any]]:
    """Return an observation's slices as plain values, in order."""
    return [
        {"name": part.name, "size": part.size, "unit": part.unit, "frame": part.frame}
        for part in layout.values()
    ]


def _differences(
    wanted: Sequence[Mapping[str, Any]], given: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Say in words how two layouts differ."""
    want = {part["name"]: part for part in wanted}
    have = {part["name"]: part for part in given}
    words = [f"it sees {name!r}, which is not observed" for name in want if name not in have]
    words += [f"it does not know {name!r}" for name in have if name not in want]
    for name in (name for name in want if name in have):
        words += [
            f"{key} of {name!r} is {have[name].get(key)!r}, not {want[name].get(key)!r}"
            for key in ("size", "unit", "frame")
            if want[name].get(key) != have[name].get(key)
        ]
    if not words and list(want) != list(have):
        words.append(f"the order is {list(have)}, not {list(want)}")
    return words


def shipped() -> dict[str, Path]:
    """Return the folders of the policies that come with this package, by name."""
    folder = asset_folder() / "policies"
    return {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{DESCRIPTION}"))}


def load(path: str | Path) -> Artefact:
    """Return the learned policy of a folder.

    Raises:
        FileNotFoundError: no such folder, or one without a policy.
        ValueError: a policy that is broken, or of another format.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise FileNotFoundError(f"no learned policy in {str(folder)!r}: there is no such folder")
    for name in (DESCRIPTION, WEIGHTS):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"no learned policy in {str(folder)!r}: it has no {name}")
    try:
        about = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        # opened here, since NumPy leaves a broken file open
        with (folder / WEIGHTS).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return _assemble(folder.resolve().name, about, dict(arrays))
    except BROKEN as error:
        raise ValueError(f"the learned policy in {str(folder)!r} is broken: {error}") from error


def _assemble(name: str, about: Any, arrays: dict[str, NDArray]) -> Artefact:
    """Build an artefact from the content of its files."""
    if not isinstance(about, dict):
        raise ValueError(f"{DESCRIPTION} must hold a dict, got {checks.shown(about)}")
    missing = [key for key in KEYS if key not in about]
    if missing:
        raise ValueError(f"{DESCRIPTION} lacks {', '.join(missing)}")
    if about["format"] != FORMAT:
        raise ValueError(f"its format is {about['format']!r}, this version reads {FORMAT}")
    if not isinstance(about["interface"], dict):
        raise ValueError(f"its interface must be a dict, got {checks.shown(about['interface'])}")
    for part in about["layout"]:
        if not isinstance(part, dict) or not isinstance(part.get("name"), str):
            raise ValueError(
                f"its layout must have a dict with a name for each slice, got {checks.shown(part)}"
            )
    layers = sum(key.startswith("weight_") for key in arrays)
    network = Network(
        mean=arrays["mean"],
        scale=arrays["scale"],
        clip=about["clip"],
        weights=tuple(arrays[f"weight_{k}"] for k in range(layers)),
        biases=tuple(arrays[f"bias_{k}"] for k in range(layers)),
    )
    inputs = sum(part["size"] for part in about["layout"])
    if inputs != len(network.mean):
        raise ValueError(f"its layout has {inputs} numbers, its network takes {len(network.mean)}")
    return Artefact(
        name, about["benchmark"], about["task"], about["interface"], about["layout"], network
    )

"""Artefacts: what is missing, broken or does not fit is said in one clear error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from tendon_gym import baselines
from tendon_gym.baselines import learned
from tendon_gym.registration import ENTRIES
from tendon_gym.training.config import TrainConfig
from tendon_gym.training.export import write_artefact

CONFIG = TrainConfig("bend-tension", network=(8,), interface={"control_frequency": 50.0})


def make(task: str = "Bend", **settings: Any) -> Any:
    return gymnasium.make(ENTRIES[task].id, **settings).unwrapped


@pytest.fixture
def env() -> Any:
    return make(**CONFIG.flown_interface)


@pytest.fixture
def folder(tmp_path, env) -> Path:
    """An artefact with drawn weights."""
    rng, inputs = np.random.default_rng(0), env.observation_space.shape[0]
    network = learned.Network(
        mean=rng.normal(size=inputs),
        scale=rng.uniform(0.1, 2.0, inputs),
        clip=10.0,
        weights=(
            rng.normal(size=(inputs, 8)).astype(np.float32),
            rng.normal(size=(8, 7)).astype(np.float32),
        ),
        biases=(np.zeros(8, np.float32), np.full(7, 0.3, np.float32)),
    )
    path = tmp_path / "mine"
    path.mkdir()
    write_artefact(path, network, CONFIG, env.observation_layout, {"command": "tendon-gym train"})
    return path


def rewrite(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    """Return a function that changes the description in a folder."""

    def apply(folder: Path) -> None:
        about = json.loads((folder / "policy.json").read_text())
        change(about)
        (folder / "policy.json").write_text(json.dumps(about))

    return apply


def rewrite_arrays(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        with np.load(folder / "policy.npz") as file:
            arrays = dict(file)
        change(arrays)
        np.savez(folder / "policy.npz", **arrays)

    return apply


def test_it_flies_as_its_formula_says(folder, env):
    policy = learned.load(folder).make(env)
    assert policy.name == "mine"
    assert policy.interface == CONFIG.flown_interface
    with np.load(folder / "policy.npz") as file:
        arrays = {name: values.astype(np.float64) for name, values in file.items()}
    observation, _ = env.reset(seed=0)
    x = np.array([float(v) for v in observation])
    x = np.minimum(np.maximum((x - arrays["mean"]) * arrays["scale"], -10.0), 10.0)
    hidden = np.tanh(arrays["weight_0"].T @ x + arrays["bias_0"])
    wanted = np.clip(arrays["weight_1"].T @ hidden + arrays["bias_1"], -1.0, 1.0)
    action, state = policy.predict(observation)
    np.testing.assert_allclose(action, wanted, rtol=0.0, atol=1e-5)
    assert state is None
    assert env.action_space.contains(action)


def test_the_registry_takes_a_folder(folder, env):
    for name in (folder, str(folder)):
        assert baselines.get(name).make(env).name == "mine"
    assert baselines.get(str(folder)).interface(ENTRIES["Bend"]) == CONFIG.flown_interface


def test_unknown_names_are_listed():
    with pytest.raises(ValueError, match=r"geometric_full.*'nobody'"):
        baselines.get("nobody")


@pytest.mark.parametrize("missing", ["policy.npz", "policy.json"])
def test_a_missing_file_is_named(folder, missing):
    (folder / missing).unlink()
    with pytest.raises(FileNotFoundError, match=missing):
        baselines.get(str(folder))


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        baselines.get(str(tmp_path / "nowhere"))


BROKEN = {
    "no JSON": lambda folder: (folder / "policy.json").write_text("{"),
    "no dict": lambda folder: (folder / "policy.json").write_text("[]"),
    "no archive": lambda folder: (folder / "policy.npz").write_bytes(b"nothing"),
    "half an archive": lambda folder: (folder / "policy.npz").write_bytes(
        (folder / "policy.npz").read_bytes()[:200]
    ),
    "an interface that is a list": rewrite(lambda about: about.update(interface=[1])),
    "an interface that is null": rewrite(lambda about: about.update(interface=None)),
    "a slice without a name": rewrite(lambda about: about["layout"][0].pop("name")),
    "a slice that is a number": rewrite(lambda about: about["layout"].insert(0, 5)),
    "a layout that is a number": rewrite(lambda about: about.update(layout=5)),
    "no interface": rewrite(lambda about: about.pop("interface")),
    "another format": rewrite(lambda about: about.update(format=99)),
    "a layout too short": rewrite(lambda about: about["layout"].pop()),
    "a clip of zero": rewrite(lambda about: about.update(clip=0.0)),
    "no mean": rewrite_arrays(lambda arrays: arrays.pop("mean")),
    "no bias": rewrite_arrays(lambda arrays: arrays.pop("bias_1")),
    "a NaN": rewrite_arrays(lambda arrays: arrays["weight_0"].fill(np.nan)),
    "a layer too wide": rewrite_arrays(lambda a: a.update(weight_1=np.zeros((9, 7), np.float32))),
    "no layers": rewrite_arrays(lambda a: [a.pop(k) for k in list(a) if k[-1] in "01"]),
}


@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_artefact_is_one_error(folder, damage):
    damage(folder)
    with pytest.raises(ValueError, match="mine' is broken: "):
        learned.load(folder)


def test_another_observation_is_refused_and_described(folder):
    artefact = learned.load(folder)
    with pytest.raises(ValueError) as caught:
        artefact.make(make(**CONFIG.flown_interface, goal="tip"))
    assert "it sees 'reference_bend', which is not observed" in str(caught.value)
    assert "it does not know 'tip_goal'" in str(caught.value)
    with pytest.raises(ValueError, match="size of 'joint_angles' is 16, not 24"):
        artefact.make(make(**CONFIG.flown_interface, model={"arm": {"n_links": 8}}))


def test_another_order_is_refused(folder, env):
    rewrite(lambda about: about["layout"].reverse())(folder)
    with pytest.raises(ValueError, match="the order is"):
        learned.load(folder).make(env)


def test_another_interface_is_refused(folder):
    artefact = learned.load(folder)
    with pytest.raises(ValueError, match=r"control_frequency must be 50\.0.* has 100\.0"):
        artefact.make(make(rotor_action="residual", tendon_action="tension"))


def test_a_task_that_does_not_show_what_it_sees_is_refused_by_name(folder):
    message = r"'mine', .*flies Bend .*; Hover does not observe reference_bend$"
    with pytest.raises(ValueError, match=message):
        learned.load(folder).interface(ENTRIES["Hover"])


def test_what_is_no_folder_is_no_policy(tmp_path):
    (tmp_path / "text").write_text("")
    for place in (tmp_path / "text", tmp_path / "nothing"):
        with pytest.raises(FileNotFoundError, match="there is no such folder"):
            learned.load(place)


def test_a_task_without_its_actions_is_refused(folder):
    with pytest.raises(ValueError, match="rotor_action='residual', but ArmBend takes 'none'"):
        learned.load(folder).interface(ENTRIES["ArmBend"])

"""Scenes in files: native XML as RaiSim has it, and MJCF, both read and written."""

from pathlib import Path

from tendon_gym.tendons.files.elements import parse
from tendon_gym.tendons.files.mjcf_reader import import_spec, load_mjcf
from tendon_gym.tendons.files.mjcf_writer import save_mjcf
from tendon_gym.tendons.files.native_reader import load_scene
from tendon_gym.tendons.files.native_writer import save_scene
from tendon_gym.tendons.files.paths import given_path
from tendon_gym.tendons.files.sidecars import SceneWarning
from tendon_gym.tendons.world import TendonWorld

__all__ = [
    "SceneWarning",
    "import_spec",
    "load_mjcf",
    "load_scene",
    "open_scene",
    "save_mjcf",
    "save_scene",
]


def open_scene(path: str | Path, *, limits: str = "predictive") -> TendonWorld:
    """Return the world of a file, native XML or MJCF, by its first element."""
    native = parse(given_path(path)).tag == "raisim"
    return (load_scene if native else load_mjcf)(path, limits=limits)

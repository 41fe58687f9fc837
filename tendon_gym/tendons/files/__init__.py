"""Scenes in files: native XML as RaiSim has it, and MJCF."""

from tendon_gym.tendons.files.native_reader import load_scene
from tendon_gym.tendons.files.native_writer import save_scene
from tendon_gym.tendons.files.sidecars import SceneWarning

__all__ = ["SceneWarning", "load_scene", "save_scene"]

"""The model: parameters, presets, the builder, the layout of what it builds, rest shapes."""

from tendon_gym.model.assets import asset_path
from tendon_gym.model.builder import build_model, build_spec
from tendon_gym.model.layout import Layout
from tendon_gym.model.parameters import (
    MAX_LINKS,
    Airframe,
    Arm,
    Fluid,
    ModelParameters,
    Solver,
    Tendons,
)
from tendon_gym.model.presets import PRESETS, preset
from tendon_gym.model.stability import check_timestep
from tendon_gym.model.statics import rest_shape, rest_tips

__all__ = [
    "MAX_LINKS",
    "PRESETS",
    "Airframe",
    "Arm",
    "Fluid",
    "Layout",
    "ModelParameters",
    "Solver",
    "Tendons",
    "asset_path",
    "build_model",
    "build_spec",
    "check_timestep",
    "preset",
    "rest_shape",
    "rest_tips",
]

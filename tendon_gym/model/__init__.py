"""The model: parameters, presets, the builder, the layout of what it builds, rest shapes."""

from tendon_gym.model.assets import asset_path
from tendon_gym.model.builder import Built, build, build_model, build_spec
from tendon_gym.model.layout import Layout
from tendon_gym.model.parameters import (
    MAX_LINKS,
    Airframe,
    Arm,
    Fluid,
    Load,
    ModelParameters,
    Solver,
)
from tendon_gym.model.presets import PRESETS, preset
from tendon_gym.model.stability import check_timestep
from tendon_gym.model.statics import hanging, rest_lengths, rest_shape, rest_tips
from tendon_gym.model.tendons import TendonCoupling, TendonProperties, Tendons
from tendon_gym.model.vibration import Linearised, Modes, linearise, modes

__all__ = [
    "MAX_LINKS",
    "PRESETS",
    "Airframe",
    "Arm",
    "Built",
    "Fluid",
    "Layout",
    "Linearised",
    "Load",
    "ModelParameters",
    "Modes",
    "Solver",
    "TendonCoupling",
    "TendonProperties",
    "Tendons",
    "asset_path",
    "build",
    "build_model",
    "build_spec",
    "check_timestep",
    "hanging",
    "linearise",
    "modes",
    "preset",
    "rest_lengths",
    "rest_shape",
    "rest_tips",
]

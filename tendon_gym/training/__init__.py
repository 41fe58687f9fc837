"""What `tendon-gym train` runs; everything but the configuration needs the extra "train"."""

from tendon_gym.training.config import TrainConfig
from tendon_gym.training.recipes import recipe, recipe_names

__all__ = ["TrainConfig", "recipe", "recipe_names"]

"""Identification: which parameters of the model would move as a recorded vehicle did."""

from tendon_gym.identification.estimate import Estimate
from tendon_gym.identification.fitting import identify
from tendon_gym.identification.recording import Recording

__all__ = ["Estimate", "Recording", "identify"]

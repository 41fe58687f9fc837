"""Rotor mixer, geometric flight laws and tendon allocation: pure functions over arrays."""

from tendon_gym.control.allocation import (
    ALLOCATION,
    TENDON,
    TendonAllocation,
    allocate,
    allocate_one,
)
from tendon_gym.control.gains import (
    GAINS,
    PAPER_ATTITUDE_SETS,
    PAPER_GAINS,
    VEHICLE,
    GeometricGains,
    Vehicle,
)
from tendon_gym.control.laws import (
    acceleration_law,
    acceleration_one,
    attitude_command_law,
    attitude_command_one,
    geometric_law,
    geometric_one,
    rate_law,
    rate_one,
)
from tendon_gym.control.mixer import Mixer, mix, mix_one, wrench_matrix
from tendon_gym.control.se3 import LAW_FULL, LAW_PAPER, attitude_law, position_law
from tendon_gym.references.setpoint import SETPOINT, setpoints

__all__ = [
    "ALLOCATION",
    "GAINS",
    "LAW_FULL",
    "LAW_PAPER",
    "PAPER_ATTITUDE_SETS",
    "PAPER_GAINS",
    "SETPOINT",
    "TENDON",
    "VEHICLE",
    "GeometricGains",
    "Mixer",
    "TendonAllocation",
    "Vehicle",
    "acceleration_law",
    "acceleration_one",
    "allocate",
    "allocate_one",
    "attitude_command_law",
    "attitude_command_one",
    "attitude_law",
    "geometric_law",
    "geometric_one",
    "mix",
    "mix_one",
    "position_law",
    "rate_law",
    "rate_one",
    "setpoints",
    "wrench_matrix",
]

"""What the vehicle is asked to do: position, yaw and bend over time, with exact derivatives."""

from tendon_gym.references.csv_file import load_csv
from tendon_gym.references.distribution import SmoothDistribution
from tendon_gym.references.library import (
    Reference,
    bend_hold,
    figure_eight,
    hover,
    mission,
    rotating_bend,
    steady_figure_eight,
    transition,
    waypoints,
)
from tendon_gym.references.registry import make, names, register
from tendon_gym.references.setpoint import SETPOINT, setpoints
from tendon_gym.references.table import ROW, evaluate, evaluate_one, new_rows

__all__ = [
    "ROW",
    "SETPOINT",
    "Reference",
    "SmoothDistribution",
    "bend_hold",
    "evaluate",
    "evaluate_one",
    "figure_eight",
    "hover",
    "load_csv",
    "make",
    "mission",
    "names",
    "new_rows",
    "register",
    "rotating_bend",
    "setpoints",
    "steady_figure_eight",
    "transition",
    "waypoints",
]

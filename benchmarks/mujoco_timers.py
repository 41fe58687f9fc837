"""Where the time of `mj_step` goes: MuJoCo's own timers, on a recorded flight.

`python benchmarks/mujoco_timers.py --links 48 --integrator implicitfast`, for example.
"""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass

import mujoco
import numba
import numpy as np
import tyro

from tendon_gym.evaluation.bench.flights import SEGMENT, STEPS, Flight, record
from tendon_gym.evaluation.bench.settings import LAW
from tendon_gym.evaluation.table import aligned

CLOCK_MONOTONIC = 1
_clock = ctypes.CDLL(None).clock_gettime
_clock.argtypes = [ctypes.c_int, ctypes.c_void_p]
_clock.restype = ctypes.c_int


@numba.cfunc(numba.float64())
def microseconds() -> float:
    """Return the time, us; MuJoCo calls this from C."""
    now = np.empty(2, np.int64)
    _clock(CLOCK_MONOTONIC, now.ctypes)
    return 1e6 * now[0] + 1e-3 * now[1]


@dataclass(frozen=True)
class Options:
    """What to time."""

    links: int = 12
    """Of the arm."""
    integrator: str = "Euler"
    """Euler or implicitfast."""
    repeats: int = 50
    """Times that the flight is stepped through."""


def main(options: Options) -> None:
    """Step through a flight with the timers on, and show a table."""
    model = {"arm": {"n_links": options.links}, "solver": {"integrator": options.integrator}}
    flight = record(LAW[0], {**LAW[1], "model": model})
    data = mujoco.MjData(flight.model)
    segments = range(0, STEPS, SEGMENT)
    spent = np.zeros((options.repeats, len(segments), len(data.timer)))
    bare = np.zeros((options.repeats, len(segments)))
    for k in range(options.repeats):
        for row, first in enumerate(segments):
            bare[k, row] = fly(flight, data, first)
            data.timer.duration[:] = 0.0
            mujoco.set_mjcb_time(microseconds.ctypes)
            try:
                fly(flight, data, first)
            finally:
                mujoco.set_mjcb_time(None)
            spent[k, row] = data.timer.duration
    # of every segment the least disturbed time
    count = STEPS * flight.substeps
    per_step = spent.min(axis=0).sum(axis=0) / count
    whole = per_step[mujoco.mjtTimer.mjTIMER_STEP]
    rows = [["timer", "us per physics step", "share"]]
    whole = per_step[mujoco.mjtTimer.mjTIMER_STEP]
    for k, value in enumerate(per_step):
        name = mujoco.mjtTimer(k).name.removeprefix("mjTIMER_").lower()
        rows.append([name, f"{value:.2f}", f"{100 * value / whole:.1f} %"])
    print(aligned(rows))
    without = 1e6 * bare.min(axis=0).sum() / count
    print(f"without the timers: {without:.2f} us per physics step")


def fly(flight: Flight, data: mujoco.MjData, first: int) -> float:
    """Step MuJoCo through a segment of a flight; return the seconds."""
    data.qpos[:], data.qvel[:] = flight.qpos[first], flight.qvel[first]
    begin = time.perf_counter()
    for control in flight.ctrl[first : first + SEGMENT]:
        data.ctrl[:] = control
        mujoco.mj_step(flight.model, data, flight.substeps)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main(tyro.cli(Options))

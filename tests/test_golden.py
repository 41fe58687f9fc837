"""Golden flights: a guard against changes that nobody meant.

The expected values cannot be derived: they are what the environments did when they were written
down, and other tests say whether that is right. A change that moves them is a change of the
environment: bump its version (v0 -> v1), or, before the first release, say so in CHANGELOG.md;
then run `python tests/test_golden.py` to write them anew.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from tendon_gym.registration import ENTRIES

GOLDEN = Path(__file__).parent / "data" / "golden.json"
SIGNALS = ("position", "velocity", "angular_velocity", "tip", "tip_velocity", "bend", "tilt")
SECONDS, SEED = 1.0, 7

# Other processors and releases of MuJoCo round differently; a flight of a second multiplies that
# by far less than this.
RELATIVE, ABSOLUTE = 1e-5, 1e-7


def flown(entry):
    """Return some signals after a second of slow waves on every action, and the return.

    The waves are small on the rotors, so that the vehicle stays up.
    """
    env = gymnasium.make(entry.id, limits={"tilt": math.pi})
    env.reset(seed=SEED)
    core, total = env.unwrapped.core, 0.0
    sizes = np.full(core.interface.size, 0.02)
    sizes[core.interface.tendon_part] = 0.5
    for step in range(round(SECONDS / core.step_time)):
        waves = 0.9 * step * core.step_time + 0.17 * np.arange(core.interface.size)
        action = sizes * np.sin(2.0 * math.pi * waves)
        reward, terminated = env.step(action.astype(np.float32))[1:3]
        total += reward
        assert not terminated
    signals = core.signals[0]
    result = {name: np.atleast_1d(signals[name]).tolist() for name in SIGNALS}
    env.close()
    return {**result, "return": [total]}


@pytest.mark.parametrize("name", ENTRIES)
def test_flights_are_those_that_were_written_down(name):
    entry = ENTRIES[name]
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))[entry.id]
    now = flown(entry)
    assert list(now) == list(golden)
    for key, expected in golden.items():
        assert now[key] == pytest.approx(expected, rel=RELATIVE, abs=ABSOLUTE), key


if __name__ == "__main__":
    values = {entry.id: flown(entry) for entry in ENTRIES.values()}
    GOLDEN.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")

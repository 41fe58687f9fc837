"""What was recorded of a vehicle: controls, and what was measured of its motion."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tendon_gym import checks

Array = NDArray[np.float64]
WIDTHS = {"base_position": 3, "base_attitude": 4, "tip": 3}
"""Numbers per sample of the signals that don't depend on the model."""
EVEN = 1e-6
"""By which share of their mean the steps between samples may differ."""
MOST_SAMPLES = 1_000_000


@dataclass(frozen=True, eq=False)
class Recording:
    """T samples at even steps; what was not measured is None.

    Attributes:
        time: s, (T,), in even steps.
        controls: as the model takes them, N, (T, nu): thrusts, if the base flies, then tensions.
            Those of a sample hold until the next one; the last are not used.
        joint_angles: of the hinges x, y of link 1, x, y of link 2, ..., rad, (T, 2N), and of what
            else the arm's links may move by, in the model's order.
        base_position: of the base's origin in the world, m, (T, 3).
        base_attitude: quaternions w, x, y, z, from the base's axes to the world's, (T, 4).
        tip: its position in the world, m, (T, 3).
        tendon_lengths: m, (T, n).
    """

    time: Array
    controls: Array
    joint_angles: Array | None = None
    base_position: Array | None = None
    base_attitude: Array | None = None
    tip: Array | None = None
    tendon_lengths: Array | None = None

    def __post_init__(self) -> None:
        """Check shapes, values and the even steps; store arrays of their own."""
        time = checks.increasing("Recording.time", self.time)
        count = checks.integer("the number of samples", len(time), minimum=3, maximum=MOST_SAMPLES)
        steps = np.diff(time)
        uneven = np.abs(steps - steps.mean()) > EVEN * steps.mean()
        if uneven.any():
            k = int(np.flatnonzero(uneven)[0])
            legal = f"even: {steps.mean():g} s after the sample before"
            checks.reject(f"Recording.time[{k + 1}]", float(time[k + 1]), legal)
        object.__setattr__(self, "time", time)
        for name in ("controls", *self.signals):
            shape = (count, WIDTHS.get(name))
            values = checks.array(f"Recording.{name}", getattr(self, name), shape)
            if name == "base_attitude":
                values = _unit(values)
            object.__setattr__(self, name, values)
        if not self.signals:
            raise ValueError(f"Recording must have one of {', '.join(_SIGNALS)}")

    @property
    def signals(self) -> list[str]:
        """The names of what was measured."""
        return [name for name in _SIGNALS if getattr(self, name) is not None]

    @property
    def step(self) -> float:
        """Time between samples, s."""
        return float(self.time[-1] - self.time[0]) / (len(self.time) - 1)

    def save(self, path: Path) -> None:
        """Write an .npz with an array for each attribute that is there."""
        given = {name: getattr(self, name) for name in ("time", "controls", *self.signals)}
        np.savez_compressed(path, **given)

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Read an .npz as `save` writes it.

        Raises:
            ValueError: it is no such file, or has other arrays or wrong ones.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                given = {name: file[name] for name in file.files}
        except (OSError, ValueError, AttributeError) as error:
            raise ValueError(f"{str(path)!r} must be an .npz of arrays: {error}") from error
        checks.known_keys(str(path), given, ("time", "controls", *_SIGNALS))
        for name in ("time", "controls"):
            if name not in given:
                raise ValueError(f"{str(path)!r} must have an array {name!r}")
        return cls(**given)


_SIGNALS = [field.name for field in fields(Recording)][2:]


def _unit(quaternions: Array) -> Array:
    sizes = np.linalg.norm(quaternions, axis=1)
    if (np.abs(sizes - 1.0) > 1e-2).any():
        k = int(np.abs(sizes - 1.0).argmax())
        checks.reject(f"Recording.base_attitude[{k}]", quaternions[k], "a quaternion of length 1")
    return quaternions / sizes[:, None]

"""The command: read a recording, find the parameters, and say how sure they are."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from tyro.conf import Positional

from tendon_gym import checks, config
from tendon_gym.folders import fresh_file, results
from tendon_gym.identification.estimate import Estimate
from tendon_gym.identification.fitting import identify
from tendon_gym.identification.recording import Recording
from tendon_gym.model import ModelParameters, preset

UNSURE = 1
"""Exit code where the recording leaves a parameter open."""


@dataclass(frozen=True)
class IdentifyCommand:
    """Find parameters of the model with which it moves as a recording does.

    Ends with 1 if the recording leaves one of them open.
    """

    recording: Positional[Path]
    """An .npz with the arrays time, controls, and joint_angles, tip or tendon_lengths, and so on,
    as `tendon_gym.identification.Recording` has them."""
    unknowns: Positional[tuple[str, ...]]
    """Parameters and bounds, such as arm.bending_stiffness=0.001:0.005 or tension_gain=0.5:1.5."""
    base: Literal["clamped", "free"] = "clamped"
    """Whether the base was held."""
    model: str = "{}"
    """What is known of the model and differs from the preset, as JSON: {"arm": {"n_links": 6}}."""
    preset: str = "default"
    """The preset that it differs from."""
    window: float = 0.5
    """Length of the windows that a recording with joint angles is cut into, s."""
    out: Path | None = None
    """JSON to write; one that exists stays, the new one gets a number."""

    def run(self) -> int:
        """Identify."""
        if self.out is None:
            found = self._identify()
            told = found.report()
        else:
            path = fresh_file(self.out)
            with results(path.parent, fresh=False):
                found = self._identify()
                path.write_text(json.dumps(_plain(found), indent=1) + "\n", encoding="utf-8")
            told = f"{found.report()}\nresults: {path}"
        sys.stdout.write(told + "\n")
        return UNSURE if found.unidentified or found.at_bounds else 0

    def _identify(self) -> Estimate:
        unknowns = dict(_bounds(text) for text in self.unknowns)
        recording = Recording.load(self.recording)
        return identify(recording, self._parameters(), unknowns, window=self.window)

    def _parameters(self) -> ModelParameters:
        try:
            known = json.loads(self.model)
        except json.JSONDecodeError as error:
            raise ValueError(f"--model must be JSON, got {self.model!r}: {error}") from error
        return config.override(replace(preset(self.preset), base=self.base), known, "model")


def _bounds(text: str) -> tuple[str, tuple[float, float]]:
    name, _, bounds = text.partition("=")
    try:
        low, high = (float(bound) for bound in bounds.split(":"))
    except ValueError:
        checks.reject("a parameter", text, "of the form NAME=LOWEST:HIGHEST")
    return name, (low, high)


def _plain(found: Estimate) -> dict[str, Any]:
    """Return an estimate as plain values."""
    by_name = {
        name: {"value": float(value), "standard_error": float(error)}
        for name, value, error in zip(found.names, found.values, found.standard_errors, strict=True)
    }
    return {
        "parameters": by_name,
        "correlations": found.correlations.tolist(),
        "noise": dict(found.noise),
        "unidentified": list(found.unidentified),
        "unresolved": [dict(way) for way in found.unresolved],
        "at_bounds": list(found.at_bounds),
        "samples": found.samples,
        "windows": found.windows,
    }

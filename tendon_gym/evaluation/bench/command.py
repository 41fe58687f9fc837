"""The command: measure, print the tables, write the JSON and the picture."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

Report = Callable[[str], object]

PARTS = (
    "engines",
    "links",
    "forms",
    "native",
    "interfaces",
    "policies",
    "learning",
    "mission",
    "phases",
    "memory",
)
FILE = "steps_per_second"


@dataclass(frozen=True)
class BenchCommand:
    """Measure what a step costs, in every form, against bare `mj_step` in the same rounds.

    Attributes:
        quick: a look in less than a minute, with few rounds; nothing is judged by it.
        parts: what is measured; see `evaluation.bench.command.PARTS`.
        engines: which engines.
        out: folder for the results; one that holds something stays, the new one gets a number.
        readme: file whose part between the marks of a summary is written anew.
    """

    quick: bool = False
    parts: tuple[str, ...] = PARTS
    engines: tuple[str, ...] = ("mujoco", "compiled")
    out: Path = Path("out/bench")
    readme: Path | None = None

    def run(self, report: Report | None = None, fresh: bool = True) -> int:
        """Measure, write and report; return 1 if a full run misses a requirement, else 0.

        Args:
            report: takes the text; None: standard output.
            fresh: False: older results in `out` are replaced.

        Raises:
            ValueError: an unknown part or engine, or `out` cannot be written.
        """
        from tendon_gym.evaluation.bench.pictures import picture
        from tendon_gym.evaluation.bench.report import full, write_summary
        from tendon_gym.folders import results

        self._check()
        with results(self.out, fresh) as folder:
            result = measure(self)
            text = json.dumps(result, indent=1, allow_nan=False) + "\n"
            (folder / f"{FILE}.json").write_text(text, encoding="utf-8")
            (folder / f"{FILE}.md").write_text(full(result), encoding="utf-8")
            picture(result, folder / f"{FILE}.png")
        if self.readme is not None:
            write_summary(result, self.readme)
        say = report or sys.stdout.write
        say(f"{full(result)}\nwritten to {folder} in {result['seconds']:.0f} s\n")
        return int(not self.quick and not all(each["holds"] for each in result["requirements"]))

    def _check(self) -> None:
        """Raise at once for what would only fail in the end."""
        from tendon_gym import checks, engines
        from tendon_gym.evaluation.bench.report import split_readme
        from tendon_gym.model import build_model, preset

        for name, values in (("parts", self.parts), ("engines", self.engines)):
            if not values:
                raise ValueError(f"{name} must name at least one")
        for part in self.parts:
            checks.choice("parts", part, PARTS)
        model = build_model(preset("default"))
        for engine in self.engines:
            engines.make(engine, model, 1)
        if self.readme is not None:
            split_readme(self.readme)


def measure(command: BenchCommand) -> dict[str, Any]:
    """Measure the parts of a command and return everything as plain values."""
    from tendon_gym.evaluation.bench import learning, memory, mission, parts, phases
    from tendon_gym.evaluation.bench.machine import machine, versions
    from tendon_gym.evaluation.bench.requirements import judge
    from tendon_gym.evaluation.bench.settings import FULL, QUICK

    begin, about = time.perf_counter(), machine()
    scope = QUICK if command.quick else FULL
    races: Mapping[str, tuple[Callable[..., list[dict[str, Any]]], ...]] = {
        "engines": (parts.engines_alone,),
        "links": (parts.links,),
        "forms": (parts.forms,),
        "native": (parts.native, parts.native_50_hz),
        "interfaces": (parts.interfaces,),
        "policies": (parts.policies,),
        "learning": (learning.learning,),
        "mission": (mission.mission,),
    }
    rows = [
        row
        for part in command.parts
        for race in races.get(part, ())
        for row in race(scope, command.engines)
    ]
    result = {
        "rows": rows,
        "fits": parts.fits(rows),
        "phases": phases.phases(scope, command.engines) if "phases" in command.parts else [],
        "memory": memory.memory(scope, command.engines) if "memory" in command.parts else {},
        "engines": list(command.engines),
        "quick": command.quick,
        "protocol": asdict(scope.protocol),
        "machine": about,
        "versions": versions(),
    }
    seconds = round(time.perf_counter() - begin, 1)
    return {**result, "requirements": judge(result), "seconds": seconds}

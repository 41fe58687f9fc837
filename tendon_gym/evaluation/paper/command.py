"""The command: fly everything, print the table, write the JSON and the figures."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any

from tendon_gym.registration import ENTRIES

PAPER = "geometric_paper"

Report = Callable[[str], object]


@dataclass(frozen=True)
class PaperCommand:
    """Fly the paper's experiments and hold them against its numbers.

    Results never replace older ones: what exists is left, and a numbered sibling is written.

    Attributes:
        json: file for all numbers; by default paper.json in `out`.
        out: folder for the figures.
        controller: a policy's name; another one than geometric_paper is compared, not judged:
            better or worse than the paper, or equal within the row's tolerance or 1 %.
        cost: whether to measure what a step costs, too.
    """

    json: Path | None = None
    out: Path = Path("out/paper")
    controller: str = PAPER
    cost: bool = False

    def run(self, report: Report | None = None) -> int:
        """Fly, write and report; return 1 if a judged row fails, else 0.

        Args:
            report: takes the text; None: standard output.

        Raises:
            ValueError: no such controller, one that cannot fly Track, or a folder that cannot be
                written.
        """
        from tendon_gym import baselines
        from tendon_gym.evaluation.paper import figures, table
        from tendon_gym.folders import fresh_file, results

        say = report or sys.stdout.write
        baselines.get(self.controller).interface(ENTRIES["Track"])
        with results(self.out) as folder:
            file = fresh_file(self.json or folder / "paper.json")
            with results(file.parent, fresh=False):
                begin = time.perf_counter()
                found = measure(self.controller, self.cost)
                result = plain({**found, "seconds": round(time.perf_counter() - begin, 1)})
                text = json.dumps(result, indent=1, allow_nan=False)
                file.write_text(text + "\n", encoding="utf-8")
            pictures = figures.save_all(result, folder)
        rows = found["rows"]
        say(f"{table.text(rows)}\n{table.phases_text(found['phases'])}\n{_summary(rows)}\n\n")
        say("".join(f"{path}\n" for path in [file, *pictures]))
        return int(any(row.verdict == table.FAIL for row in rows))


def measure(controller: str, cost: bool = False) -> dict[str, Any]:
    """Fly all experiments with a controller and return everything that goes to the JSON."""
    from tendon_gym import config
    from tendon_gym.control import PAPER_ATTITUDE_SETS
    from tendon_gym.evaluation.compare import machine, versions
    from tendon_gym.evaluation.paper import experiments, table
    from tendon_gym.model import preset

    found = experiments.fly_all(controller)
    if cost:
        from tendon_gym.evaluation.paper.cost import measure as measure_cost

        found.values.update(measure_cost())
    if controller == PAPER:
        held = None
        rows = table.judged_rows(found.values)
    else:
        yardstick = experiments.fly_all(PAPER)
        held = table.bend_held(found.bend, yardstick.bend)
        rows = table.compared_rows(found.values, yardstick.values, held)
    return {
        "controller": controller,
        "rows": rows,
        "values": found.values,
        "phases": found.phases,
        "bend_errors": found.bend,
        "bend_held": held,
        "versions": versions(),
        "machine": machine(),
        "model": config.to_dict(preset("paper")),
        "gains": {name: config.to_dict(gains) for name, gains in PAPER_ATTITUDE_SETS.items()},
        "push": experiments.PUSH,
        "series": found.series,
    }


def plain(value: Any) -> Any:
    """Return nested values and dataclasses as JSON has them: NaN, after an early end, is null."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _summary(rows: list[Any]) -> str:
    """Return one line that sums up the rows."""
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.verdict] = counts.get(row.verdict, 0) + 1
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())

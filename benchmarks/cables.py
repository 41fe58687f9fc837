"""What a solve of a cable costs, side by side with Simbody's CableSpan.

    python benchmarks/cables.py

The set-ups are those of tests/data/cables/cablespan_cases.json, at default accuracy and tolerance,
with the same poses for both: small steps (a circle of 5 cm in 400 steps) and large ones (to and
fro by 30 cm). CableSpan is called through OpenSim, in a virtual environment of its own below
build/peers and a process of its own, in turns with ours; what its Python binding and the bodies
take is taken off by the same poses of a straight cable. OpenSim uses the algorithm of 2015 alone.
Simbody's solves from the hints, by either algorithm, were measured in C++ when the data file was
made. If OpenSim can't be installed, the table says why.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from tendon_gym.cables import CableSpan, CableState, CableSystem, Cylinder, Ellipsoid, Sphere, Torus
from tendon_gym.evaluation.bench.machine import machine

HERE = Path(__file__).parent
DATA = HERE.parent / "tests" / "data" / "cables" / "cablespan_cases.json"
REQUIREMENT = "opensim==4.6"
SECONDS = 1200
SURFACES: dict[str, Any] = {
    "sphere": Sphere,
    "cylinder": Cylinder,
    "torus": Torus,
    "ellipsoid": lambda *radii: Ellipsoid(radii),
}
BATCH = 64
SCHOLZ = ", Scholz 2015"
GROUND = 0


@dataclass(frozen=True)
class Options:
    """How long to measure, and where to write it."""

    rounds: int = 7
    """Rounds of both in turns; the fastest of each is shown."""
    venvs: Path = Path("build/peers")
    """Folder of OpenSim's virtual environment, which stays."""
    out: Path = Path("out/bench")
    """Folder for cables.json and cables.md."""


def set_ups() -> dict[str, dict[str, Any]]:
    """Return the set-ups, with the origin's places of both kinds of steps, and Simbody's times."""
    found = {}
    for name, entry in json.loads(DATA.read_text(encoding="utf-8"))["timing_us"].items():
        case = entry["input"]
        if not case["elements"]:
            continue
        x, y, z = case["bodies"][0]["pose"][:3]
        turns = np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
        circle = [[x, y + 0.05 * np.sin(a), z + 0.05 * np.cos(a)] for a in turns]
        far = [[x, y + 0.15 * s, z - 0.15 * s] for s in (1.0, -1.0)] * 100
        case |= {"small": circle, "large": far, "simbody_cold_us": entry["cold_us_min"]}
        short = name.removeprefix("time_").replace("_MinimumLength", "")
        found[short.replace("_Scholz2015", SCHOLZ)] = case
    return found


def rig(case: dict[str, Any], n: int | None = None) -> tuple[CableSpan, CableState]:
    """Return the cable of a set-up and a state."""
    system = CableSystem(2)
    ends = (case["origin"]["station"], case["termination"]["station"])
    cable = CableSpan(system, 1, ends[0], GROUND, ends[1])
    for element in case["elements"]:
        surface = SURFACES[element["type"]](*element["params"])
        cable.add_obstacle(GROUND, element["pose"], surface, element["hint"])
    if case["algorithm"] == "Scholz2015":
        cable.algorithm = "scholz_2015"
    state = system.new_state(n)
    state.position[:, 1] = case["bodies"][0]["pose"][:3]
    state.solve()
    return cable, state


def timed(state: CableState, places: np.ndarray) -> float:
    """Return us per solve over the places (steps, 3) of the origin."""
    begin = time.perf_counter()
    for place in places:
        state.position[:, 1] = place
        state.solve()
    return 1e6 * (time.perf_counter() - begin) / len(places) / state.n


def own_times(case: dict[str, Any]) -> dict[str, Any]:
    """Return our us per solve, one by one and in a batch, from the last path and from the hints."""
    cable, state = rig(case)
    _, batch = rig(case, BATCH)
    small, large = np.array(case["small"]), np.array(case["large"])
    found: dict[str, Any] = {"small": timed(state, small), "large": timed(state, large)}
    found |= {"small_batch": timed(batch, small[:50]), "large_batch": timed(batch, large[:50])}
    begin = time.perf_counter()
    for _ in range(200):
        state.reset()
        state.solve()
    found["cold"] = 1e6 * (time.perf_counter() - begin) / 200
    found["cold_iterations"] = cable.num_iterations(state)
    lengths = []
    for place in large:
        state.position[:, 1] = place
        state.solve()
        lengths.append(cable.length(state))
    return {**found, "lengths": lengths}


class OpenSim:
    """OpenSim in a virtual environment of its own, or why there is none."""

    def __init__(self, folder: Path) -> None:
        """Install it, unless it is there."""
        self._python, self.failure, self.version = folder / "bin" / "python", "", ""
        install = [str(self._python), "-m", "pip", "install", "--quiet", REQUIREMENT]
        for command in ([sys.executable, "-m", "venv", str(folder)], install):
            if not self.failure:
                self._run(command)

    def _run(self, command: list[str]) -> str:
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            self.failure = str(error)
            return ""
        if done.returncode:
            self.failure = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return done.stdout

    def times(self, file: Path) -> dict[str, Any]:
        """Return its times of the set-ups in a file, empty if it doesn't run."""
        if self.failure:
            return {}
        script = HERE / "peer_workers" / "opensim_cables.py"
        said = self._run([str(self._python), str(script), str(file)])
        if self.failure:
            return {}
        answer = json.loads(said.strip().splitlines()[-1])
        self.version = answer["version"]
        return answer["times"]


def measure(options: Options) -> dict[str, Any]:
    """Measure both in turns."""
    cases = set_ups()
    peer = OpenSim((options.venvs / "opensim").resolve())
    ours: dict[str, list[dict[str, Any]]] = {name: [] for name in cases}
    theirs: dict[str, list[dict[str, Any]]] = {name: [] for name in cases}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cases.json"
        same = {name: case for name, case in cases.items() if name.endswith(SCHOLZ)}
        file.write_text(json.dumps(same), encoding="utf-8")
        for _ in range(options.rounds):
            for name, times in peer.times(file).items():
                theirs[name].append(times)
            for name, case in cases.items():
                ours[name].append(own_times(case))
    rows = [row_of(name, cases[name], ours[name], theirs[name]) for name in cases]
    return {
        "rows": rows,
        "opensim": peer.version or f"not measured: {peer.failure}",
        "rounds": options.rounds,
        "machine": machine(),
    }


def row_of(
    name: str, case: dict[str, Any], ours: list[dict[str, Any]], theirs: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the times of a set-up in the fastest round, in us."""

    def fastest(rounds: list[dict[str, Any]], key: str) -> float:
        return float(min(times[key] for times in rounds))

    keys = ("small", "large", "small_batch", "large_batch", "cold", "cold_iterations")
    row: dict[str, Any] = {"case": name, **{key: fastest(ours, key) for key in keys}}
    row["simbody_cold"] = case["simbody_cold_us"]
    if theirs:
        for kind in ("small", "large"):
            row[f"opensim_{kind}"] = fastest(theirs, kind)
            straight = fastest(theirs, f"{kind}_straight")
            row[f"opensim_{kind}_net"] = row[f"opensim_{kind}"] - straight
        apart = np.subtract(ours[0]["lengths"], theirs[0]["lengths"])
        row["lengths_apart"] = float(np.abs(apart).max())
    return row


def markdown(result: dict[str, Any]) -> str:
    """Return the table."""
    lines = [
        f"OpenSim {result['opensim']}; us per solve, the fastest of {result['rounds']} rounds. "
        f"In brackets: in a batch of {BATCH}. OpenSim's are net of a straight cable's.",
        "",
        "| set-up | small steps | OpenSim | ratio | large steps | OpenSim | ratio "
        "| from the hints | Simbody in C++ | ratio |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        cells = [row["case"]]
        for kind in ("small", "large"):
            cells.append(f"{row[kind]:.2f} ({row[f'{kind}_batch']:.2f})")
            net = row.get(f"opensim_{kind}_net")
            cells += ["-", "-"] if net is None else [f"{net:.1f}", f"{net / row[kind]:.1f}"]
        cold, simbody = row["cold"], row["simbody_cold"]
        cells += [f"{cold:.1f}", f"{simbody:.0f}", f"{simbody / cold:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main(options: Options) -> None:
    """Measure, write cables.json and cables.md, and show the table."""
    result = measure(options)
    options.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1) + "\n"
    (options.out / "cables.json").write_text(text, encoding="utf-8")
    (options.out / "cables.md").write_text(markdown(result), encoding="utf-8")
    sys.stdout.write(markdown(result))


if __name__ == "__main__":
    main(tyro.cli(Options))

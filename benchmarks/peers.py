"""What other suites cost on top of their physics, each against its own, in one interleaved run.

    python benchmarks/peers.py

Every peer gets a virtual environment of its own below build/peers, since their pins conflict, and
a process of its own there (see peer_workers/). Rounds are interleaved: every peer measures all its
cases once, one peer after the other, then the next round begins. What cannot be installed or does
not run is reported with its reason.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from tendon_gym.evaluation.bench.machine import machine

HERE = Path(__file__).parent
INSTALL_SECONDS, START_SECONDS, ROUND_SECONDS, GRACE_SECONDS = 1200, 600, 300, 20


class PeerError(Exception):
    """Why a peer could not be measured."""


@dataclass(frozen=True)
class Peer:
    """A suite: the worker that measures it, and what its virtual environment holds."""

    worker: str
    requirements: tuple[str, ...]


PEERS = {
    "gymnasium": Peer(
        "gymnasium_mujoco.py", ("gymnasium[mujoco]==1.4.0", "mujoco==4.0.0", "numpy==2.4.6")
    ),
    # EnvPool is built with MuJoCo 3.6.0
    "envpool": Peer("envpool_ant.py", ("envpool==1.2.5", "mujoco==3.6.0", "numpy==2.4.6")),
    "pyflyt": Peer("pyflyt_hover.py", ("pyflyt==0.29.0", "pybullet==3.2.7", "numpy==1.26.4")),
    "crazyflow": Peer("crazyflow_reach.py", ("crazyflow==0.4.0", "jax==0.10.1", "numpy==2.4.6")),
    "gym-softrobot": Peer(
        "softrobot_tendon_arm.py", ("gym-softrobot==0.3.0", "pyelastica==1.0.0", "numpy==2.4.6")
    ),
}
OURS = "tendon_gym"
"""Measured in the same rounds, in the interpreter that runs this script."""


@dataclass(frozen=True)
class Options:
    """What to measure, how long, and where to write it."""

    rounds: int = 12
    """Interleaved rounds; at least 5."""
    only: tuple[str, ...] = (OURS, *PEERS)
    """Which peers."""
    venvs: Path = Path("build/peers")
    """Folder of the virtual environments, which stay, and of the logs of what failed."""
    out: Path = Path("out/bench")
    """Folder for peers.json and peers.md; older ones are replaced."""

    def __post_init__(self) -> None:
        """Reject unknown peers and too few rounds."""
        unknown = [name for name in self.only if name not in (OURS, *PEERS)]
        if unknown:
            raise ValueError(f"no peer {unknown[0]!r}; there are {', '.join((OURS, *PEERS))}")
        if self.rounds < 5:
            raise ValueError(f"rounds must be at least 5, got {self.rounds}")


def python_of(peer: str, options: Options) -> Path:
    """Return the interpreter of a peer; make its virtual environment if there is none yet."""
    if peer == OURS:
        return Path(sys.executable)
    folder = (options.venvs / peer).resolve()
    python, stamp = folder / "bin" / "python", folder / "requirements.txt"
    wanted = "\n".join(PEERS[peer].requirements) + "\n"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    tell(f"{peer}: installing into {folder}")
    run([sys.executable, "-m", "venv", str(folder)])
    run([str(python), "-m", "pip", "install", "--quiet", *PEERS[peer].requirements])
    stamp.write_text(wanted, encoding="utf-8")
    return python


def run(command: list[str]) -> None:
    """Run a command, or raise PeerError with the last thing that it said."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise PeerError(f"installing took over {INSTALL_SECONDS} s") from None
    if done.returncode:
        raise PeerError(last_line(done.stderr))


def last_line(text: str) -> str:
    """Return the last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


class Worker:
    """The process of a peer."""

    def __init__(self, peer: str, options: Options) -> None:
        """Start it and wait until its cases are warm."""
        python = python_of(peer, options)
        script = HERE / "peer_workers" / (PEERS[peer].worker if peer != OURS else "own_envs.py")
        options.venvs.mkdir(parents=True, exist_ok=True)
        self._log = options.venvs / f"{peer}.log"
        tell(f"{peer}: warming up")
        answers, theirs = os.pipe()
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [str(python), str(script), str(theirs)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                text=True,
                pass_fds=[theirs],
                env={**os.environ, "JAX_PLATFORMS": "cpu", "MUJOCO_GL": "disabled"},
            )
        os.close(theirs)
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, args=(answers,), daemon=True).start()
        try:
            self.about = self._answer(START_SECONDS)
        except PeerError:
            self.close()
            raise

    def _read(self, answers: int) -> None:
        with os.fdopen(answers, encoding="utf-8") as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put("")  # the worker has ended

    def _answer(self, seconds: float) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise PeerError(f"it took over {seconds:g} s") from None
        if not line:
            raise PeerError(last_line(self._log.read_text(encoding="utf-8", errors="replace")))
        return json.loads(line)

    def measure(self, number: int) -> dict[str, list[float]]:
        """Return us per environment step and of the bare physics, by case."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{number}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the log tells why, and the answer is the end of its output
        return self._answer(ROUND_SECONDS)

    def close(self) -> None:
        """End the process, and remove its log if all went well."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.returncode == 0:
            self._log.unlink()


def measure(options: Options) -> dict[str, Any]:
    """Measure all peers and return everything as plain values."""
    workers, failures = started(options)
    times: dict[str, dict[str, list[list[float]]]] = {name: {} for name in workers}
    for number in range(1, options.rounds + 1):
        tell(f"round {number} of {options.rounds}")
        for name in list(workers):
            try:
                answers = workers[name].measure(number)
            except PeerError as error:
                failures[name] = str(error)
                workers.pop(name).close()
                continue
            for case, pair in answers.items():
                times[name].setdefault(case, []).append(pair)
    about = {name: worker.about for name, worker in workers.items()}
    for worker in workers.values():
        worker.close()
    rows = [row for name in workers for row in rows_of(name, about[name]["cases"], times[name])]
    return {
        "rows": rows,
        "failed": failures,
        "versions": {name: each["versions"] for name, each in about.items()},
        "machine": machine(),
        "rounds": options.rounds,
    }


def started(options: Options) -> tuple[dict[str, Worker], dict[str, str]]:
    """Return the workers that are warm, and why the others are not."""
    workers, failures = {}, {}
    for name in dict.fromkeys(options.only):
        try:
            workers[name] = Worker(name, options)
        except PeerError as error:
            failures[name] = str(error)
            tell(f"{name}: {error}")
    return workers, failures


def rows_of(
    name: str, cases: dict[str, Any], times: dict[str, list[list[float]]]
) -> Iterator[dict[str, Any]]:
    """Yield a row for every case of a peer."""
    for case, about in cases.items():
        stepped, bare = np.array(times[case]).T
        quartiles = np.percentile(stepped / bare, [25, 50, 75])
        yield {
            "peer": name,
            "case": case,
            **about,
            "env_step_us": float(np.median(stepped)),
            "bare_us": float(np.median(bare)),
            "overhead_us": float(np.median(stepped - bare)),
            "ratio": float(quartiles[1]),
            "ratio_quartiles": [float(quartiles[0]), float(quartiles[2])],
            "real_time": about["seconds"] / (1e-6 * float(np.median(stepped))),
        }


def markdown(result: dict[str, Any]) -> str:
    """Return the table."""
    lines = [
        "| environment | threads | physics steps | `env.step`, us | own bare physics, us "
        "| on top, us | ratio (quartiles) | x real time |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        name = f"**{row['case']}**" if row["peer"] == OURS else row["case"]
        low, high = row["ratio_quartiles"]
        lines.append(
            f"| {name} | {row['threads']} | {row['substeps']} | {row['env_step_us']:.4g} "
            f"| {row['bare_us']:.4g} | {row['overhead_us']:.3g} "
            f"| {row['ratio']:.2f} ({low:.2f} to {high:.2f}) | {row['real_time']:.3g} |"
        )
    lines += [
        f"| {name} | not measured: {why} | | | | | | |" for name, why in result["failed"].items()
    ]
    return "\n".join(lines) + "\n"


def tell(text: str) -> None:
    """Show progress."""
    print(text, file=sys.stderr, flush=True)


def main(options: Options) -> None:
    """Measure, write peers.json and peers.md, and show the table."""
    options.out.mkdir(parents=True, exist_ok=True)
    result = measure(options)
    text = json.dumps(result, indent=1) + "\n"
    (options.out / "peers.json").write_text(text, encoding="utf-8")
    (options.out / "peers.md").write_text(markdown(result), encoding="utf-8")
    print(markdown(result), end="")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main(tyro.cli(Options))

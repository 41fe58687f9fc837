"""The command `tendon-gym`: one frozen dataclass per subcommand, each with `run() -> int`.

Only what the chosen subcommand needs is imported. What a user got wrong is told in one line on
stderr, with exit code 2.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tyro
from tyro.conf import Positional

from tendon_gym import benchmarks
from tendon_gym.registration import ENTRIES

if TYPE_CHECKING:
    from tendon_gym.evaluation.rollout import Flight

OK, WRONG, INTERRUPTED = 0, 2, 130
"""Exit codes; a subcommand may have more."""


@dataclass(frozen=True)
class ListCommand:
    """List environments, benchmarks and policies."""

    def run(self) -> int:
        """Print them."""
        from tendon_gym import baselines
        from tendon_gym.evaluation.demo import shipped_policies
        from tendon_gym.evaluation.table import aligned

        rows = [["environment", "seconds", "rotor_action (default first)", "tendon_action"]]
        for entry in ENTRIES.values():
            horizon = "reference" if entry.horizon is None else f"{entry.horizon:g}"
            actions = (" ".join(names) for names in (entry.rotor_actions, entry.tendon_actions))
            rows.append([entry.id, horizon, *actions])
        print(aligned(rows, numbers=False), end="\n\n")
        rows = [["benchmark", "task", "s", "episodes", "what it asks"]]
        for each in benchmarks.BENCHMARKS.values():
            rows.append([each.name, each.task, f"{each.horizon:g}", str(each.episodes), each.about])
        print(aligned(rows, numbers=False), end="\n\n")
        shipped = {name: task for task in ENTRIES for name in shipped_policies(task)}
        rows = [["policy", "flies"]]
        rows += [[name, each.flies or "every task"] for name, each in baselines.BASELINES.items()]
        rows += [[name, f"{task} (learned)"] for name, task in shipped.items()]
        print(aligned(rows, numbers=False))
        return OK


@dataclass(frozen=True)
class FlyCommand:
    """Fly one episode, in a window or into a video, and print what it was worth.

    A scene with tendons, native XML or MJCF, is shown in motion; it takes no policy, reference,
    seed or engine.
    """

    name: Positional[str]
    """A benchmark or a task; see `tendon-gym list`. Or the file of a scene, ending in .xml."""
    policy: str = "geometric_full"
    """Name of a policy, or the folder of a learned one."""
    reference: str | None = None
    """Another reference to follow: its name, or the path of a CSV file."""
    seed: int | None = None
    """Seed of the episode; the benchmark's first one if left out."""
    seconds: float | None = None
    """Length of the flight, s."""
    video: Path | None = None
    """MP4 to write instead of a window; a file that exists stays, the new one gets a number."""
    camera: str = "chase"
    """Camera of the window or the video: chase or side."""
    width: int = 640
    """Of the video, pixels."""
    height: int = 480
    """Of the video, pixels."""
    fps: int = 50
    """Frames per second of the video."""
    engine: str = "mujoco"
    """What steps the physics: mujoco, or compiled, which is faster and equal to rounding."""

    def run(self) -> int:
        """Fly."""
        if self.name.endswith(".xml"):
            return self._fly_scene()
        from tendon_gym.evaluation.rollout import fly
        from tendon_gym.evaluation.video import Film, Window, check_view, has_display
        from tendon_gym.folders import fresh_file, results

        benchmark = self._benchmark()
        check_view(self.fps, self.camera, self.width, self.height)
        if self.video is not None:
            path = fresh_file(self.video)
            film = Film(path, self.fps, self.camera, self.width, self.height)
            with results(path.parent, fresh=False), film:
                flight = fly(benchmark, self.policy, 1, self.seed, film)
            told = f"video: {path}"
        elif has_display():
            with Window(self.camera) as window:
                flight = fly(benchmark, self.policy, 1, self.seed, window)
            told = ""
        else:
            flight = fly(benchmark, self.policy, 1, self.seed)
            told = "no display, so that nothing was shown (--video FILE.mp4 makes a video)"
        print(*filter(None, [told, _worth(flight)]), sep="\n")
        return OK

    def _fly_scene(self) -> int:
        """Show a scene in motion."""
        from tendon_gym.evaluation.scene import SceneFlight

        for name in ("policy", "reference", "seed", "engine"):
            if getattr(self, name) != getattr(type(self), name):
                raise ValueError(f"a scene takes no --{name}, got {getattr(self, name)!r}")
        seconds = SceneFlight.seconds if self.seconds is None else self.seconds
        flight = SceneFlight(
            Path(self.name), seconds, self.video, self.camera, self.width, self.height, self.fps
        )
        print(flight.fly())
        return OK

    def _benchmark(self) -> benchmarks.Benchmark:
        """Return what is flown."""
        benchmark = benchmarks.find(self.name)
        if self.reference is not None:
            benchmark = benchmarks.with_reference(benchmark, self.reference)
        if self.seconds is not None:
            benchmark = replace(benchmark, horizon=self.seconds, settle=0.0)
        return benchmarks.with_engine(benchmark, self.engine)


def _worth(flight: Flight) -> str:
    """Return the metrics of a flight's only episode as text."""
    from tendon_gym.evaluation.metrics import METRICS, metrics
    from tendon_gym.evaluation.table import aligned, shown

    rows = [
        [name, shown(name, float(values[0])), METRICS[name].unit]
        for name, values in metrics(flight).items()
        if name not in ("ended_early", "success")
    ]
    seconds = flight.length[0] * flight.step_time
    end = f"ended early: {flight.reason[0]}" if flight.reason[0] else "reached its end"
    judged = "a success" if flight.success[0] else "no success"
    head = f"{flight.benchmark.name} by {flight.policy}, seed {flight.seeds[0]}: {seconds:g} s"
    return f"{head}, {end}, {judged}\n{aligned(rows)}"


@dataclass(frozen=True)
class CompareCommand:
    """Fly a benchmark with many policies from the same seeds; write tables, JSON and plots."""

    benchmark: Positional[str]
    """A benchmark; see `tendon-gym list`."""
    policies: tuple[str, ...] = ("zero", "random", "geometric_paper", "geometric_full")
    """Names of policies or folders of learned ones; the two geometric ones always fly."""
    episodes: int | None = None
    """Number of episodes; the benchmark's own if left out."""
    seed: int | None = None
    """Seed of the first episode; the benchmark's own if left out."""
    against: str = "geometric_paper"
    """The policy that all others are paired with."""
    out: Path = Path("out/compare")
    """Folder for the results; one that holds something stays, the new one gets a number."""
    engine: str = "mujoco"
    """What steps the physics: mujoco, or compiled, which is faster and equal to rounding."""

    def run(self) -> int:
        """Compare."""
        from tendon_gym.evaluation import plots
        from tendon_gym.evaluation.compare import compare, save
        from tendon_gym.evaluation.table import table
        from tendon_gym.folders import results

        benchmark = benchmarks.with_engine(benchmarks.get(self.benchmark), self.engine)
        with results(self.out) as folder:
            result = compare(benchmark, self.policies, self.episodes, self.seed, self.against)
            text = table(result)
            (folder / "table.txt").write_text(text + "\n", encoding="utf-8")
            save(result, folder / "comparison.json")
            plots.save_all(result, folder)
        print(f"{text}\n\nresults and plots: {folder}")
        return OK


@dataclass(frozen=True)
class DemoCommand:
    """Compare the controllers and the learned policies on the figure-eight, and film one."""

    out: Path = Path("out/demo")
    """Folder for the results; one that holds something stays, the new one gets a number."""

    def run(self) -> int:
        """Fly the demonstration."""
        from tendon_gym.evaluation.demo import demo
        from tendon_gym.folders import results

        with results(self.out) as folder:
            demo(folder, print)
        return OK


COMMANDS = {
    "list": ("tendon_gym.cli", "ListCommand", "environments, benchmarks and policies"),
    "fly": ("tendon_gym.cli", "FlyCommand", "one episode, in a window or into a video"),
    "compare": ("tendon_gym.cli", "CompareCommand", "many policies on one benchmark"),
    "demo": ("tendon_gym.cli", "DemoCommand", "the figure-eight, in two minutes"),
    "render": (
        "tendon_gym.evaluation.scene",
        "RenderCommand",
        "a scene with tendons, as a picture",
    ),
    "paper": ("tendon_gym.evaluation.paper", "PaperCommand", "the experiments of the paper"),
    "bench": ("tendon_gym.evaluation.bench", "BenchCommand", "what a step costs, in every form"),
    "identify": (
        "tendon_gym.identification.command",
        "IdentifyCommand",
        "parameters of the model from a recorded motion",
    ),
    "train": ("tendon_gym.training.command", "TrainCommand", "learn a policy (extra: train)"),
}
"""Where each subcommand is, and what it is for; a module is imported when it is chosen."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: without the program's name; None: those of the process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if not given or given[0] in ("-h", "--help"):
            print(_overview())
            return OK if given else WRONG
        return _parse(given[0], given[1:]).run()
    except BrokenPipeError:  # whoever read the output has read enough, as in `... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except ModuleNotFoundError as error:
        print(f"tendon-gym: {error}; pip install 'tendon-gym[train]' may bring it", file=sys.stderr)
        return WRONG
    except (MemoryError, OSError, RuntimeError, TypeError, ValueError) as error:
        words = " ".join(str(error).split()) or type(error).__name__
        print(f"tendon-gym: {words}", file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        print("tendon-gym: interrupted", file=sys.stderr)
        return INTERRUPTED


def _overview() -> str:
    lines = [f"  {name:<9} {about}" for name, (_, _, about) in COMMANDS.items()]
    head = "usage: tendon-gym COMMAND ...   (tendon-gym COMMAND --help tells more)\n\n"
    return head + "\n".join(lines)


def _parse(name: str, arguments: Sequence[str]) -> Any:
    """Return the subcommand with its arguments, or raise and say in one line what is wrong."""
    if name not in COMMANDS:
        raise ValueError(f"no command {name!r}; there are {', '.join(COMMANDS)}")
    module, kind, _ = COMMANDS[name]
    command = getattr(importlib.import_module(module), kind)
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return tyro.cli(command, prog=f"tendon-gym {name}", args=arguments)
    except SystemExit as end:
        if not end.code:
            raise
        raise ValueError(f"{name}: {_first_words(complaint.getvalue())}") from None


def _first_words(box: str) -> str:
    """Return the first paragraph of a message that tyro has drawn a box around."""
    words: list[str] = []
    for line in box.splitlines()[1:]:  # the first one is a title
        text = line.strip("│ ")
        if text.strip("─-╰╯"):
            words.append(text)
        elif words:
            break
    return " ".join(words) or box

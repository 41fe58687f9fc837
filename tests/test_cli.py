"""The command line: what it prints and writes, and one clear line for every mistake."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tendon_gym import benchmarks, cli
from tendon_gym.evaluation import demo, rollout, video
from tendon_gym.registration import ENTRIES

CHECKOUT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def no_screen(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def short(monkeypatch):
    """Make some benchmarks so short that flying them costs nothing."""
    for name in ("track-steady", "track-mission", "hover-thrust"):
        benchmark = benchmarks.get(name)
        brief = dataclasses.replace(benchmark, horizon=0.4, settle=0.1, episodes=2)
        monkeypatch.setitem(benchmarks.BENCHMARKS, name, brief)


def test_without_a_command_it_says_what_there_is(capsys):
    assert cli.main([]) == 2
    assert cli.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n  {name} " in text for name in cli.COMMANDS)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_explains_itself(name, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main([name, "--help"])
    assert end.value.code == 0
    assert f"usage: tendon-gym {name}" in capsys.readouterr().out


def test_help_and_mistakes_load_nothing_heavy():
    code = (
        "import sys; from tendon_gym.cli import main; main(['--help']); main(['nope']); "
        "main(['fly', 'nope', '--nope']); print('loaded', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split("loaded")[-1].split()}
    assert not loaded & {"mujoco", "numba", "torch", "stable_baselines3", "matplotlib", "scipy"}


def test_python_m_is_the_same_command():
    done = subprocess.run(
        [sys.executable, "-m", "tendon_gym", "nope"], cwd=CHECKOUT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("tendon-gym: no command 'nope'; there are list, fly, ")
    assert not done.stdout


def test_a_reader_that_has_enough_is_no_mistake():
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "tendon_gym", "list"], cwd=CHECKOUT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_list_names_everything(capsys):
    assert cli.main(["list"]) == 0
    text = capsys.readouterr().out
    for name in [*(entry.id for entry in ENTRIES.values()), *benchmarks.BENCHMARKS]:
        assert f"\n{name} " in text
    for name in ("zero", "random", "geometric_paper", "geometric_full", "tip_control", "hoist"):
        assert f"\n{name} " in text
    assert max(map(len, text.splitlines())) <= 120


def test_fly_prints_what_the_flight_was_worth(capsys, short):
    assert cli.main(["fly", "track-steady", "--policy", "geometric_full", "--seed", "5"]) == 0
    text = capsys.readouterr().out
    assert "no display" in text
    assert "track-steady by geometric_full, seed 5: 0.4 s, reached its end" in text
    values = dict(line.split()[:2] for line in text.splitlines()[2:])
    assert 0.0 < float(values["position_rms"]) < 5.0
    assert 0.5 < float(values["reward"]) <= 1.0


def test_fly_takes_tasks_lengths_and_references(capsys, tmp_path):
    path = tmp_path / "line.csv"
    path.write_text("time,x,y,z\n0,0,0,1.5\n1,0.1,0,1.5\n2,0.2,0,1.5\n")
    for arguments, words in (
        (["Bend", "--seconds", "0.3"], "Bend by geometric_full, seed 10000: 0.3 s"),
        (["TendonGym/Hover-v0", "--seconds", "0.2"], "Hover by geometric_full, seed 10000: 0.2 s"),
        (["Track", "--reference", str(path)], "Track by geometric_full, seed 10000: 2 s"),
        (["Track", "--reference", "hover", "--seconds", "0.1"], "seed 10000: 0.1 s"),
    ):
        assert cli.main(["fly", *arguments]) == 0
        assert words in capsys.readouterr().out


def test_fly_films_and_leaves_an_older_film(capsys, tmp_path, short):
    path = tmp_path / "new" / "film.mp4"
    arguments = ["fly", "track-steady", "--video", str(path), "--width", "64", "--height", "48"]
    for name in ("film.mp4", "film-2.mp4"):
        assert cli.main(arguments) == 0
        assert f"video: {path.with_name(name)}\n" in capsys.readouterr().out
        assert path.with_name(name).stat().st_size > 500


def test_fly_shows_a_window_where_there_is_a_screen(capsys, monkeypatch, short):
    opened = []

    class FakeWindow:
        def __init__(self, camera):
            opened.append(camera)

        def __enter__(self):
            return lambda core: opened.append(int(core.elapsed[0]))

        def __exit__(self, *error):
            opened.append("closed")

    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setattr(video, "Window", FakeWindow)
    assert cli.main(["fly", "track-steady", "--camera", "side", "--policy", "zero"]) == 0
    assert opened == ["side", *range(41), "closed"]
    assert "no display" not in capsys.readouterr().out


def test_compare_writes_everything_and_leaves_older_results(capsys, tmp_path, short):
    arguments = ["compare", "hover-thrust", "--policies", "zero", "--episodes", "3", "--seed", "7"]
    for name in ("out", "out-2"):
        assert cli.main([*arguments, "--out", str(tmp_path / "out")]) == 0
        text = capsys.readouterr().out
        assert text.endswith(f"results and plots: {tmp_path / name}\n")
        files = {path.name for path in (tmp_path / name).iterdir()}
        pictures = {"intervals.png", "paths.png", "errors.png"}
        assert files == {"comparison.json", "table.txt"} | pictures
        result = json.loads((tmp_path / name / "comparison.json").read_text())
        assert result["seeds"] == [7, 8, 9]
        assert list(result["policies"]) == ["zero", "geometric_paper", "geometric_full"]
        assert text.startswith((tmp_path / name / "table.txt").read_text())


def test_demo_compares_and_films(capsys, tmp_path, short, monkeypatch):
    monkeypatch.setattr(demo, "WIDTH", 64)
    monkeypatch.setattr(demo, "HEIGHT", 48)
    assert cli.main(["demo", "--out", str(tmp_path / "demo")]) == 0
    text = capsys.readouterr().out
    names = [path.name for path in (tmp_path / "demo").iterdir()]
    for name in ("track-steady", "track-mission"):
        assert f"{name}: 2 episodes" in text
        assert f"{name}.json" in names
        assert f"{name}-paths.png" in names
    assert sum(name.endswith(".mp4") for name in names) == 1
    assert str(tmp_path / "demo") in text


MISTAKES = [
    (["nope"], "no command 'nope'; there are list, fly, compare, demo"),
    (["fly"], "Missing from tendon-gym fly: .*required"),
    (
        ["fly", "nope"],
        "benchmark or task must be one of hover-thrust, .*ArmBend, .*got 'nope'",
    ),
    (["fly", "track-steady", "--polcy", "zero"], "Unrecognized options: --polcy"),
    (["fly", "track-steady", "--seconds", "abc"], "--seconds.*'abc'"),
    (["fly", "track-steady", "--seconds", "-1"], "horizon must be .* greater than 0, got -1"),
    (["fly", "track-steady", "--seconds", "nan"], "horizon must be finite.*got nan"),
    (["fly", "track-steady", "--seed", "-1"], "seed must be .* at least 0, got -1"),
    (["fly", "track-steady", "--policy", "nope"], "policy must be .*geometric_full.*got 'nope'"),
    (["fly", "track-steady", "--policy", "no/folder"], "no learned policy in 'no/folder'"),
    (["fly", "track-steady", "--policy", "BROKEN"], "the learned policy in .* is broken"),
    (["fly", "Track", "--reference", "nope.csv"], r"no reference file 'nope\.csv'"),
    (["fly", "Track", "--reference", "CSV"], r"line 3, column 'x': 'abc' is not a number from"),
    (["fly", "Track", "--reference", "nope"], "reference must be .*mission.*got 'nope'"),
    (["fly", "Bend", "--reference", "mission"], "Bend draws bends and takes no reference"),
    (["fly", "Hover", "--video", "x.avi"], r"video must be the path of a file that ends in \.mp4"),
    (["fly", "Hover", "--video", "x.mp4.gz"], r"video must be the path .*, got 'x\.mp4\.gz'"),
    (["fly", "Hover", "--video", "new/x.avi"], r"video must be the path .*, got 'new/x\.avi'"),
    (["fly", "Hover", "--video", "."], r"output file '\.' is a folder"),
    (["fly", "Hover", "--video", "broken"], "output file 'broken' is a folder"),
    (["fly", "Hover", "--video", "bad.csv/x.mp4"], "the output folder 'bad.csv' cannot be written"),
    (["fly", "Hover", "--camera", "bird"], "camera must be one of 'chase', 'side', got 'bird'"),
    (["fly", "Hover", "--fps", "0"], "fps must be an integer from 1 to 240, got 0"),
    (["fly", "Hover", "--width", "5000"], "width must be an integer from 16 to 4096, got 5000"),
    (["fly", "Hover", "--height", "-2"], "height must be an integer from 16 to 4096, got -2"),
    (["fly", "Hover", "--height", "99"], "height must be even for a video, got 99"),
    (["fly", "Hover", "--policy", ""], "policy must be the folder of .*geometric_full.*, got ''"),
    (["fly", "Hover", "--policy", "broken/no"], "'broken/no': there is no such folder"),
    (["fly", "Hover", "--policy", "bad.csv/"], "no learned policy in 'bad.csv'"),
    (
        ["fly", "hover-thrust", "--policy", "track-residual"],
        "'track-residual', trained on track-residual, flies Track and tasks that observe the same; "
        "Hover does not observe velocity_error, reference_acceleration, reference_jerk",
    ),
    (["fly", "Hover", "--policy", "bend-tension"], "Hover does not observe reference_bend"),
    (["fly", "track-steady", "--policy", "bend-tension"], "it does not know 'velocity_error'"),
    (
        ["fly", "ArmBend", "--policy", "bend-tension"],
        "rotor_action='residual', but ArmBend takes 'none'",
    ),
    (["fly", "Track", "--seconds", "1e300"], r"horizon must be .* at most 1e\+06, got 1e\+300"),
    (["fly", "Track", "--seconds", "1e-300"], "horizon must be at least one control step"),
    (["fly", "Track", "--seconds", "1e6"], r"at most 10000000, got 1 \* 500000000"),
    (["fly", "Hover", "--video", "x.mp4", "--width", "33"], "width must be even"),
    (["fly", "Hover", "--video", "x.mp4", "--fps", "0"], "fps must be an integer from 1 to 240"),
    (["fly", "Hover", "--video", "x.mp4", "--camera", "bird"], "camera must be one of 'chase'"),
    (["compare", "nope"], "benchmark must be one of 'hover-thrust'.*got 'nope'"),
    (["compare", "hover-thrust", "--episodes", "0"], "episodes must be .* from 1 to 10000, got 0"),
    (["compare", "hover-thrust", "--policies", "zero", "nope"], "policy must be .*got 'nope'"),
    (
        ["compare", "hover-thrust", "--episodes", "1000000000"],
        "episodes must be .* 10000, got 1",
    ),
    (
        ["compare", "hover-thrust", "--policies", "track-residual"],
        "Hover does not observe vel",
    ),
    (["compare", "hover-thrust", "--policies", ""], "policy must be .*got ''"),
    (["compare", "hover-thrust", "--against", ""], "policy must be .*got ''"),
    *(
        ([*command, "--out", place], message)
        for command in (
            ["compare", "hover-thrust"],
            ["demo"],
            ["paper"],
            ["train", "bend-tension"],
        )
        for place, message in (
            ("CSV", "the output folder .*csv' cannot be written: it is a file"),
            ("bad.csv/below", "the output folder .*below' cannot be written: Not a directory"),
        )
    ),
    (["compare", "hover-thrust", "--out", "."], r"must have a name of its own, got '\.'"),
    (["paper", "--json", "."], r"the output file '\.' is a folder"),
    (["paper", "--json", "bad.csv/x.json"], "the output folder 'bad.csv' cannot be written: it is"),
    (["paper", "--controller", ""], "policy must be .*got ''"),
    (
        ["train", "nope"],
        "benchmark must be one of 'bend-tension', .*'track-residual', 'track-thrust', got 'nope'",
    ),
    (["train", "bend-tension", "--algo", "x"], "algo must be one of 'ppo', got 'x'"),
    (["train", "bend-tension", "--seed", "-1"], "seed must be an integer from 0 to 139, got -1"),
    (["train", "bend-tension", "--steps", "0"], "total_steps must be .*, got 0"),
    (["train", "bend-tension", "--device", "bogus"], "device must be .*'cpu', got 'bogus'"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[" ".join(m[0]) for m in MISTAKES])
def test_a_mistake_is_told_in_one_line(arguments, message, capsys, tmp_path, monkeypatch, short):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text("time,x,y,z\n0,0,0,1\n1,abc,0,1\n")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "policy.json").write_text("{")
    (tmp_path / "broken" / "policy.npz").write_text("no archive")
    places = {"CSV": str(tmp_path / "bad.csv"), "BROKEN": str(tmp_path / "broken")}
    monkeypatch.setattr(rollout, "_fly", None)  # a mistake is told before anything flies
    assert cli.main([places.get(word, word) for word in arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("tendon-gym: ")
    assert error.count("\n") == 1
    assert error.endswith("\n")
    assert re.search(message, error), error
    assert {path.name for path in tmp_path.iterdir()} == {"bad.csv", "broken"}


def test_a_failure_without_words_is_named(capsys, monkeypatch):
    def fail(self):
        raise MemoryError

    monkeypatch.setattr(cli.ListCommand, "run", fail)
    assert cli.main(["list"]) == 2
    assert capsys.readouterr().err == "tendon-gym: MemoryError\n"


def test_a_comparison_that_fails_leaves_no_empty_folder(tmp_path, monkeypatch, short):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(rollout, "_fly", interrupt)
    for command in (["compare", "hover-thrust"], ["demo"]):
        assert cli.main([*command, "--out", str(tmp_path / "a" / "out")]) == 130
        assert not list(tmp_path.iterdir())


def test_a_missing_extra_is_told_in_one_line(capsys, monkeypatch):
    lost = ("tendon_gym.no_such_module", "Nothing", "")
    monkeypatch.setitem(cli.COMMANDS, "lost", lost)
    assert cli.main(["lost"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "tendon-gym[train]" in error


def test_an_interrupt_is_no_traceback(capsys, monkeypatch):
    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.ListCommand, "run", interrupt)
    assert cli.main(["list"]) == 130
    assert capsys.readouterr().err == "tendon-gym: interrupted\n"

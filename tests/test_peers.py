"""The measuring of other suites: rounds, failures and tables, with workers of our own making."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
WORKERS = BENCHMARKS / "peer_workers"

GOOD = """
import sys
sys.path.insert(0, {workers!r})
from serving import Case, serve
print("noise on standard output")
calls = []
def measure(number):
    calls.append(number)
    return 3.0 * number + len(calls), 2.0
serve(lambda: [Case("good", measure, {{"threads": 1, "substeps": 5, "seconds": 0.01}})], ["numpy"])
"""
NOT_THERE = "import no_such_module_at_all\n"
BROKEN = GOOD.replace("calls.append(number)", "calls.append(1 / (3 - number))")


@pytest.fixture
def peers():
    spec = importlib.util.spec_from_file_location("peers", BENCHMARKS / "peers.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["peers"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["peers"]


@pytest.fixture
def made(peers, tmp_path, monkeypatch):
    """Return a function that sets up peers whose workers are the given texts."""

    def make(**texts):
        (tmp_path / "peer_workers").mkdir()
        table = {}
        for name, text in texts.items():
            path = tmp_path / "peer_workers" / f"{name}.py"
            path.write_text(text.format(workers=str(WORKERS)), encoding="utf-8")
            table[name] = peers.Peer(path.name, ())
        monkeypatch.setattr(peers, "HERE", tmp_path)
        monkeypatch.setattr(peers, "PEERS", table)
        monkeypatch.setattr(peers, "python_of", lambda peer, options: Path(sys.executable))
        return peers.Options(5, tuple(texts), tmp_path / "venvs", tmp_path / "out")

    return make


def test_rounds_are_interleaved_and_ratios_are_of_a_round(peers, made):
    result = peers.measure(made(one=GOOD, two=GOOD))
    assert result["failed"] == {}
    # round 0 warms up, so that round k is call k + 1: 3 k + k + 1 over 2
    ratios = [(4 * k + 1) / 2 for k in range(1, 6)]
    for row, name in zip(result["rows"], ("one", "two"), strict=True):
        assert (row["peer"], row["case"], row["threads"]) == (name, "good", 1)
        assert row["ratio"] == pytest.approx(np.median(ratios))
        assert row["ratio_quartiles"] == pytest.approx(np.percentile(ratios, [25, 75]).tolist())
        assert row["env_step_us"] == pytest.approx(13.0)
        assert row["overhead_us"] == pytest.approx(11.0)
        assert row["real_time"] == pytest.approx(0.01 / 13e-6)
    assert result["versions"]["one"]["numpy"] == np.__version__
    assert result["machine"]["affinity"]


def test_what_cannot_be_measured_is_told_with_its_reason(peers, made, tmp_path):
    result = peers.measure(made(absent=NOT_THERE, good=GOOD, broken=BROKEN))
    assert "no_such_module_at_all" in result["failed"]["absent"]
    assert "division by zero" in result["failed"]["broken"]
    assert [row["peer"] for row in result["rows"]] == ["good"]
    logs = {path.name for path in (tmp_path / "venvs").iterdir()}
    assert logs == {"absent.log", "broken.log"}  # those of the good ones are taken away
    table = peers.markdown(result)
    assert "| good | 1 | 5 | 13 | 2 | 11 | 6.50 (4.50 to 8.50) | 769 |" in table
    assert "| absent | not measured: ModuleNotFoundError" in table
    assert len({line.count("|") for line in table.splitlines()}) == 1


def test_a_worker_that_says_nothing_is_given_up(peers, made, monkeypatch):
    monkeypatch.setattr(peers, "START_SECONDS", 0.5)
    options = made(slow="import time\ntime.sleep(60)\n")
    monkeypatch.setattr(peers, "GRACE_SECONDS", 0.5)
    begin = time.monotonic()
    assert peers.measure(options)["failed"] == {"slow": "it took over 0.5 s"}
    assert time.monotonic() - begin < 30.0


def test_the_results_are_written(peers, made, capsys):
    options = made(good=GOOD)
    peers.main(options)
    result = json.loads((options.out / "peers.json").read_text(encoding="utf-8"))
    assert result["rounds"] == 5
    text = (options.out / "peers.md").read_text(encoding="utf-8")
    assert text in capsys.readouterr().out


def test_an_install_that_fails_tells_the_last_word(peers):
    complaint = "import sys; print('first', file=sys.stderr); sys.exit('the last word')"
    with pytest.raises(peers.PeerError, match=r"^the last word$"):
        peers.run([sys.executable, "-c", complaint])


def test_an_environment_that_is_there_is_not_installed_again(peers, tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(peers, "run", ran.append)
    options = peers.Options(venvs=tmp_path)
    (tmp_path / "pyflyt").mkdir()
    python = peers.python_of("pyflyt", options)
    assert python == tmp_path / "pyflyt" / "bin" / "python"
    assert [command[1:3] for command in ran] == [["-m", "venv"], ["-m", "pip"]]
    assert peers.python_of("pyflyt", options) == python
    assert len(ran) == 2
    other = dataclasses.replace(peers.PEERS["pyflyt"], requirements=("pyflyt==0.30.0",))
    monkeypatch.setitem(peers.PEERS, "pyflyt", other)
    peers.python_of("pyflyt", options)
    assert len(ran) == 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"only": ("isaac",)}, "no peer 'isaac'; there are tendon_gym, gymnasium"),
     ({"rounds": 4}, "rounds must be at least 5, got 4")],
)  # fmt: skip
def test_wrong_options_are_refused(peers, wrong, message):
    with pytest.raises(ValueError, match=message):
        peers.Options(**wrong)


def test_every_peer_has_its_worker(peers):
    for peer in peers.PEERS.values():
        assert (WORKERS / peer.worker).is_file()
        assert all("==" in requirement for requirement in peer.requirements)


def test_our_own_environments_are_measured_as_the_others_are():
    """The worker of this package runs; a replay of a flight with held controls is the flight."""
    script = f"""
import sys
sys.path.insert(0, {str(WORKERS)!r})
import own_envs
own_envs.STEPS = 30
scalar = own_envs.Scalar(own_envs.SETUPS["Hover, controls held"])
seconds, flights = scalar.fly(1)
assert seconds > 0.0 and sum(len(flight.controls) for flight in flights) == 30
data = scalar._bare._data[0]
for flight, following in zip(flights, flights[1:]):
    scalar._bare._fly(flight)
    assert (data.qpos == following.qpos).all() and (data.qvel == following.qvel).all()
native = own_envs.Native(scalar, own_envs.SETUPS["Track, SE(3) law at every 2 ms"], 2)
assert all(value > 0.0 for value in (*scalar.measure(2), *native.measure(2)))
"""
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS.parent)}
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, timeout=300
    )
    assert run.returncode == 0, run.stderr

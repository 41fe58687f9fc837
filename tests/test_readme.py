"""Every snippet of the README runs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tendon_gym import cli

CHECKOUT = Path(__file__).parent.parent
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHELL = "\n".join(re.findall(r"```sh\n(.*?)```", README, re.DOTALL)).splitlines()
COMMANDS = [line for line in SHELL if line.startswith("tendon-gym ")]


def test_there_is_something_to_test():
    assert len(SNIPPETS) >= 2
    assert len(COMMANDS) >= 5


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_python_runs_in_a_clean_interpreter(snippet, tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", snippet], cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_are_understood(line):
    name, *arguments = shlex.split(line)[1:]
    assert callable(cli._parse(name, arguments).run)


def test_make_targets_exist():
    targets = re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(encoding="utf-8"), re.M)
    named = [line.split()[1] for line in SHELL if line.startswith("make ")]
    assert {"demo", "test"} <= set(named) <= set(targets)


def test_links_lead_somewhere():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (CHECKOUT / link).exists()] == []

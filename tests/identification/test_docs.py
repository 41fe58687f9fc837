"""The page's snippet runs, and its command is understood."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from tendon_gym import cli

CHECKOUT = Path(__file__).parents[2]
PAGE = (CHECKOUT / "docs" / "identification.md").read_text(encoding="utf-8")


def test_the_snippet_runs(tmp_path):
    (snippet,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    run = subprocess.run(
        [sys.executable, "-c", snippet], cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert run.returncode == 0, run.stderr
    assert "arm.tip_mass" in run.stdout


def test_the_command_is_understood():
    (line,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    name, *arguments = shlex.split(line)[1:]
    assert cli._parse(name, arguments).unknowns == (
        "arm.bending_stiffness=0.001:0.01",
        "arm.tip_mass=0:0.1",
    )

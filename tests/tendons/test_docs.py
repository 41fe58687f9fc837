"""The page on tendons: its example runs, and what it says of it holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "tendons.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_lifts_its_load(capsys):
    names: dict = {}
    (snippet,) = SNIPPETS
    exec(compile(snippet, "docs/tendons.md", "exec"), names)
    length, tension, limit = map(float, capsys.readouterr().out.split())
    # a servo without feed-forward sags by the weight over its gain
    assert length == pytest.approx(2.5 + 9.81 / 200.0, abs=5e-3)
    assert tension == pytest.approx(9.81, abs=0.3)
    assert limit == 0.0

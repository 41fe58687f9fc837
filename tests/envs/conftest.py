"""Fixtures of the environments' tests."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import mujoco.viewer
import pytest

from tendon_gym.envs.rendering import choose_backend


@pytest.fixture
def window(monkeypatch):
    """Stand in for MuJoCo's window: there is no screen here. Counts what happens to it."""
    seen = SimpleNamespace(opened=0, synced=0, closed=0, camera=None, geoms=0)

    class Window:
        def __init__(self, model, data):
            seen.opened += 1
            self.cam = SimpleNamespace(type=None, fixedcamid=-1)
            self.user_scn = mujoco.MjvScene(model, maxgeom=1000)

        def lock(self):
            return nullcontext()

        def sync(self):
            seen.synced += 1
            seen.geoms = self.user_scn.ngeom
            seen.camera = self.cam.fixedcamid

        def close(self):
            seen.closed += 1

    choose_backend()  # for the pictures that are taken without it
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(mujoco.viewer, "launch_passive", Window)
    return seen

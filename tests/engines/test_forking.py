"""A child of a fork that lets go of what its parent made."""

from __future__ import annotations

import gc
import os
import signal

import numpy as np
import pytest

from tendon_gym import engines
from tendon_gym.model import ModelParameters, build_model


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12's, with threads
@pytest.mark.parametrize("name", ["mujoco", "compiled"])
@pytest.mark.parametrize("garbage", [False, True])
def test_a_child_may_let_go_of_the_simulations_of_its_parent(name, garbage):
    model = build_model(ModelParameters())
    engine = engines.make(name, model, 4, threads=2)
    engine.step(2)
    before = engine.qpos.copy()
    gc.disable()  # what nobody refers to any more is to be found by the child
    try:
        circle = [engine]
        circle.append(circle)
        if garbage:
            del engine, circle
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # ends a child that hangs
            if not garbage:
                del engine, circle
            gc.collect()
            os._exit(0)
        _, status = os.waitpid(child, 0)
    finally:
        gc.enable()
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
    if not garbage:
        assert np.array_equal(engine.qpos, before)

"""What is measured: environments, engines, numbers of simulations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tendon_gym.evaluation.bench.machine import cores
from tendon_gym.evaluation.bench.timing import Protocol

HELD = ("TendonGym/Hover-v0", {"rotor_action": "thrust", "tendon_action": "tension"})
"""Controls are held during a control step: MuJoCo is called once."""

LAW = ("TendonGym/Track-v0", {"rotor_action": "residual", "tendon_action": "reference"})
"""The SE(3) law and the tendon allocation run before every physics step of 2 ms."""

CLAMPED = ("TendonGym/ArmBend-v0", {"rotor_action": "none", "tendon_action": "tension"})

Setup = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Scope:
    """How much of everything is measured.

    Attributes:
        protocol: rounds and length of a slice.
        numbers: of simulations in the native vector environment.
        links: of the arm, for the engines' scaling.
        sync: sub-environments of SyncVectorEnv, and of the native rows beside it.
        processes: the setups in which AsyncVectorEnv takes part, whose processes start slowly.
        phases: numbers of simulations whose steps are taken apart.
        run_in: steps of these before that, after which episodes end as often as later on.
        rotor_actions: how many of the rotor actions of Track are measured with every tendon action.
        rollout: steps of each environment between two updates of a learner.
        mission: physics steps.
        flat_steps: environment steps over which memory must not grow; a tenth of them on MuJoCo.
        flat_resets: resets, likewise.
        memory: simulations by which the memory of one is measured.
    """

    protocol: Protocol
    numbers: tuple[int, ...]
    links: tuple[int, ...]
    sync: int
    processes: tuple[str, ...]
    phases: tuple[int, ...]
    run_in: int
    rotor_actions: int
    rollout: int
    mission: int
    flat_steps: int
    flat_resets: int
    memory: int


FULL = Scope(
    protocol=Protocol(rounds=11, seconds=0.1),
    numbers=(1, 16, 64, 256, 1024),
    links=(6, 12, 24, 48),
    sync=16,
    processes=("held actions", "random actions", "law at every 2 ms"),
    phases=(1, 64, 256),
    run_in=120,
    rotor_actions=5,
    rollout=64,
    mission=18_000,
    flat_steps=1_000_000,
    flat_resets=2_000,
    memory=1024,
)
QUICK = Scope(
    protocol=Protocol(rounds=5, seconds=0.005),
    numbers=(1, 64),
    links=(6, 12),
    sync=4,
    processes=("law at every 2 ms",),
    phases=(1, 64),
    run_in=10,
    rotor_actions=1,
    rollout=8,
    mission=2_500,
    flat_steps=20_000,
    flat_resets=50,
    memory=256,
)


def thread_counts() -> tuple[int, ...]:
    """Return 1, 2, 4, ... up to as many as this process may use."""
    most = cores()
    return tuple(dict.fromkeys([*(2**k for k in range(most.bit_length()) if 2**k <= most), most]))

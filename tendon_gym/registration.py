"""The one table of environments: id, where it lives, its horizon and its legal interfaces."""

from __future__ import annotations

from dataclasses import dataclass

import gymnasium

FLIGHT = ("thrust", "body_rate", "attitude", "acceleration", "residual")
TENDONS = ("tension", "bend")


@dataclass(frozen=True)
class Entry:
    """One environment id.

    Attributes:
        id: of Gymnasium's registry.
        module: in tendon_gym.envs.tasks, with the classes `<name>Env` and `<name>VectorEnv`.
        name: of the task.
        horizon: s, after which an episode is truncated; None: when the reference ends.
        rotor_actions: legal values of `rotor_action`, the default first.
        tendon_actions: legal values of `tendon_action`, the default first.
    """

    id: str
    module: str
    name: str
    horizon: float | None
    rotor_actions: tuple[str, ...]
    tendon_actions: tuple[str, ...]


ENTRIES = {
    entry.name: entry
    for entry in (
        Entry("TendonGym/Hover-v0", "hover", "Hover", 8.0, FLIGHT, (*TENDONS, "reference")),
        Entry("TendonGym/Track-v0", "track", "Track", None, FLIGHT, (*TENDONS, "reference")),
        Entry("TendonGym/Bend-v0", "bend", "Bend", 6.0, FLIGHT, TENDONS),
        Entry("TendonGym/ArmBend-v0", "arm_bend", "ArmBend", 4.0, ("none",), TENDONS),
        Entry("TendonGym/TetherPerch-v0", "tether_perch", "TetherPerch", 16.0, FLIGHT, TENDONS),
        Entry("TendonGym/Hoist-v0", "hoist", "Hoist", 8.0, FLIGHT, (*TENDONS, "reference")),
    )
}


def register_all() -> None:
    """Register every environment with Gymnasium; nothing heavy is imported."""
    for entry in ENTRIES.values():
        path = f"tendon_gym.envs.tasks.{entry.module}:{entry.name}"
        if entry.id not in gymnasium.registry:
            gymnasium.register(
                entry.id, entry_point=f"{path}Env", vector_entry_point=f"{path}VectorEnv"
            )

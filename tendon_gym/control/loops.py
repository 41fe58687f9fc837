"""The inner loops of the action interfaces: from a held command to controls, at a physics step.

`run_loops` works on any range of simulations, without heap and without shared scratch, so that
threads may run it on disjoint ranges and an engine may call it from its own compiled step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tendon_gym.compiled import compiled, inlined
from tendon_gym.control.allocation import ALLOCATION, TENDON, allocate_one
from tendon_gym.control.gains import GAINS, VEHICLE
from tendon_gym.control.laws import acceleration_one, attitude_command_one, geometric_one, rate_one
from tendon_gym.control.mixer import mix_one
from tendon_gym.references.setpoint import setpoints
from tendon_gym.references.table import evaluate_one, new_rows
from tendon_gym.spatial import frame_of, quaternion, store_columns

THRUST, BODY_RATE, ATTITUDE, ACCELERATION, RESIDUAL, NO_ROTORS = range(6)
"""What a command says to the rotors."""

TENSION, BEND, REFERENCE = range(3)
"""What says how the tendons pull: held tensions, a held bend, or the reference's bend."""


class Loops(NamedTuple):
    """Everything that the loops of n simulations work on; of the same types for every task.

    Attributes:
        rotor: THRUST ... NO_ROTORS; with THRUST and NO_ROTORS the rotors' controls are held.
        tendon: TENSION ... REFERENCE; with TENSION and BEND the tendons' controls are held.
        law: LAW_PAPER or LAW_FULL.
        dt: s, one physics step.
        phase: (n,), s, added to the time on the reference.
        rows: (m,) of ROW, the references.
        first_row: (n,), each simulation's first row.
        row_count: (n,), its number of rows.
        command: (n, 4 + tendons): the rotor part in physical units (thrusts in N; collective in
            N and rad/s; collective in N, rad and rad/s; m/s^2 and rad/s), then tensions in N.
        integral: (n, 3), of the position error, m s.
        heading: (n,), the commanded yaw of ATTITUDE and ACCELERATION, rad.
        gains: (1,) of GAINS.
        vehicle: (1,) of VEHICLE.
        inverse: (rotors, 4), of the mixer.
        low: (rotors,), N.
        high: (rotors,), N.
        tendons: (tendons,) of TENDON.
        allocation: (1,) of ALLOCATION.
        rotor_actuators: (rotors,), columns of ctrl.
        tendon_actuators: (tendons,), columns of ctrl.
        setpoint: (n,) of SETPOINT, scratch.
        rotation: (n, 3, 3), scratch.
        torque: (n, 3), scratch.
        thrust: (n, rotors), scratch.
    """

    rotor: int
    tendon: int
    law: int
    dt: float
    phase: NDArray[np.float64]
    rows: NDArray[np.void]
    first_row: NDArray[np.int64]
    row_count: NDArray[np.int64]
    command: NDArray[np.float64]
    integral: NDArray[np.float64]
    heading: NDArray[np.float64]
    gains: NDArray[np.void]
    vehicle: NDArray[np.void]
    inverse: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    tendons: NDArray[np.void]
    allocation: NDArray[np.void]
    rotor_actuators: NDArray[np.int64]
    tendon_actuators: NDArray[np.int64]
    setpoint: NDArray[np.void]
    rotation: NDArray[np.float64]
    torque: NDArray[np.float64]
    thrust: NDArray[np.float64]


def idle_loops(n: int) -> Loops:
    """Return loops that leave the controls of n simulations as they are."""
    none = np.zeros(0)
    return Loops(
        rotor=NO_ROTORS,
        tendon=TENSION,
        law=0,
        dt=0.0,
        phase=np.zeros(n),
        rows=new_rows(1),
        first_row=np.zeros(n, np.int64),
        row_count=np.ones(n, np.int64),
        command=np.zeros((n, 4)),
        integral=np.zeros((n, 3)),
        heading=np.zeros(n),
        gains=np.zeros(1, GAINS),
        vehicle=np.zeros(1, VEHICLE),
        inverse=np.zeros((0, 4)),
        low=none,
        high=none,
        tendons=np.zeros(0, TENDON),
        allocation=np.zeros(1, ALLOCATION),
        rotor_actuators=np.zeros(0, np.int64),
        tendon_actuators=np.zeros(0, np.int64),
        setpoint=setpoints(n),
        rotation=np.zeros((n, 3, 3)),
        torque=np.zeros((n, 3)),
        thrust=np.zeros((n, 0)),
    )


@compiled
def run_loops(
    first: int,
    last: int,
    time: NDArray[np.float64],
    qpos: NDArray[np.float64],
    qvel: NDArray[np.float64],
    ctrl: NDArray[np.float64],
    loops: Any,
) -> None:
    """Write the controls of the simulations first..last-1 at one physics step.

    Args:
        first: index of the first simulation.
        last: index after the last one.
        time: (n,), s since each simulation's reset.
        qpos: (n, nq); the base's pose comes first where there are rotors.
        qvel: (n, nv).
        ctrl: (n, nu), N, written.
        loops: `Loops`; integral and heading are advanced by dt.
    """
    for i in range(first, last):
        if loops.rotor == RESIDUAL or loops.tendon == REFERENCE:
            now = time[i] + loops.phase[i]
            evaluate_one(loops.rows, loops.first_row[i], loops.row_count[i], now, loops.setpoint, i)
        if loops.tendon == REFERENCE:
            tensions = loops.command[i, 4:]
            allocate_one(loops.setpoint["bend"][i], loops.tendons, loops.allocation[0], tensions)
            for k in range(loops.tendons.shape[0]):
                ctrl[i, loops.tendon_actuators[k]] = tensions[k]
        if loops.rotor == THRUST or loops.rotor == NO_ROTORS:
            continue
        store_columns(frame_of(quaternion(qpos[i, 3:7])), loops.rotation[i])
        force = _flight_law(qpos[i, :3], qvel[i, :3], qvel[i, 3:6], loops, i)
        if loops.rotor == ATTITUDE or loops.rotor == ACCELERATION:
            loops.heading[i] += loops.dt * loops.command[i, 3]
        thrust = loops.thrust[i]
        mix_one(loops.inverse, force, loops.torque[i], loops.low, loops.high, thrust)
        for k in range(thrust.shape[0]):
            ctrl[i, loops.rotor_actuators[k]] = thrust[k]


@inlined
def _flight_law(
    position: NDArray[np.float64],
    velocity: NDArray[np.float64],
    angular_velocity: NDArray[np.float64],
    loops: Any,
    i: int,
) -> float:
    """Write the torque of simulation i's flight law; return the collective thrust."""
    command, rotation, torque = loops.command[i], loops.rotation[i], loops.torque[i]
    gains, vehicle, law = loops.gains[0], loops.vehicle[0], loops.law
    if loops.rotor == BODY_RATE:
        rate_one(command[1:4], angular_velocity, gains, vehicle, torque)
        return command[0]
    if loops.rotor == ATTITUDE:
        attitude_command_one(
            command[1], command[2], loops.heading[i], command[3], rotation, angular_velocity,
            gains, vehicle, law, torque,
        )  # fmt: skip
        return command[0]
    if loops.rotor == ACCELERATION:
        return acceleration_one(
            command[:3], loops.heading[i], command[3], rotation, angular_velocity, gains, vehicle,
            law, torque,
        )  # fmt: skip
    # the residual turns the vehicle through the damping of the law, on top of the reference's turn
    loops.setpoint["yaw_rate"][i] += command[3]
    return geometric_one(
        position, velocity, rotation, angular_velocity, loops.setpoint[i], command[:3],
        loops.integral[i], gains, vehicle, loops.dt, law, torque,
    )  # fmt: skip

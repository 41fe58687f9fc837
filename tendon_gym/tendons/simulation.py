"""A scene that has been compiled: model, data, and the state of the tendons beside them."""

from __future__ import annotations

import math
from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from tendon_gym.tendons.base import Base
from tendon_gym.tendons.building import build
from tendon_gym.tendons.filling import Filling, wiring
from tendon_gym.tendons.law import LAW
from tendon_gym.tendons.rotors import Rotors
from tendon_gym.tendons.scene import Scene
from tendon_gym.tendons.stepping import Stepper
from tendon_gym.tendons.transfer import Kept, transfer


class Simulation:
    """One compiled scene.

    Attributes:
        model: MjModel.
        data: MjData.
        wires: where the parts of the scene are in the model.
        references: (t,), m.
        activation: (t,), N.
        law: LAW (1, t).
        timestep: that all is written for, s.
        rotors: those that carry the armature of tendons.
        advance: steps the data by so many steps.
    """

    def __init__(
        self,
        base: Base,
        scene: Scene,
        native_limits: bool,
        previous: tuple[mujoco.MjModel, mujoco.MjData, Kept] | None,
    ) -> None:
        """Compile a scene, and take over the state of a previous model and data of it."""
        self.model = model = build(base.spec, base.places, scene).compile()
        self.data = data = mujoco.MjData(model)
        if previous is not None:
            transfer(previous[:2], (model, data), previous[2])
        self.wires = wiring(model, scene)
        self._native = native_limits
        mujoco.mj_fwdPosition(model, data)
        first, count = self.wires.first, len(scene.tendons)
        lengths = data.ten_length[first : first + count]
        given = [tendon.reference for tendon in scene.tendons]
        self.references = np.array(
            [length if r is None else r for length, r in zip(lengths, given, strict=True)]
        )
        self.activation = np.array([tendon.activation for tendon in scene.tendons], float)
        self._inertias = self._weigh()
        self.law = np.zeros((1, count), LAW)
        self.rotors = Rotors(model, self.wires, self.references, data.qpos[None], data.qvel[None])
        self.timestep = math.nan
        self.fill(scene)

    def step(self, steps: int) -> None:
        """Advance by so many steps; rotors follow first what a user has written to the state."""
        if not self.rotors:
            self.advance(steps)
            return
        if len(self.rotors.written()):
            self._follow()
        self.advance(steps)
        self.rotors.leave()

    def _follow(self) -> None:
        """Put the rotors where their tendons are, with the same speed."""
        self.refresh()
        lengths, jacobian = self.data.ten_length[None], self.data.ten_J[None]
        self.rotors.follow(np.zeros(1, np.int64), lengths, jacobian)

    def fill(self, scene: Scene) -> None:
        """Write all parameters of a scene of the same structure, for the present time step."""
        model, first = self.model, self.wires.first
        if self.timestep != model.opt.timestep:
            self.timestep = float(model.opt.timestep)
            activations = self.activation[None]
            self._stepper = Stepper(model, self.data, self.law, activations, first)
        filling = Filling(self.model, self.wires, self.references, self._inertias, self._native)
        filling.fill(scene, self.law[0], self.data.eq_active)
        if self.rotors:
            self._follow()
        self.advance = self._stepper.chosen()

    def refresh(self) -> None:
        """Bring lengths, Jacobians and velocities of the tendons to the present state."""
        model, data = self.model, self.data
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_tendon(model, data)
        data.ten_velocity[:] = self.rates(data.qvel)

    @property
    def inertias(self) -> NDArray[np.float64]:
        """The inverse inertias of the scene's tendons (t,), 1/kg."""
        first = self.wires.first
        return self._inertias[first : first + len(self.references)]

    def rates(self, motion: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return J x (ntendon,) for x (nv,), with the Jacobians that the data holds."""
        model = self.model
        row = np.repeat(np.arange(model.ntendon), model.ten_J_rownnz)
        products = self.data.ten_J * motion[model.ten_J_colind]
        return np.bincount(row, products, model.ntendon).astype(np.float64)

    def records(self, scene: Scene) -> Scene:
        """Return the scene with the present activations and reference lengths in it."""
        tendons = [
            replace(tendon, reference=float(self.references[k]), activation=float(activation))
            for k, (tendon, activation) in enumerate(
                zip(scene.tendons, self.activation, strict=True)
            )
        ]
        return replace(scene, tendons=tuple(tendons))

    def _weigh(self) -> NDArray[np.float64]:
        """Return the inverse inertias of all tendons (ntendon,), 1/kg, as MuJoCo has them.

        Those that move nothing in the model's reference pose have that of the present pose.
        """
        model, data = self.model, self.data
        inertias = model.tendon_invweight0.copy()
        for tendon in np.flatnonzero(inertias <= 0.0):
            start, count = model.ten_J_rowadr[tendon], model.ten_J_rownnz[tendon]
            row = np.zeros((1, model.nv))
            columns = model.ten_J_colind[start : start + count]
            row[0, columns] = data.ten_J[start : start + count]
            solved = np.zeros_like(row)
            mujoco.mj_solveM(model, data, solved, row)
            inertias[tendon] = float(row[0] @ solved[0])
        return inertias

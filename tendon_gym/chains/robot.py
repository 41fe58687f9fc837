"""Robot: a chain of a running simulation, with ports for what is measured and what is commanded."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from tendon_gym import checks
from tendon_gym.chains import given, transfer
from tendon_gym.chains.actuators import CtrlMode, force_limits, joint_range, read_actuators
from tendon_gym.chains.chain import Chain
from tendon_gym.chains.lifetimes import check_alive
from tendon_gym.chains.ports import MOTOR, NONE, PORT, apply, exchange, measure
from tendon_gym.compiled import entry

Array = NDArray[np.float64]
_COMMANDS = {
    CtrlMode.POSITION: "pos_cmd",
    CtrlMode.VELOCITY: "vel_cmd",
    CtrlMode.TORQUE: "trq_cmd",
}


class _Port:
    """A port of a robot: an array (n_joints,) in chain order, which assignment copies into."""

    def __init__(self, field: str, doc: str) -> None:
        self._field = field
        self.__doc__ = doc

    def __get__(self, robot: Any, owner: type | None = None) -> Any:
        return self if robot is None else robot._ports[self._field]

    def __set__(self, robot: Any, value: ArrayLike) -> None:
        name = "jnt_" + self._field
        if self._field not in _COMMANDS.values():
            raise AttributeError(f"{name} is measured and can't be set")
        robot._check_open()
        robot._ports[self._field] = checks.array(name, value, (robot.n_joints,))


class Robot:
    """The joints between two bodies of a simulation: measured, commanded, and stepped.

    Model and data are borrowed: other robots may be on the same pair, and a robot writes to nothing
    but its own joints' entries of `ctrl`, `qfrc_applied` and, in `set_joint_pos`, `qpos`. Only
    `step`, `step_n` and `reset` act on the whole simulation.

    A control cycle is `update()`, which reads the measured ports and then writes the commands of
    the mode, and `step()`. At first and after `reset()` the position command is the measured
    position, and velocity and torque commands are zero. How actuators are is read once.

    Attributes:
        model: the compiled model; None after `cleanup()`, as are data and chain.
        data: the simulation.
        chain: the `Chain`, for kinematics and dynamics.
        n_joints: number of joints.
        joint_names: their names, with the prefix.
        joint_limits: (n_joints, 2), rad or m; infinite where there is none.
        joint_force_limits: (n_joints, 2) what commands in TORQUE are clipped to, N m or N.
        kdl_to_mj_qpos: (n_joints,) addresses in qpos.
        kdl_to_mj_dof: (n_joints,) addresses in qvel and in forces.
        kdl_to_mj_ctrl: (n_joints,) each joint's first actuator that takes commands, -1 if
            it has none.
    """

    model: mujoco.MjModel
    data: mujoco.MjData
    chain: Chain
    jnt_pos_msr = _Port("pos_msr", "Measured positions (n_joints,), rad or m.")
    jnt_vel_msr = _Port("vel_msr", "Measured velocities (n_joints,), rad/s or m/s.")
    jnt_trq_msr = _Port("trq_msr", "MuJoCo's qfrc_bias (n_joints,), N m or N.")
    jnt_saturated = _Port("saturated", "Whether `update()` had to clip the command (n_joints,).")
    jnt_pos_cmd = _Port("pos_cmd", "Commanded positions (n_joints,), rad or m.")
    jnt_vel_cmd = _Port("vel_cmd", "Commanded velocities (n_joints,), rad/s or m/s.")
    jnt_trq_cmd = _Port("trq_cmd", "Commanded torques (n_joints,), N m or N.")

    def __init__(
        self, chain: Chain, data: mujoco.MjData, mode: CtrlMode | int | None = None
    ) -> None:
        self._take(chain, data, mode)
        self.paused = False
        mujoco.mj_forward(self.model, self.data)
        self.hold()

    def _take(self, chain: Chain, data: mujoco.MjData, mode: CtrlMode | int | None) -> None:
        """Take up a chain and a simulation; what may raise comes first."""
        given.of_kind("chain", chain, Chain)
        model, names = chain.model, chain.joint_names
        if not isinstance(data, mujoco.MjData):
            raise TypeError(f"data must be a mujoco.MjData, got {checks.shown(data)}")
        if data.model is not model:
            raise ValueError("data must be a simulation of the model, got one of another model")
        check_alive(model)
        actuators = read_actuators(model, chain.joints)
        if mode is None:
            mode = transfer.first_mode(actuators, names)
        self._mode = transfer.check_mode(mode, actuators, names)
        self.model, self.data, self.chain = model, data, chain
        self.n_joints, self.joint_names = chain.n_joints, names
        self.joint_limits = chain.joint_limits
        self.joint_force_limits = force_limits(model, chain.joints)
        self.kdl_to_mj_qpos, self.kdl_to_mj_dof = chain.qpos_addresses, chain.dof_addresses
        self.kdl_to_mj_ctrl = np.full(chain.n_joints, -1)
        for row in actuators[::-1]:
            self.kdl_to_mj_ctrl[row["joint"]] = row["index"]
        self._actuators = actuators
        self._ports = np.zeros(chain.n_joints, PORT)
        self._ports["qpos"], self._ports["dof"] = chain.qpos_addresses, chain.dof_addresses
        self._ports["lower"], self._ports["upper"] = self.joint_force_limits.T
        for port, joint in zip(self._ports, chain.joints, strict=True):
            port["least"], port["most"] = joint_range(model, joint)
        self._measured = (self._ports, data.qpos, data.qvel, data.qfrc_bias)
        self._arrays = (*self._measured, actuators, data.ctrl, data.act, data.qfrc_applied)
        self._exchange = entry(exchange, 0, *self._arrays)

    @classmethod
    def from_mjcf(
        cls,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        base_body: str,
        tip_body: str,
        prefix: str = "",
        tool_body: str | None = None,
        *,
        tip_site: str | None = None,
        branches: bool = False,
        compound: bool = False,
        mode: CtrlMode | int | None = None,
    ) -> Robot:
        """Return the robot from a base body to a tip body below it; data is forwarded.

        Args:
            model: a compiled model.
            data: a simulation of it.
            base_body: name of the body that the chain stands on.
            tip_body: name of the chain's last body.
            prefix: what stands in front of all these names in the model.
            tool_body: root of a subtree that is carried, locked as it stands in data.
            tip_site: a site of the tip body that is the chain's end.
            branches: whether all else that hangs on the chain's bodies is carried as well.
            compound: whether bodies on the chain may have several hinges and slides.
            mode: how it is commanded; by default the first of POSITION, VELOCITY and TORQUE that
                the model has actuators for. TORQUE needs none.

        Raises:
            ValueError: what `Chain.from_model` raises for, data of another model, or a mode that
                the model has no actuators for.
        """
        own = isinstance(data, mujoco.MjData) and data.model is model
        chain = Chain.from_model(
            model,
            base_body,
            tip_body,
            prefix,
            tool_body,
            tip_site=tip_site,
            branches=branches,
            compound=compound,
            qpos=data.qpos if own else None,
        )
        return cls(chain, data, mode)

    init_robot_from_mjcf = from_mjcf

    @property
    def ctrl_mode(self) -> CtrlMode:
        """How the robot is commanded.

        Setting it switches at once and without a jump: the new command is what makes the
        robot's joints go on with the force that they are under now (where a joint has no actuator
        for it, it is what is measured). In all modes but TORQUE the robot's entries of
        `qfrc_applied` are cleared. Data is forwarded. A mode that the model has no actuators for
        raises ValueError and changes nothing.
        """
        return self._mode

    @ctrl_mode.setter
    def ctrl_mode(self, mode: CtrlMode | int) -> None:
        self._check_open()
        mode = transfer.check_mode(mode, self._actuators, self.joint_names)
        ports, actuators, data = self._ports, self._actuators, self.data
        before = checks.array("the force now", self._force_now(), (self.n_joints,))
        data.qfrc_applied[self.kdl_to_mj_dof] = ports["trq_cmd"] = 0.0
        measure(*self._measured)
        idle = MOTOR if mode == CtrlMode.TORQUE else NONE
        apply(idle, ports, actuators, data.ctrl, data.act, data.qfrc_applied)
        more = before - self._force_now()
        command = transfer.command_for(mode, ports, actuators, more)
        transfer.fill_filters(mode, command, actuators, data.act)
        ports[_COMMANDS[mode]] = command
        self._mode = mode
        self.update()
        mujoco.mj_forward(self.model, data)

    def _force_now(self) -> Array:
        """Return what actuators and applied forces exert on the joints (n_joints,), N m or N."""
        mujoco.mj_forward(self.model, self.data)
        return (self.data.qfrc_actuator + self.data.qfrc_applied)[self.kdl_to_mj_dof]

    def update(self) -> None:
        """Read the measured ports, then write the commands of the mode: one control cycle.

        POSITION and VELOCITY write `ctrl` of the joints that have such an actuator; TORQUE writes
        `qfrc_applied`. All other actuators of the joints are set to do nothing: a position
        actuator with ctrl at the measured position (its damping stays), a velocity actuator with
        ctrl at the measured velocity, a motor with 0; filters are put there too. Commands are
        clipped to the actuators' control ranges, or to `joint_force_limits`, and `jnt_saturated`
        tells where. Where control ranges don't let the others do nothing, TORQUE takes off what
        they exert, and other modes tell of it as saturation.

        Raises:
            ValueError: a command of the mode, or a measured value, is not finite; nothing has been
                read or written.
        """
        self._check_open()
        bad = self._exchange(int(self._mode), *self._arrays)
        if bad >= self.n_joints:
            joint = checks.shown(self.joint_names[bad - self.n_joints])
            raise ValueError(f"position and velocity of joint {joint} in data must be finite")
        if bad >= 0:
            port = _COMMANDS[self._mode]
            joint = checks.shown(self.joint_names[bad])
            checks.reject(f"jnt_{port} of joint {joint}", self._ports[port][bad], "finite")

    def hold(self) -> None:
        """Make the position command the measured position, and velocity and torque commands zero.

        The robot's entries of `qfrc_applied` are cleared.
        """
        self._check_open()
        measure(*self._measured)
        self._ports["pos_cmd"] = self._ports["pos_msr"]
        self._ports["vel_cmd"] = self._ports["trq_cmd"] = 0.0
        self._ports["saturated"] = False
        self.data.qfrc_applied[self.kdl_to_mj_dof] = 0.0

    def set_joint_pos(self, q: ArrayLike, call_forward: bool = True) -> None:
        """Put the joints at positions (n_joints,), rad or m; velocities and commands stay.

        Args:
            q: the positions in chain order.
            call_forward: whether data is forwarded, so that poses and sensors follow.
        """
        self._check_open()
        positions = checks.array("q", q, (self.n_joints,))
        forward = checks.flag("call_forward", call_forward)
        self.data.qpos[self.kdl_to_mj_qpos] = positions
        if forward:
            mujoco.mj_forward(self.model, self.data)

    @property
    def paused(self) -> bool:
        """Whether `step` and `step_n` do nothing."""
        return self._paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        self._paused = checks.flag("paused", paused)

    def __copy__(self) -> Robot:
        """Refuse: a copy would be cut off from the simulation that it borrows."""
        raise TypeError("a Robot can't be copied: make another one, on the copy of its data")

    def __deepcopy__(self, memo: Any) -> Robot:
        """Refuse, as for shallow copies."""
        return self.__copy__()

    def __reduce__(self) -> Any:
        """Refuse, as for copies."""
        raise TypeError("a Robot can't be pickled: pickle its data, and make another one on it")

    def step(self) -> None:
        """Advance the simulation by one time step and forward it, so that poses are of `qpos`."""
        self.step_n(1)

    def step_n(self, n: int) -> None:
        """Advance the simulation by n time steps and forward it; nothing while `paused`."""
        self._check_open()
        steps = checks.integer("n", n, minimum=0)
        if self.paused or steps == 0:
            return
        mujoco.mj_step(self.model, self.data, steps)
        mujoco.mj_forward(self.model, self.data)

    def reset(self) -> None:
        """Put the simulation to keyframe 0, or as the model has it by default, and `hold()`.

        The whole simulation is reset; other robots on it should `hold()`, too.
        """
        self._check_open()
        if self.model.nkey:
            mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        else:
            mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)
        self.hold()

    def refresh_tool(self) -> None:
        """Lump anew what the chain carries, and note how its base stands, as data has them now."""
        self._check_open()
        self.chain.refresh_tool(self.data.qpos)

    def base_motion(self) -> Array:
        """Return how a moving base stands and turns, for the chain's dynamics, as of data.

        Its acceleration is left out; `Chain.base_motion` takes one that is known otherwise.
        """
        self._check_open()
        body = self.chain.base_body
        twist = np.empty(6)
        kind = mujoco.mjtObj.mjOBJ_XBODY
        mujoco.mj_objectVelocity(self.model, self.data, kind, body, twist, 0)
        return self.chain.base_motion(self.data.xmat[body].reshape(3, 3), twist[:3])

    def rebind(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Go on with the same chain, mode and commands in another model, as of a rebuilt scene.

        Raises:
            ValueError: the chain isn't there, or has other joints, or lacks the mode's actuators;
                the robot is as it was.
        """
        if self.chain is None:
            raise RuntimeError("the robot is closed: cleanup() was called")
        own = isinstance(data, mujoco.MjData) and data.model is model
        chain = self.chain.on(model, data.qpos if own else None)
        if chain.joint_names != self.joint_names:
            checks.reject("the chain's joints", chain.joint_names, f"{self.joint_names}")
        ports = self._ports
        self._take(chain, data, self._mode)
        for command in _COMMANDS.values():
            self._ports[command] = ports[command]
        mujoco.mj_forward(model, data)
        measure(*self._measured)

    def cleanup(self) -> None:
        """Let go of model and data, which live on, and clear every field: the robot is closed."""
        self.model = self.data = self.chain = None  # type: ignore[assignment]
        self.n_joints, self.joint_names = 0, ()
        self.joint_limits = self.joint_force_limits = np.empty((0, 2))
        self.kdl_to_mj_qpos = self.kdl_to_mj_dof = self.kdl_to_mj_ctrl = np.empty(0, np.intp)
        self._mode, self.paused = CtrlMode.POSITION, False
        self._ports, self._actuators = self._ports[:0].copy(), self._actuators[:0].copy()
        self._measured = self._arrays = ()

    def _check_open(self) -> None:
        if self.chain is None:
            raise RuntimeError("the robot is closed: cleanup() was called")
        check_alive(self.model)

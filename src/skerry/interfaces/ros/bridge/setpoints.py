"""Topics and services of the six setpoint controllers of the SMaRC AUV interface, for one autopilot.

Each target has three topics. `{target}_setpoint` is held while the service of the target has switched it on.
`{target}_setpoint_freq` is held as long as it is repeated. The status is published once per second. A setpoint that is
held by its switch is also published on `{target}_setpoint_freq`, as SMaRC's control_throttle_service does, for
controllers that only support repeated setpoints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import degrees, radians
from typing import Any, Final

from skerry.commands import CallController
from skerry.core.errors import SkerryError
from skerry.core.frames import heading_to_yaw, yaw_to_heading
from skerry.interfaces.ros.bridge.context import BridgeContext
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature
from skerry.interfaces.ros.bridge.publishers import FunctionPublisher
from skerry.interfaces.ros.messages.codec import Message
from skerry.parts.controller import CanHoldExternal
from skerry.parts.interface import Command
from skerry.world import Robot

STATUS_FREQUENCY: Final = Fraction(1)  # Hz; the SMaRC AUV interface requires this rate
REPEAT_FREQUENCY: Final = Fraction(2)  # Hz; twice the rate that a repeated setpoint needs
LIFETIME: Final = 1.5  # s; a repeated setpoint has a period of 1 s, so a message may be half a second late
STATUS: Final = "smarc_msgs/ControllerStatus"


@dataclass(frozen=True)
class Target:
    """Quantity that is controlled."""

    name: str  # in services
    topic: str  # in topics
    setpoint: str  # setpoint of the autopilot
    from_message: Callable[[float], float] = float
    to_message: Callable[[float], float] = float


def _heading(yaw: float) -> float:
    return float(yaw_to_heading(yaw))


def _yaw(heading_deg: float) -> float:
    return float(heading_to_yaw(heading_deg))


TARGETS: Final = (
    Target("heading", "yaw", "heading_deg", _heading, _yaw),
    Target("depth", "depth", "depth"),
    Target("altitude", "altitude", "altitude"),
    Target("speed", "speed", "speed"),
    Target("pitch", "pitch", "pitch_deg", degrees, radians),
    Target("roll", "roll", "roll_deg", degrees, radians),
)


class SetpointFeature(Feature):
    """Adds the setpoint topics of each controller that has the namespace `setpoints` in the profile."""

    def add_controller(self, robot: BridgedRobot, part: str) -> None:
        kind = robot.robot.vehicle.config.controllers[part].kind
        namespace = robot.profile.controller(robot.vehicle, part, kind).setpoints
        if namespace is not None:
            SetpointTopics(self.context, robot.robot, part, robot.topic(part, namespace))


class SetpointTopics:
    """Topics and services of all targets that one autopilot can control, below a namespace."""

    def __init__(self, context: BridgeContext, robot: Robot, part: str, namespace: str) -> None:
        self._context, self._robot, self._part = context, robot.name, part
        controller = robot.controllers[part]
        if not isinstance(controller, CanHoldExternal):
            raise SkerryError(f"the profile gives {robot.name}/{part} `setpoints`, but it holds no external setpoints")
        self._controller = controller
        self._published: dict[str, tuple[float, float]] = {}  # last repeated value of each target, and its time, s
        for target in TARGETS:
            if controller.can_hold("speed", target.setpoint):  # some loops need a speed
                self._add(target, namespace)

    def _add(self, target: Target, namespace: str) -> None:
        context, bus = self._context, self._context.bus
        service, setpoint = f"{namespace}/toggle_{target.name}_ctrl", f"{namespace}/{target.topic}_setpoint"
        repeated = f"{setpoint}_freq"
        context.add_command_service(service, "std_srvs/SetBool", partial(self._switch, target))
        bus.subscribe(setpoint, "std_msgs/Float64", partial(self._on_setpoint, target, setpoint))
        bus.subscribe(repeated, "std_msgs/Float64", partial(self._on_repeated, target, repeated))
        status = bus.advertise(f"{namespace}/{target.topic}_controller_status", STATUS)
        make = partial(self._status, target, service, setpoint)
        context.schedule.add_timed(FunctionPublisher(status, context.rate(STATUS_FREQUENCY), make))
        topic = bus.advertise(repeated, "std_msgs/Float64")
        repeat = partial(self._repeat, target)
        context.schedule.add_timed(FunctionPublisher(topic, context.rate(REPEAT_FREQUENCY), repeat))

    def _command(self, method: str, **arguments: Any) -> Command:
        return CallController(self._robot, self._part, method, arguments)

    def _switch(self, target: Target, request: Message) -> Command:
        return self._command("enable" if request.data else "disable", name=target.setpoint)

    def _on_setpoint(self, target: Target, topic: str, message: Message) -> None:
        """Apply a setpoint, if the target is switched on; missions publish setpoints in either case."""
        if target.setpoint not in self._controller.external_setpoints.enabled:
            return
        command = self._command("aim", name=target.setpoint, value=target.from_message(message.data))
        self._context.send_command(topic, command)

    def _on_repeated(self, target: Target, topic: str, message: Message) -> None:
        """Apply a repeated setpoint, unless it is a message of the simulator that a transport has returned."""
        value, time = self._published.get(target.name, (None, 0.0))
        is_own = value == message.data and 0.0 <= self._context.world.time - time < LIFETIME
        if is_own or target.setpoint in self._controller.external_setpoints.enabled:
            return
        arguments = {"name": target.setpoint, "value": target.from_message(message.data), "seconds": LIFETIME}
        self._context.send_command(topic, self._command("repeat", **arguments))

    def _repeat(self, target: Target, tick: int) -> Message | None:
        setpoint = self._controller.external_setpoints.enabled.get(target.setpoint)
        if setpoint is None:
            return None
        value = target.to_message(setpoint)
        self._published[target.name] = (value, self._context.world.time)
        return self._context.bus.codec.make("std_msgs/Float64", data=value)

    def _status(self, target: Target, service: str, setpoint: str, tick: int) -> Message:
        state, text = self._state(target, setpoint)
        codec = self._context.bus.codec
        status = codec.constant(STATUS, f"CONTROL_STATUS_{state}")
        return codec.make(STATUS, control_status=status, service_name=service, diagnostics_message=text)

    def _state(self, target: Target, setpoint: str) -> tuple[str, str]:
        """Return the name of the state in the status message, and an explanation."""
        controller, name = self._controller, target.setpoint
        if controller.aborted:
            return "ERROR", "the mission was aborted"
        is_external = name in controller.external_setpoints.setpoints
        if is_external or name in controller.setpoints:
            if not controller.commands_accepted:
                return "ERROR", "another owner controls the actuators"
            return "CONTROLLING", "" if is_external else "set by a goal or by the simulator"
        if name in controller.external_setpoints.enabled:
            return "NOT_CONTROLLING", f"waiting for a setpoint on {setpoint}"
        return "NOT_CONTROLLING", ""

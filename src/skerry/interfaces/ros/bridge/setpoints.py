"""The six controllers of the SMaRC AUV interface at the helm of an autopilot: set-points, switches and how they do.

Each target has `{target}_setpoint`, which is held while its service has switched it on; `{target}_setpoint_freq`, which
is held as long as it is repeated; and a status, once a second. What is held by switch is also repeated on
`{target}_setpoint_freq`, as SMaRC's control_throttle_service does for controllers that know nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import degrees, radians
from typing import Any, Final

from skerry.commands import AskController
from skerry.core.errors import SkerryError
from skerry.core.frames import heading_to_yaw, yaw_to_heading
from skerry.interfaces.ros.bridge.context import Context
from skerry.interfaces.ros.bridge.publishers import MadeOutlet
from skerry.interfaces.ros.messages.codec import Message
from skerry.parts.interface import Command
from skerry.world import Robot

STATUS_FREQUENCY: Final = Fraction(1)  # Hz, as the interface asks for
REPEAT_FREQUENCY: Final = Fraction(2)  # Hz, twice what a controller that must be told over and over needs
LASTS: Final = 1.5  # s that a set-point holds which is to come once a second, so that one may be a little late
STATUS: Final = "smarc_msgs/ControllerStatus"


@dataclass(frozen=True)
class Target:
    """What is controlled: its words in services and topics, and the set-point of the autopilot."""

    word: str
    topic: str
    setpoint: str
    inward: Callable[[float], float] = float
    outward: Callable[[float], float] = float


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


class HelmTopics:
    """The controllers that one autopilot can be, below a namespace."""

    def __init__(self, context: Context, robot: Robot, part: str, namespace: str) -> None:
        self._context, self._robot, self._part = context, robot.name, part
        self._controller: Any = robot.controllers[part]
        self._said: dict[str, tuple[float, float]] = {}  # what was repeated last, and when
        for target in TARGETS:
            if self._can(target):
                self._add(target, namespace)

    def _can(self, target: Target) -> bool:
        """Whether there is a loop for it; one that needs a speed too counts."""
        try:
            self._controller.config.check({"speed": 0.0, target.setpoint: 0.0})
        except SkerryError:
            return False
        return True

    def _add(self, target: Target, namespace: str) -> None:
        context, bus = self._context, self._context.bus
        service, setpoint = f"{namespace}/toggle_{target.word}_ctrl", f"{namespace}/{target.topic}_setpoint"
        repeated = f"{setpoint}_freq"
        context.offer(service, "std_srvs/SetBool", partial(self._switch, target))
        bus.subscribe(setpoint, "std_msgs/Float64", partial(self._hear, target, setpoint))
        bus.subscribe(repeated, "std_msgs/Float64", partial(self._hear_repeated, target, repeated))
        status = bus.advertise(f"{namespace}/{target.topic}_controller_status", STATUS)
        make = partial(self._status, target, service, setpoint)
        context.add_timer(MadeOutlet(status, context.rate(STATUS_FREQUENCY), make))
        again = bus.advertise(repeated, "std_msgs/Float64")
        context.add_timer(MadeOutlet(again, context.rate(REPEAT_FREQUENCY), partial(self._repeat, target)))

    def _ask(self, method: str, **arguments: Any) -> Command:
        return AskController(self._robot, self._part, method, arguments)

    def _switch(self, target: Target, request: Message) -> Command:
        return self._ask("enable" if request.data else "disable", name=target.setpoint)

    def _hear(self, target: Target, where: str, message: Message) -> None:
        """Take it, if it is switched on; missions say set-points whether or not it is."""
        if target.setpoint not in self._controller.external_setpoints.enabled:
            return
        self._context.do(where, self._ask("aim", name=target.setpoint, value=target.inward(message.data)))

    def _hear_repeated(self, target: Target, where: str, message: Message) -> None:
        """Take it, unless it is what was said here, come back over some transport."""
        value, time = self._said.get(target.word, (None, 0.0))
        is_own = value == message.data and 0.0 <= self._context.world.time - time < LASTS
        if is_own or target.setpoint in self._controller.external_setpoints.enabled:
            return
        arguments = {"name": target.setpoint, "value": target.inward(message.data), "seconds": LASTS}
        self._context.do(where, self._ask("repeat", **arguments))

    def _repeat(self, target: Target, tick: int) -> Message | None:
        setpoint = self._controller.external_setpoints.enabled.get(target.setpoint)
        if setpoint is None:
            return None
        value = target.outward(setpoint)
        self._said[target.word] = (value, self._context.world.time)
        return self._context.bus.codec.make("std_msgs/Float64", data=value)

    def _status(self, target: Target, service: str, setpoint: str, tick: int) -> Message:
        word, text = self._state(target, setpoint)
        codec = self._context.bus.codec
        status = codec.constant(STATUS, f"CONTROL_STATUS_{word}")
        return codec.make(STATUS, control_status=status, service_name=service, diagnostics_message=text)

    def _state(self, target: Target, setpoint: str) -> tuple[str, str]:
        controller, name = self._controller, target.setpoint
        if controller.aborted:
            return "ERROR", "the mission was aborted"
        if name in controller.external_setpoints.setpoints or name in controller.setpoints:
            if not controller.commands_accepted:
                return "ERROR", "somebody else has control of its actuators"
            by_helm = name in controller.external_setpoints.setpoints
            return "CONTROLLING", "" if by_helm else "by a goal, or held by the simulator"
        if name in controller.external_setpoints.enabled:
            return "NOT_CONTROLLING", f"waits for a set-point on {setpoint}"
        return "NOT_CONTROLLING", ""

"""Sensors that peers may switch on and off, and their status once a second."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from skerry.commands import SwitchSensor
from skerry.interfaces.ros.bridge.context import Context
from skerry.interfaces.ros.bridge.publishers import MadeOutlet
from skerry.interfaces.ros.messages.codec import Message
from skerry.world import Robot

STATUS: Final = "smarc_msgs/SensorStatus"
FREQUENCY: Final = Fraction(1)  # Hz, as the SMaRC AUV interface asks for


def add_switch(context: Context, robot: Robot, part: str, service: str, status: str) -> None:
    """Offer a std_srvs/SetBool that switches a sensor, and say how it is."""
    codec, sensor = context.bus.codec, robot.sensors[part]

    def make(tick: int) -> Message:
        word, text = ("ACTIVE", "") if sensor.on else ("NOT_ACTIVE", f"call {service} with true to switch it on")
        number = codec.constant(STATUS, f"SENSOR_STATUS_{word}")
        return codec.make(STATUS, sensor_status=number, service_name=service, diagnostics_message=text)

    context.offer(service, "std_srvs/SetBool", lambda request: SwitchSensor(robot.name, part, bool(request.data)))
    context.add_timer(MadeOutlet(context.bus.advertise(status, STATUS), context.rate(FREQUENCY), make))

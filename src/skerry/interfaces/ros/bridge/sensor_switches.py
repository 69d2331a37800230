"""Services that switch sensors on and off, and topics with the status of these sensors."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from skerry.commands import SwitchSensor
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature
from skerry.interfaces.ros.bridge.publishers import FunctionPublisher
from skerry.interfaces.ros.messages.codec import Message

STATUS: Final = "smarc_msgs/SensorStatus"
FREQUENCY: Final = Fraction(1)  # Hz; the SMaRC AUV interface requires this rate


class SensorSwitchFeature(Feature):
    """Adds a std_srvs/SetBool service and a status topic for each sensor that has a switch in the profile."""

    def add_sensor(self, robot: BridgedRobot, part: str) -> None:
        row = robot.profile.switch(robot.vehicle, part, robot.robot.vehicle.config.sensors[part].kind)
        if row is None:
            return
        context, codec, sensor = self.context, self.bus.codec, robot.robot.sensors[part]
        service, status = robot.topic(part, row.service), robot.topic(part, row.status)

        def make(tick: int) -> Message:
            state, text = ("ACTIVE", "") if sensor.on else ("NOT_ACTIVE", f"call {service} with true to switch it on")
            number = codec.constant(STATUS, f"SENSOR_STATUS_{state}")
            return codec.make(STATUS, sensor_status=number, service_name=service, diagnostics_message=text)

        context.add_command_service(
            service, "std_srvs/SetBool", lambda request: SwitchSensor(robot.name, part, bool(request.data))
        )
        topic = self.bus.advertise(status, STATUS)
        context.schedule.add_timed(FunctionPublisher(topic, context.rate(FREQUENCY), make))

"""Encoders of pressure, battery state and altitude."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch
from skerry.interfaces.ros.messages.encoders import Encoder, EncoderContext, TemplateEncoder, register_factory
from skerry.parts.readings import Readings
from skerry.sensors.altimeter import Altimeter, AltimeterReading
from skerry.sensors.battery import BatteryReading
from skerry.sensors.pressure import PressureReading


class PressureEncoder(TemplateEncoder):
    """Encoder of pressure, Pa; there is no message below the depth that the sensor can measure."""

    def encode_valid(self, readings: Readings[PressureReading]) -> EncodedBatch:
        if readings.saturated.any():
            return self.encode_rows(readings, ~readings.saturated)
        return super().encode_valid(readings)


@register_factory("pressure", "sensor_msgs/FluidPressure")
def pressure(context: EncoderContext) -> Encoder:
    """Return the encoder of pressure and its variance."""
    template = context.template("sensor_msgs/FluidPressure", ("fluid_pressure", "variance"))
    return PressureEncoder(
        template, lambda readings: {"fluid_pressure": readings.pressure, "variance": readings.variance}
    )


@register_factory("battery", "sensor_msgs/BatteryState")
def battery(context: EncoderContext) -> Encoder:
    """Encode the battery state; as the message defines, the percentage is 0 to 1 and a discharging current negative."""
    constant, name = context.codec.constant, "sensor_msgs/BatteryState"
    capacity = getattr(context.settings, "capacity_wh", None)
    template = context.template(
        name,
        ("voltage", "current", "charge", "design_capacity", "percentage"),
        temperature=math.nan,
        capacity=math.nan,
        power_supply_status=constant(name, "POWER_SUPPLY_STATUS_DISCHARGING"),
        power_supply_health=constant(name, "POWER_SUPPLY_HEALTH_GOOD"),
        power_supply_technology=constant(name, "POWER_SUPPLY_TECHNOLOGY_UNKNOWN"),
        present=True,
    )

    def columns(readings: Readings[BatteryReading]) -> dict[str, Any]:
        design = (math.nan if capacity is None else capacity) / readings.voltage
        share = readings.percent / 100.0
        return {
            "voltage": readings.voltage,
            "current": -readings.current,
            "charge": design * share,
            "design_capacity": design,
            "percentage": share,
        }

    return TemplateEncoder(template, columns)


@register_factory("altimeter", "sensor_msgs/Range")
def altitude(context: EncoderContext) -> Encoder:
    """Encode the range of the echo; without an echo it is infinite, as the message defines."""
    settings = context.settings
    assert isinstance(settings, Altimeter)
    template = context.template(
        "sensor_msgs/Range",
        ("range",),
        field_of_view=math.radians(settings.beam_breadth_deg),
        min_range=settings.min_range,
        max_range=settings.max_range,
    )

    def columns(readings: Readings[AltimeterReading]) -> dict[str, Any]:
        return {"range": np.where(np.isnan(readings.range), math.inf, readings.range)}

    return TemplateEncoder(template, columns)

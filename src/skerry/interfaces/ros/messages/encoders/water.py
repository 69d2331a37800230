"""Encoders of water and vehicle state: pressure, CTD, depth, range, leak, battery and contact."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skerry.interfaces.ros.messages.encoders import EncoderContext, EncodeReading, register_factory
from skerry.sensors.altimeter import Altimeter, AltimeterReading
from skerry.sensors.battery import BatteryReading
from skerry.sensors.contact import ContactReading
from skerry.sensors.ctd import CtdReading
from skerry.sensors.leak import LeakReading
from skerry.sensors.locked_direction_depth import LockedDirectionDepthReading
from skerry.sensors.pressure import PressureReading
from skerry.sensors.range_receiver import RangeReceiverReading


@register_factory("pressure", "sensor_msgs/FluidPressure")
def pressure(context: EncoderContext) -> EncodeReading:
    """Encode pressure, Pa; there is no message below the depth that the sensor can measure."""

    def numbers(reading: PressureReading) -> dict[str, float]:
        return {"fluid_pressure": reading.pressure, "variance": reading.variance}

    return context.template_encoder(
        "sensor_msgs/FluidPressure",
        numbers,
        ("fluid_pressure", "variance"),
        skip=lambda reading: reading.saturated,
    )


@register_factory("ctd", "smarc_msgs/CTD")
def ctd(context: EncoderContext) -> EncodeReading:
    """Encode conductivity, temperature and depth."""
    fields = ("conductivity", "temperature", "depth")

    def numbers(reading: CtdReading) -> dict[str, float]:
        return {field: getattr(reading, field) for field in fields}

    return context.template_encoder("smarc_msgs/CTD", numbers, fields)


@register_factory("leak", "smarc_msgs/Leak")
def leak(context: EncoderContext) -> EncodeReading:
    """Encode whether there is a leak, and the number of readings with a leak."""

    def numbers(reading: LeakReading) -> dict[str, int]:
        return {"value": reading.leaked, "leak_counter": reading.count}

    return context.template_encoder("smarc_msgs/Leak", numbers, ("value", "leak_counter"))


@register_factory("battery", "sensor_msgs/BatteryState")
def battery(context: EncoderContext) -> EncodeReading:
    """Encode the battery state; as the message defines, the percentage is 0 to 1 and a discharging current negative."""
    constant, name = context.codec.constant, "sensor_msgs/BatteryState"
    capacity = getattr(context.settings, "capacity_wh", None)

    def numbers(reading: BatteryReading) -> dict[str, float]:
        design = math.nan if capacity is None else capacity / reading.voltage
        share = reading.percent / 100.0
        return {
            "voltage": reading.voltage,
            "current": -reading.current,
            "charge": design * share,
            "design_capacity": design,
            "percentage": share,
        }

    return context.template_encoder(
        name,
        numbers,
        ("voltage", "current", "charge", "design_capacity", "percentage"),
        temperature=math.nan,
        capacity=math.nan,
        power_supply_status=constant(name, "POWER_SUPPLY_STATUS_DISCHARGING"),
        power_supply_health=constant(name, "POWER_SUPPLY_HEALTH_GOOD"),
        power_supply_technology=constant(name, "POWER_SUPPLY_TECHNOLOGY_UNKNOWN"),
        present=True,
    )


@register_factory("altimeter", "sensor_msgs/Range")
def altitude(context: EncoderContext) -> EncodeReading:
    """Encode the range of the echo; without an echo it is infinite, as the message defines."""
    settings = context.settings
    assert isinstance(settings, Altimeter)

    def numbers(reading: AltimeterReading) -> dict[str, Any]:
        found = np.asarray(reading.range, np.float64)  # None becomes NaN
        return {"range": np.where(np.isnan(found), math.inf, found)}

    return context.template_encoder(
        "sensor_msgs/Range",
        numbers,
        ("range",),
        field_of_view=math.radians(settings.beam_breadth_deg),
        min_range=settings.min_range,
        max_range=settings.max_range,
    )


@register_factory("range_receiver", "smarc_msgs/FloatStamped")
def distance(context: EncoderContext) -> EncodeReading:
    """Encode the distance to the nearest transmitter, m; infinite if none is received."""

    def numbers(reading: RangeReceiverReading) -> dict[str, float]:
        return {"data": reading.range}

    return context.template_encoder("smarc_msgs/FloatStamped", numbers, ("data",))


@register_factory("locked_direction_depth", "smarc_msgs/FloatStamped")
def height(context: EncoderContext) -> EncodeReading:
    """Encode the height above the surface below, m."""

    def numbers(reading: LockedDirectionDepthReading) -> dict[str, float]:
        return {"data": reading.value}

    return context.template_encoder("smarc_msgs/FloatStamped", numbers, ("data",))


@register_factory("contact", "std_msgs/Bool")
def touching(context: EncoderContext) -> EncodeReading:
    """Encode whether the sensor touches something."""

    def numbers(reading: ContactReading) -> dict[str, bool]:
        return {"data": reading.touching}

    return context.template_encoder("std_msgs/Bool", numbers, ("data",))

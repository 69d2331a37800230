"""Readings of water and of the vehicle itself: pressure, CTD, depth, range, leak, battery, contact."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skerry.interfaces.ros.messages.encoders import Say, Source, prepares
from skerry.sensors.altimeter import Altimeter, AltimeterReading
from skerry.sensors.battery import BatteryReading
from skerry.sensors.contact import ContactReading
from skerry.sensors.ctd import CtdReading
from skerry.sensors.leak import LeakReading
from skerry.sensors.locked_direction_depth import LockedDirectionDepthReading
from skerry.sensors.pressure import PressureReading
from skerry.sensors.range_receiver import RangeReceiverReading


@prepares("pressure", "sensor_msgs/FluidPressure")
def pressure(source: Source) -> Say:
    """Pa; a sensor that is deeper than it can measure says nothing, rather than something wrong."""

    def numbers(reading: PressureReading) -> dict[str, float]:
        return {"fluid_pressure": reading.pressure, "variance": reading.variance}

    return source.numbers(
        "sensor_msgs/FluidPressure",
        numbers,
        ("fluid_pressure", "variance"),
        unless=lambda reading: reading.saturated,
    )


@prepares("ctd", "smarc_msgs/CTD")
def ctd(source: Source) -> Say:
    """Conductivity, temperature and depth."""
    fields = ("conductivity", "temperature", "depth")

    def numbers(reading: CtdReading) -> dict[str, float]:
        return {field: getattr(reading, field) for field in fields}

    return source.numbers("smarc_msgs/CTD", numbers, fields)


@prepares("leak", "smarc_msgs/Leak")
def leak(source: Source) -> Say:
    """Whether there is a leak, and how many readings have said so."""

    def numbers(reading: LeakReading) -> dict[str, int]:
        return {"value": reading.leaked, "leak_counter": reading.count}

    return source.numbers("smarc_msgs/Leak", numbers, ("value", "leak_counter"))


@prepares("battery", "sensor_msgs/BatteryState")
def battery(source: Source) -> Say:
    """The percentage goes from 0 to 1, and a current that discharges is negative, as the message's definition says."""
    constant, name = source.codec.constant, "sensor_msgs/BatteryState"
    capacity = getattr(source.settings, "capacity_wh", None)

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

    return source.numbers(
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


@prepares("altimeter", "sensor_msgs/Range")
def altitude(source: Source) -> Say:
    """The range of the echo; infinite without one, as the message's definition says."""
    settings = source.settings
    assert isinstance(settings, Altimeter)

    def numbers(reading: AltimeterReading) -> dict[str, Any]:
        found = np.asarray(reading.range, np.float64)  # None becomes no number
        return {"range": np.where(np.isnan(found), math.inf, found)}

    return source.numbers(
        "sensor_msgs/Range",
        numbers,
        ("range",),
        field_of_view=math.radians(settings.beam_breadth_deg),
        min_range=settings.min_range,
        max_range=settings.max_range,
    )


@prepares("range_receiver", "smarc_msgs/FloatStamped")
def distance(source: Source) -> Say:
    """To the nearest sender, m; infinite if none is heard."""

    def numbers(reading: RangeReceiverReading) -> dict[str, float]:
        return {"data": reading.range}

    return source.numbers("smarc_msgs/FloatStamped", numbers, ("data",))


@prepares("locked_direction_depth", "smarc_msgs/FloatStamped")
def height(source: Source) -> Say:
    """Height over what is below, m."""

    def numbers(reading: LockedDirectionDepthReading) -> dict[str, float]:
        return {"data": reading.value}

    return source.numbers("smarc_msgs/FloatStamped", numbers, ("data",))


@prepares("contact", "std_msgs/Bool")
def touching(source: Source) -> Say:
    """Whether anything is touched."""

    def numbers(reading: ContactReading) -> dict[str, bool]:
        return {"data": reading.touching}

    return source.numbers("std_msgs/Bool", numbers, ("data",))

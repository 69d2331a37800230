"""Readings of water and of the vehicle itself: pressure, CTD, depth, range, leak, battery, contact."""

from __future__ import annotations

import math

from skerry.interfaces.ros.conversions import Say, Source, prepares
from skerry.interfaces.ros.prepared import stamp_of
from skerry.sensors.altimeter import Altimeter, AltimeterReading
from skerry.sensors.battery import BatteryReading
from skerry.sensors.contact import ContactReading
from skerry.sensors.ctd import CtdReading
from skerry.sensors.leak import LeakReading
from skerry.sensors.locked_direction_depth import LockedDirectionDepthReading
from skerry.sensors.pressure import PressureReading
from skerry.sensors.range_receiver import RangeReading


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
    fill = source.form("smarc_msgs/Leak", "value", "leak_counter")

    def say(reading: LeakReading | None, time: float) -> bytes | None:
        return None if reading is None else fill(0, 0, reading.leaked, reading.count)

    return say


@prepares("battery", "sensor_msgs/BatteryState")
def battery(source: Source) -> Say:
    """The percentage goes from 0 to 1, and a current that discharges is negative, as the message's definition says."""
    constant, name = source.codec.constant, "sensor_msgs/BatteryState"
    fill = source.form(
        name,
        *("voltage", "current", "charge", "design_capacity", "percentage"),
        temperature=math.nan,
        capacity=math.nan,
        power_supply_status=constant(name, "POWER_SUPPLY_STATUS_DISCHARGING"),
        power_supply_health=constant(name, "POWER_SUPPLY_HEALTH_GOOD"),
        power_supply_technology=constant(name, "POWER_SUPPLY_TECHNOLOGY_UNKNOWN"),
        present=True,
    )
    capacity = getattr(source.settings, "capacity_wh", None)

    def say(reading: BatteryReading | None, time: float) -> bytes | None:
        if reading is None:
            return None
        design = math.nan if capacity is None else capacity / reading.voltage
        charge, share = design * reading.percent / 100.0, reading.percent / 100.0
        return fill(*stamp_of(reading.time), reading.voltage, -reading.current, charge, design, share)

    return say


@prepares("altimeter", "sensor_msgs/Range")
def altitude(source: Source) -> Say:
    """The range of the echo; infinite without one, as the message's definition says."""
    settings = source.settings
    assert isinstance(settings, Altimeter)
    fill = source.form(
        "sensor_msgs/Range",
        "range",
        field_of_view=math.radians(settings.beam_breadth_deg),
        min_range=settings.min_range,
        max_range=settings.max_range,
    )

    def say(reading: AltimeterReading | None, time: float) -> bytes | None:
        if reading is None:
            return None
        return fill(*stamp_of(reading.time), math.inf if reading.range is None else reading.range)

    return say


@prepares("range_receiver", "smarc_msgs/FloatStamped")
def distance(source: Source) -> Say:
    """To the nearest sender, m; infinite if none is heard."""
    fill = source.form("smarc_msgs/FloatStamped", "data")

    def say(reading: RangeReading | None, time: float) -> bytes | None:
        return None if reading is None else fill(*stamp_of(reading.time), reading.range)

    return say


@prepares("locked_direction_depth", "smarc_msgs/FloatStamped")
def height(source: Source) -> Say:
    """Height over what is below, m."""
    fill = source.form("smarc_msgs/FloatStamped", "data")

    def say(reading: LockedDirectionDepthReading | None, time: float) -> bytes | None:
        return None if reading is None else fill(*stamp_of(reading.time), reading.value)

    return say


@prepares("contact", "std_msgs/Bool")
def touching(source: Source) -> Say:
    """Whether anything is touched."""
    fill = source.form("std_msgs/Bool", "data")

    def say(reading: ContactReading | None, time: float) -> bytes | None:
        return None if reading is None else fill(0, 0, reading.touching)

    return say

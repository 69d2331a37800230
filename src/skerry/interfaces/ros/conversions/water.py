"""Readings of water and of the vehicle itself: pressure, CTD, depth, range, leak, battery, contact."""

from __future__ import annotations

import math

from skerry.interfaces.ros.codec import Message
from skerry.interfaces.ros.conversions import Source, speaks
from skerry.sensors.altimeter import Altimeter, AltimeterReading
from skerry.sensors.battery import BatteryReading
from skerry.sensors.contact import ContactReading
from skerry.sensors.ctd import CtdReading
from skerry.sensors.leak import LeakReading
from skerry.sensors.locked_direction_depth import LockedDirectionDepthReading
from skerry.sensors.pressure import PressureReading
from skerry.sensors.range_receiver import RangeReading


@speaks("pressure", "sensor_msgs/FluidPressure")
def pressure(reading: PressureReading | None, source: Source, time: float) -> Message | None:
    """Pa; a sensor that is deeper than it can measure says nothing, rather than something wrong."""
    if reading is None or reading.saturated:
        return None
    return source.codec.make(
        "sensor_msgs/FluidPressure",
        header=source.header(reading.time),
        fluid_pressure=reading.pressure,
        variance=reading.variance,
    )


@speaks("ctd", "smarc_msgs/CTD")
def ctd(reading: CtdReading | None, source: Source, time: float) -> Message | None:
    """Conductivity, temperature and depth."""
    if reading is None:
        return None
    return source.codec.make(
        "smarc_msgs/CTD",
        header=source.header(reading.time),
        conductivity=reading.conductivity,
        temperature=reading.temperature,
        depth=reading.depth,
    )


@speaks("leak", "smarc_msgs/Leak")
def leak(reading: LeakReading | None, source: Source, time: float) -> Message | None:
    """Whether there is a leak, and how many readings have said so."""
    if reading is None:
        return None
    return source.codec.make("smarc_msgs/Leak", value=reading.leaked, leak_counter=reading.count)


@speaks("battery", "sensor_msgs/BatteryState")
def battery(reading: BatteryReading | None, source: Source, time: float) -> Message | None:
    """The percentage goes from 0 to 1, and a current that discharges is negative, as the message's definition says."""
    if reading is None:
        return None
    codec = source.codec
    capacity = getattr(source.settings, "capacity_wh", None)
    design = math.nan if capacity is None else capacity / reading.voltage
    name = "sensor_msgs/BatteryState"
    return codec.make(
        name,
        header=source.header(reading.time),
        voltage=reading.voltage,
        temperature=math.nan,
        current=-reading.current,
        charge=design * reading.percent / 100.0,
        capacity=math.nan,
        design_capacity=design,
        percentage=reading.percent / 100.0,
        power_supply_status=codec.constant(name, "POWER_SUPPLY_STATUS_DISCHARGING"),
        power_supply_health=codec.constant(name, "POWER_SUPPLY_HEALTH_GOOD"),
        power_supply_technology=codec.constant(name, "POWER_SUPPLY_TECHNOLOGY_UNKNOWN"),
        present=True,
    )


@speaks("altimeter", "sensor_msgs/Range")
def altitude(reading: AltimeterReading | None, source: Source, time: float) -> Message | None:
    """The range of the echo; infinite without one, as the message's definition says."""
    if reading is None:
        return None
    settings = source.settings
    assert isinstance(settings, Altimeter)
    return source.codec.make(
        "sensor_msgs/Range",
        header=source.header(reading.time),
        field_of_view=math.radians(settings.beam_breadth_deg),
        min_range=settings.min_range,
        max_range=settings.max_range,
        range=math.inf if reading.range is None else reading.range,
    )


@speaks("range_receiver", "smarc_msgs/FloatStamped")
def distance(reading: RangeReading | None, source: Source, time: float) -> Message | None:
    """To the nearest sender, m; infinite if none is heard."""
    if reading is None:
        return None
    return source.codec.make("smarc_msgs/FloatStamped", header=source.header(reading.time), data=reading.range)


@speaks("locked_direction_depth", "smarc_msgs/FloatStamped")
def height(reading: LockedDirectionDepthReading | None, source: Source, time: float) -> Message | None:
    """Height over what is below, m."""
    if reading is None:
        return None
    return source.codec.make("smarc_msgs/FloatStamped", header=source.header(reading.time), data=reading.value)


@speaks("contact", "std_msgs/Bool")
def touching(reading: ContactReading | None, source: Source, time: float) -> Message | None:
    """Whether anything is touched."""
    return None if reading is None else source.codec.make("std_msgs/Bool", data=reading.touching)

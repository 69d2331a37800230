"""CTD probe: conductivity, temperature and depth of the water."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import skerry
from skerry.core.noise import Noise
from skerry.parts.sensor import SingleSensorView as One
from skerry.sensors.ctd import Ctd
from skerry.water import WaterConfig, seawater, sound

NOISE = Noise(1, "robot/ctd")
PERFECT = {"conductivity_noise": 0.0, "temperature_noise": 0.0, "depth_noise": 0.0}
LAYERS = {"depths": [0, 20, 30], "temperature": [18, 17, 8], "salinity": [6, 6.2, 7]}


def sample(z, water=None, tick=0, surface=0.0):
    """A robot at rest at a height."""
    built = (water or WaterConfig(profile=LAYERS)).build(9.81)
    motion = np.array([0.0, 0.0, z, 0.0, 0.0, 0.0, 1.0, *[0.0] * 6])
    return SimpleNamespace(
        time=tick / 200,
        tick=tick,
        water=built,
        motion=lambda link, offset: motion + np.append(offset.position, np.zeros(10)),
        depth=lambda point: surface - float(point[2]),
    )


def probe(**settings):
    return Ctd(link="base_link", frequency=10, **settings).build()


def test_a_ctd_without_noise_reads_the_profile():
    reading = probe(**PERFECT).measure(One(sample(-25.0)), NOISE)[0]
    assert (reading.temperature, reading.depth) == (12.5, 25.0)
    assert reading.conductivity == pytest.approx(
        float(seawater.conductivity(6.6, 12.5, seawater.depth_to_pressure(25.0))), abs=2e-4
    )
    assert reading.salinity == pytest.approx(6.6, abs=2e-4)
    assert reading.sound_speed == pytest.approx(float(sound.SPEED_AT_DEPTH["unesco"](6.6, 12.5, 25.0)), abs=1e-3)


def test_standard_sea_water_conducts_as_its_definition_says():
    """42.914 mS/cm at S = 35, 15 °C (t68), no pressure (Culkin & Smith 1980)."""
    reading = probe(**PERFECT).measure(One(sample(0.0, WaterConfig(profile={"temperature": 15 / 1.00024}))), NOISE)[0]
    assert reading.conductivity == pytest.approx(42.914, abs=1e-5)


def test_a_ctd_measures_at_its_mount():
    assert probe(**PERFECT, position=[0, 0, -2.0]).measure(One(sample(-5.0)), NOISE)[0].depth == pytest.approx(7.0)


def test_a_ctd_has_no_reading_in_air_and_reads_below_the_actual_surface():
    assert probe().measure(One(sample(0.01)), NOISE)[0] is None
    assert probe().measure(One(sample(-1.0, surface=-2.0)), NOISE)[0] is None
    assert probe(**PERFECT).measure(One(sample(-1.0, surface=0.5)), NOISE)[0].depth == 1.5


@pytest.mark.parametrize("depth", [0.0, 6000.0, 11_000.0])
def test_readings_are_finite_at_any_depth(depth):
    reading = probe().measure(One(sample(-depth, WaterConfig())), NOISE)[0]
    assert np.isfinite([reading.conductivity, reading.temperature, reading.salinity, reading.sound_speed]).all()


def test_the_conductivity_of_fresh_water_is_never_negative():
    fresh = WaterConfig(profile={"temperature": 10, "salinity": 0})
    readings = [probe().measure(One(sample(-3.0, fresh, tick)), NOISE)[0] for tick in range(50)]
    assert min(reading.conductivity for reading in readings) == 0.0
    assert all(reading.salinity >= 0 for reading in readings)


def test_noise_has_the_configured_deviation_and_depends_on_the_seed():
    """2000 draws: the standard deviation of their standard deviation is 1.6 %."""
    sigmas = {"conductivity_noise": 0.05, "temperature_noise": 0.02, "depth_noise": 0.3}
    ctd, still = probe(**sigmas), sample(-100.0)
    values = []
    for tick in range(2000):
        still.tick = tick
        reading = ctd.measure(One(still), NOISE)[0]
        values.append([reading.conductivity, reading.temperature, reading.depth])
    assert np.std(values, axis=0) == pytest.approx(list(sigmas.values()), rel=0.07)
    assert np.abs(np.corrcoef(np.array(values).T) - np.eye(3)).max() < 0.08
    assert ctd.measure(One(still), NOISE)[0] == reading


def test_sams_ctd_reads_in_water_and_not_in_air():
    scenario = {"water": {"profile": LAYERS}, "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6}}
    robots = {
        "deep": {"vehicle": "sam", "pose": {"position": [0, 0, -25]}},
        "dry": {"vehicle": "sam", "pose": {"position": [9, 0, 5]}},
    }
    with skerry.load(scenario | {"robots": robots}) as world:
        reading = world.robots["deep"].sensors["ctd"].reading
        assert reading.temperature == pytest.approx(12.5, abs=0.02)
        assert reading.salinity == pytest.approx(6.6, abs=0.05)
        assert world.robots["dry"].sensors["ctd"].reading is None

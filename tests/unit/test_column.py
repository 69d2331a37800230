"""The water column: profiles, the density that native laws get, and error messages."""

from __future__ import annotations

import numpy as np
import pytest

from skerry.formats.yaml_documents import parse_document
from skerry.scenario.schema import Scenario
from skerry.water import WaterConfig, seawater, sound

BALTIC = {"depths": [0, 20, 30, 200], "temperature": [18, 17, 8, 5], "salinity": [6, 6.2, 7, 9]}


def sea(**settings):
    return WaterConfig(**settings).build(9.81)


def points(depths, level=0.0):
    depths = np.asarray(depths, np.float64)
    return np.stack([np.zeros_like(depths), np.zeros_like(depths), level - depths], axis=-1)


def test_density_is_1025_by_default():
    water = sea()
    assert (water.config.density, water.density) == (1025.0, 1025.0)
    assert water.sample(points([-3, 0, 6000]), 0.0).density.tolist() == [1025.0] * 3


def test_density_by_depth_is_that_of_the_equation_of_state():
    """Linear interpolation between nodes is within 1e-4 kg/m³; below the profile only the pressure grows."""
    depths = np.linspace(0, 11_000, 2001)
    found = sea(profile=BALTIC).sample(points(depths), 0.0).density
    t, s = (np.interp(depths, BALTIC["depths"], BALTIC[name]) for name in ("temperature", "salinity"))
    np.testing.assert_allclose(found, seawater.density(s, t, seawater.depth_to_pressure(depths)), rtol=0, atol=2e-4)


def test_laws_and_python_see_the_same_density():
    water = sea(profile=BALTIC)
    depths = np.concatenate([np.linspace(-5, 300, 500), water.column.nodes, [12_000, 20_000]])
    assert water.sample(points(depths), 0.0).density == pytest.approx(water.column.density(depths), rel=1e-15)


def test_the_density_that_vehicles_are_trimmed_for_is_that_at_the_surface():
    water = sea(profile=BALTIC)
    assert water.density == pytest.approx(float(seawater.density(6, 18)), rel=1e-15)
    assert water.sample([0, 0, 4.0], 0.0).density == water.density


def test_depth_counts_from_the_surface_that_is_there():
    waves = {"kind": "waves", "spectrum": "regular", "height": 2.0, "period": 6.0, "heading_deg": 30}
    for surface in ({"kind": "flat", "level": -3.0}, waves):
        water = sea(profile=BALTIC, surface=surface)
        place = np.array([[5.0, 2.0, -22.0], [40.0, -7.0, -25.5]])
        for time in (0.0, 1.7):
            sample = water.sample(place, time)
            depth = sample.height - place[:, 2]
            assert water.depth(place, time) == pytest.approx(depth, rel=1e-15)
            assert sample.density == pytest.approx(water.column.density(depth), rel=1e-15)
            for name, found in (("temperature", water.temperature), ("salinity", water.salinity)):
                assert found(place, time) == pytest.approx(np.interp(depth, BALTIC["depths"], BALTIC[name]))


def test_a_density_by_depth_leaves_the_flow_alone():
    current = {"kind": "uniform", "velocity": [0.4, -0.1, 0.0]}
    sample = sea(profile=BALTIC, currents={"tide": current}).sample(points([1, 25, 400]), 0.0)
    assert sample.velocity.tolist() == [[0.4, -0.1, 0.0]] * 3


def test_one_temperature_and_salinity_stand_for_all_depths():
    """Fresh water of 20 °C: 998.2 kg/m³, a pool."""
    water = sea(profile={"temperature": 20, "salinity": 0})
    assert water.density == pytest.approx(998.2, abs=0.01)
    assert water.temperature(points([0, 900]), 0.0).tolist() == [20.0, 20.0]
    mixed = sea(profile={"depths": [0, 10], "temperature": [20, 10], "salinity": 35})
    assert mixed.salinity(points([3, 90]), 0.0).tolist() == [35.0, 35.0]


@pytest.mark.parametrize("formula", ["unesco", "del_grosso", "mackenzie"])
def test_sound_speed_follows_the_formula(formula):
    layers = {"depths": [0, 100], "temperature": [20, 6], "salinity": [35, 36]}
    water = sea(profile=layers, sound_speed={"formula": formula})
    found = water.sound_speed(points([-1, 50, 1000]), 0.0)
    at = sound.SPEED_AT_DEPTH[formula]
    assert found.tolist() == [float(at(35, 20, 0)), float(at(35.5, 13, 50)), float(at(36, 6, 1000))]


def test_sound_speed_may_be_given():
    constant = {"formula": "constant", "value": 1480}
    assert sea(sound_speed=constant).sound_speed(points([0, 50]), 0.0).tolist() == [1480, 1480]
    layers = {"formula": "profile", "depths": [0, 100], "values": [1500, 1480]}
    assert sea(sound_speed=layers).sound_speed(points([0, 50, 900]), 0.0).tolist() == [1500, 1490, 1480]


def test_usual_water_has_the_sound_speed_of_15_degrees_and_35_grams():
    assert sea().sound_speed([0, 0, 0], 0.0) == pytest.approx(float(sound.unesco(35, 15, 0)))


def test_absorption_follows_formula_acidity_and_place():
    place = points([0, 100])
    usual = sea().absorption_db_per_km(30e3, place, 0.0)
    assert usual == pytest.approx(sound.francois_garrison(30e3, 35, 15, [0, 100]))
    sour = sea(absorption={"ph": 7.7}).absorption_db_per_km(1e3, place, 0.0)
    assert sour == pytest.approx(sound.francois_garrison(1e3, 35, 15, [0, 100], 7.7))
    assert (sour < sea().absorption_db_per_km(1e3, place, 0.0)).all()
    short = sea(absorption={"formula": "ainslie_mccolm"}).absorption_db_per_km(30e3, place, 0.0)
    assert short == pytest.approx(sound.ainslie_mccolm(30e3, 35, 15, [0, 100]))
    plain = sea(absorption={"formula": "thorp"}).absorption_db_per_km(30e3, place, 0.0)
    assert plain.tolist() == [float(sound.thorp(30e3))] * 2


BAD = {
    "the `profile` determines the density": {"density": 1000, "profile": {}},
    "5 follows 5": {"profile": {"depths": [0, 5, 5], "temperature": [1, 2, 3]}},
    "`temperature` has 3 values for 2 depths": {"profile": {"depths": [0, 5], "temperature": [3, 4, 5]}},
    "`salinity` has 2 values for 1 depths": {"profile": {"salinity": [3, 4]}},
    "less than or equal to 45": {"profile": {"temperature": 300}},
    "greater than or equal to -3": {"profile": {"depths": [0, 9], "temperature": [4, -4]}},
    "greater than or equal to 0": {"profile": {"salinity": -1}},
    "less than or equal to 12000": {"profile": {"depths": [0, 12001], "salinity": [1, 2]}},
    "at least 1 item": {"profile": {"depths": []}},
    "is valid for salinities from 25 to 40, but the profile has 5": {
        "profile": {"salinity": 5},
        "sound_speed": {"formula": "mackenzie"},
    },
    "is valid for salinities from 30 to 40": {"profile": {"salinity": 20}, "sound_speed": {"formula": "del_grosso"}},
    "'constant' needs `value`": {"sound_speed": {"formula": "constant"}},
    "`value` is not used by the formula 'unesco'": {"sound_speed": {"value": 1500}},
    "'profile' needs `values`": {"sound_speed": {"formula": "profile", "depths": [0, 1]}},
    "`values` has 1 values for 2 depths": {"sound_speed": {"formula": "profile", "depths": [0, 1], "values": [1500]}},
    "1 follows 2": {"sound_speed": {"formula": "profile", "depths": [2, 1], "values": [1500, 1501]}},
    "should be 'francois_garrison', 'ainslie_mccolm' or 'thorp'": {"absorption": {"formula": "francois"}},
    "less than or equal to 9": {"absorption": {"ph": 14}},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_water_is_refused_with_a_message(message):
    with pytest.raises(ValueError) as error:
        WaterConfig(**BAD[message])
    assert message in str(error.value)


def test_settings_survive_being_written_and_read():
    scenario = Scenario(water={"profile": BALTIC, "sound_speed": {"formula": "constant", "value": 1450}})
    again = Scenario.load(parse_document(scenario.dump(), "again"))
    assert again.water == scenario.water
    usual = Scenario()
    assert Scenario.load(parse_document(usual.dump(), "again")) == usual

"""Light in sea water: Jerlov's classes."""

from __future__ import annotations

import numpy as np
import pytest

from skerry.water import WaterConfig
from skerry.water.optics import OPTICAL_TYPES, optics_of

RED, GREEN, BLUE = range(3)


def test_daylight_attenuates_as_jerlov_measured():
    """Jerlov 1976, table XXVII, at 625, 525 and 450 nm, for the clearest and the darkest of his waters."""
    assert optics_of("I").diffuse_attenuation.tolist() == [0.305, 0.043, 0.019]
    assert optics_of("III").diffuse_attenuation.tolist() == [0.375, 0.116, 0.135]
    assert optics_of("9C").diffuse_attenuation.tolist() == [0.65, 0.78, 1.6]


@pytest.mark.parametrize("optical_type", OPTICAL_TYPES)
def test_absorption_and_scattering_reproduce_the_attenuation_of_daylight(optical_type):
    """K_d² = a² + 0.256 a b (Kirk 1981)."""
    light = optics_of(optical_type)
    fading = np.sqrt(light.absorption**2 + 0.256 * light.absorption * light.scattering)
    assert fading == pytest.approx(light.diffuse_attenuation, rel=1e-12)
    assert (light.attenuation >= light.diffuse_attenuation).all()


@pytest.mark.parametrize("types", [("I", "IA", "IB", "II", "III"), ("1C", "3C", "5C", "7C", "9C")])
@pytest.mark.parametrize("channel", [RED, GREEN, BLUE])
def test_each_class_is_more_turbid_than_the_one_before(types, channel):
    for property_name in ("diffuse_attenuation", "attenuation", "backscatter"):
        values = [getattr(optics_of(name), property_name)[channel] for name in types]
        assert np.all(np.diff(values) > 0)


def test_pure_water_scatters_half_of_it_back_and_particles_hardly_any():
    """Molecules scatter evenly; of Petzold's particles 1.83 % turn back (Mobley 1994, table 3.10)."""
    clear, murky = optics_of("I"), optics_of("9C")
    assert clear.backscatter == pytest.approx(0.5 * clear.scattering, rel=1e-12)
    assert murky.backscatter == pytest.approx(0.0183 * murky.scattering, rel=0.04)
    assert clear.scattering[BLUE] == pytest.approx(0.0045, rel=0.03)  # Morel 1974, at 450 nm


def test_the_ocean_is_blue_and_the_coast_green_and_brown():
    """The colour that fades least: blue in the open sea, green in III to 7C, red in 9C."""
    clearest = {BLUE: ("I", "IA", "IB", "II"), GREEN: ("III", "1C", "3C", "5C", "7C"), RED: ("9C",)}
    for channel, types in clearest.items():
        assert {int(np.argmin(optics_of(name).diffuse_attenuation)) for name in types} == {channel}


def test_pure_sea_water_absorbs_red_as_published():
    """Pope & Fry 1997, Applied Optics 36: 0.2834 /m at 625 nm; class I is within a tenth of it."""
    assert optics_of("I").absorption[RED] == pytest.approx(0.2834, rel=0.1)


def test_the_sea_has_the_optics_of_its_class():
    assert WaterConfig(optical_type="3C").build(9.81).optics is optics_of("3C")
    assert WaterConfig().build(9.81).optics is optics_of("II")


def test_an_unknown_class_is_refused():
    with pytest.raises(ValueError, match="'9C'"):
        WaterConfig(optical_type="4C")  # type: ignore[arg-type]

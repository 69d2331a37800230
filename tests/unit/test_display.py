"""Displays of readings: what they name must be in the reading, and their description has kinds, fields and units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.core.units import unit
from skerry.parts.display import Cloud, Image, Rays, Scalars, SonarLines, check_display
from skerry.parts.sensor import SENSORS


@dataclass(frozen=True)
class ProbeReading:
    time: float = unit("s")
    level: float | None = unit("dB")
    count: int = unit("")
    name: str = unit("")
    velocity: NDArray[np.float64] = unit("m/s")
    pose: Pose = unit()


@pytest.mark.parametrize("kind", SENSORS.kinds())
def test_the_display_of_every_sensor_shows_fields_of_its_reading(kind: str) -> None:
    settings: Any = SENSORS.find(kind).example()
    sensor = settings.build()
    check_display(sensor.reading_type(), settings.display, sensor)


@pytest.mark.parametrize(
    ("display", "message"),
    [
        ([Scalars()], "must be a tuple"),
        ((Scalars,), "not a display kind; did you mean 'Scalars'"),
        (("Image",), "'Image' is not a display kind"),
        ((Scalars(), Image("velocty")), "no field 'velocty', which Image shows; did you mean 'velocity'"),
        ((Image("level"),), "ProbeReading.level is number, but Image shows arrays"),
        ((Scalars(("name",)),), "ProbeReading.name is neither a number nor an array, but Scalars shows numbers"),
        ((Cloud("velocity", "velocity"),), "ProbeReading.velocity is array, but Cloud shows poses"),
        ((Rays("velocity"),), "both `points` and `pose`"),
        ((Rays(),), "object has no `latest_rays`"),
    ],
)
def test_a_wrong_display_is_one_clear_error(display: Any, message: str) -> None:
    with pytest.raises(SkerryError, match=message):
        check_display(ProbeReading, display, object())


def test_scalars_are_all_numbers_and_the_named_vectors_with_their_units() -> None:
    check_display(ProbeReading, (Scalars(vectors=("velocity", "pose.position")),))
    assert Scalars().numbers_of(ProbeReading) == {"level": "dB", "count": ""}
    found = Scalars(("count",), vectors=("velocity", "pose.position")).numbers_of(ProbeReading)
    vectors = {"velocity": "m/s", "pose.position": "m"}
    assert found == {"count": ""} | {f"{name}.{axis}": unit for name, unit in vectors.items() for axis in "xyz"}


def test_a_description_has_the_kind_the_fields_and_their_units() -> None:
    assert SonarLines("velocity", "velocity", "level").describe(ProbeReading) == {
        "kind": "sonar_lines",
        "port": "velocity",
        "starboard": "velocity",
        "bin_size": "level",
        "units": {"velocity": "m/s", "level": "dB"},
    }

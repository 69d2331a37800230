"""Batches of readings: the columns of a batch and its single readings have the same values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.core.units import unit
from skerry.parts.readings import Ragged, Readings, check_reading, shared, units_of


@dataclass(frozen=True, eq=False)
class Ping:
    time: float = unit("s")
    number: int = unit("")
    has_echo: bool = unit("")
    velocity: NDArray[np.float64] = unit("m/s")
    covariance: NDArray[np.float64] = unit("(m/s)²")
    points: NDArray[np.float32] = unit("m")
    names: tuple[str, ...] = unit("")
    speeds: tuple[float, ...] = unit("m/s")
    pose: Pose = unit()

    @property
    def doubled(self) -> float:
        return 2.0 * self.time


COVARIANCE = np.eye(3)


def batch(first: int, count: int, valid: NDArray[np.bool_] | None = None) -> Readings[Ping]:
    numbers = np.arange(first, first + count)
    points = np.zeros((count, 4, 3), np.float32) + numbers[:, None, None]
    motions = np.zeros((count, 7)) + numbers[:, None]
    columns = {
        "time": numbers / 10.0,
        "number": numbers,
        "has_echo": numbers % 2 == 0,
        "velocity": np.stack([numbers, numbers + 0.5, -numbers], -1).astype(float),
        "covariance": shared(COVARIANCE, count),
        "points": Ragged(points, numbers % 5),
        "names": shared(("a", "b"), count),
        "speeds": np.stack([numbers, numbers], -1).astype(float),
        "pose": Readings.poses(motions),
    }
    return Readings(Ping, columns, valid)


def check(readings: Readings[Ping], numbers: list[int]) -> None:
    assert len(readings) == len(numbers)
    for row, number in enumerate(numbers):
        ping = readings[row]
        assert ping is not None
        assert (ping.time, ping.number, ping.has_echo) == (number / 10.0, number, number % 2 == 0)
        assert (type(ping.time), type(ping.number), type(ping.has_echo)) == (float, int, bool)
        assert ping.velocity.tolist() == [number, number + 0.5, -number]
        assert ping.covariance.tolist() == COVARIANCE.tolist()
        assert ping.points.shape == (number % 5, 3)
        assert (ping.points == number).all()
        assert ping.names == ("a", "b")
        assert ping.speeds == (number, number)
        assert ping.pose.position.tolist() == [number] * 3
    assert readings.velocity[:, 0].tolist() == numbers
    assert readings.doubled.tolist() == [number / 5.0 for number in numbers]


def test_a_reading_has_the_values_of_its_row_in_each_column() -> None:
    check(batch(3, 6), list(range(3, 9)))
    check(Readings.of(Ping, list(batch(3, 6))), list(range(3, 9)))  # type: ignore[arg-type]


def test_rows_that_are_taken_or_joined_keep_their_values() -> None:
    check(batch(3, 6).take([4, 0]), [7, 3])
    check(batch(3, 6)[1:3], [4, 5])
    check(batch(3, 6)[-1:], [8])
    joined = Readings.concat([batch(0, 2), batch(10, 3).take([2]), batch(20, 1)])
    check(joined, [0, 1, 12, 20])
    assert joined.covariance.strides[0] == 0  # still stored once
    check(Readings.concat([batch(0, 1), batch(5, 1)]), [0, 5])


def test_views_of_one_array_are_not_taken_for_a_shared_value() -> None:
    values = np.arange(6.0).reshape(2, 3)
    parts = [Readings.of(Pose, [Pose(row, [0, 0, 0, 1])]) for row in values]
    assert Readings.concat(parts).position.tolist() == values.tolist()


def test_a_row_that_is_not_valid_has_no_reading() -> None:
    found = batch(0, 3, np.array([True, False, True]))
    assert [reading is None for reading in found] == [False, True, False]
    joined = Readings.concat([found, Readings.none(Ping, 2), batch(7, 1)])
    assert [None if reading is None else reading.number for reading in joined] == [0, None, 2, None, None, 7]
    assert [reading is None for reading in Readings.of(Ping, [None, found[0]])] == [True, False]
    assert joined.to_dict()["number"].tolist() == [0, 2, 7]
    assert len(Readings.concat([Readings.none(Ping, 1), Readings.none(Ping, 2)])) == 3


def test_an_index_beyond_the_batch_is_an_error() -> None:
    with pytest.raises(IndexError, match="outside this batch of 2 readings"):
        batch(0, 2)[2]
    assert batch(0, 2)[-1].number == 1  # type: ignore[union-attr]


def test_an_unknown_field_is_an_error_with_a_guess() -> None:
    with pytest.raises(AttributeError, match="did you mean 'velocity'"):
        _ = batch(0, 2).velocty


def test_columns_that_do_not_fit_the_reading_are_errors() -> None:
    columns = dict(batch(0, 2).columns)
    with pytest.raises(SkerryError, match="column `time` is missing"):
        Readings(Ping, {name: column for name, column in columns.items() if name != "time"})
    with pytest.raises(SkerryError, match="did you mean 'number'"):
        Readings(Ping, {**columns, "numbr": columns["number"]})
    with pytest.raises(SkerryError, match="`velocity` has 1 rows, but the first column has 2"):
        Readings(Ping, {**columns, "velocity": np.zeros((1, 3))})


def test_units_are_those_of_the_fields() -> None:
    assert units_of(Ping)["velocity"] == "m/s"
    assert units_of(Ping)["pose.position"] == "m"
    assert batch(0, 1).units == units_of(Ping)
    check_reading(Ping)


def test_a_reading_without_time_or_with_a_field_without_unit_is_an_error() -> None:
    @dataclass(frozen=True)
    class Bare:
        time: float = unit("s")
        value: float = 0.0

    @dataclass(frozen=True)
    class NoUnit:
        value: float
        time: float = unit("s")

    @dataclass(frozen=True)
    class NoTime:
        value: float = unit("m")

    @dataclass(frozen=True)
    class Clash:
        time: float = unit("s")
        count: int = unit("")

    with pytest.raises(SkerryError, match=r"Clash\.count: a batch of readings has an attribute of this name"):
        check_reading(Clash)
    for kind, message in ((Bare, "has a default"), (NoUnit, "NoUnit.value has no unit"), (NoTime, "no field `time`")):
        with pytest.raises(SkerryError, match=message):
            check_reading(kind)
    with pytest.raises(SkerryError, match="must be a dataclass"):
        check_reading(int)


def test_a_batch_as_a_table_has_a_column_for_each_number() -> None:
    found = batch(0, 3).to_dict()
    assert found["pose.position"].shape == (3, 3)
    assert [len(points) for points in found["points"]] == [0, 1, 2]
    pandas = pytest.importorskip("pandas")
    frame = batch(0, 3).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["velocity.1"].tolist() == [0.5, 1.5, 2.5]
    assert frame.index.tolist() == [0.0, 0.1, 0.2]


def test_the_text_of_a_batch_names_its_fields_and_units() -> None:
    assert repr(batch(0, 3)).startswith("<Readings: 3 × Ping, 0 s to 0.2 s; time [s], number, has_echo, velocity [m/s]")

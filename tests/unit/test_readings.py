"""Rows of readings: some of them, and several as one, give the same readings and columns as each alone."""

from __future__ import annotations

import numpy as np
import pytest

from skerry.parts.sensor import ReadingColumns, Readings


def rows(first: int, count: int, there: bool = False) -> Readings[tuple[float, float]]:
    values = np.arange(first, first + count, dtype=float)

    def columns() -> ReadingColumns:
        return ReadingColumns(
            {"same": np.eye(3)}, value=values, part=ReadingColumns(twice=np.stack([values, values], -1))
        )

    return Readings(count, lambda k: (values[k], 2 * values[k]), columns, values % 2 == 0 if there else None)


@pytest.mark.parametrize("there", [False, True])
def test_some_of_several_are_those(there: bool) -> None:
    joined = Readings.concat([rows(0, 3, there), rows(10, 3).take([0, 2]), rows(20, 1, there)])
    expected = [0, 1, 2, 10, 12, 20]
    assert len(joined) == 6
    assert [value is None for value in joined] == [there and number == 1 for number in expected]
    assert [value[0] for value in joined if value is not None] == [n for n in expected if not there or n != 1]
    assert joined.columns is not None
    columns = joined.columns()
    assert columns.value.tolist() == expected
    assert columns.part.twice.tolist() == [[number, number] for number in expected]
    assert (columns.same == np.eye(3)).all()


def test_some_of_each_are_chosen_once_for_all() -> None:
    joined = Readings.concat([rows(0, 4).take([1, 3]), rows(10, 4).take([0]), rows(20, 3).take([2, 0])])
    assert [value[0] for value in joined] == [1, 3, 10, 22, 20]
    assert joined.columns is not None
    assert joined.columns().value.tolist() == [1, 3, 10, 22, 20]


def test_rows_without_columns_have_none_when_they_are_joined() -> None:
    joined = Readings.concat([rows(0, 2), Readings(1, lambda k: (7.0, 14.0))])
    assert joined.columns is None
    assert joined[2] == (7.0, 14.0)
    with pytest.raises(IndexError):
        joined[3]

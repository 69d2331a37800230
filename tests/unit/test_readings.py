"""Batches of readings: selected rows and joined batches give the same readings and columns as each alone."""

from __future__ import annotations

import numpy as np
import pytest

from skerry.parts.sensor import ReadingColumns, Readings


def rows(first: int, count: int, valid: bool = False) -> Readings[tuple[float, float]]:
    values = np.arange(first, first + count, dtype=float)

    def columns() -> ReadingColumns:
        return ReadingColumns(
            {"same": np.eye(3)}, value=values, part=ReadingColumns(twice=np.stack([values, values], -1))
        )

    return Readings(count, lambda k: (values[k], 2 * values[k]), columns, values % 2 == 0 if valid else None)


@pytest.mark.parametrize("valid", [False, True])
def test_selected_rows_of_joined_batches_are_the_right_ones(valid: bool) -> None:
    joined = Readings.concat([rows(0, 3, valid), rows(10, 3).take([0, 2]), rows(20, 1, valid)])
    expected = [0, 1, 2, 10, 12, 20]
    assert len(joined) == 6
    assert [value is None for value in joined] == [valid and number == 1 for number in expected]
    assert [value[0] for value in joined if value is not None] == [n for n in expected if not valid or n != 1]
    assert joined.columns is not None
    columns = joined.columns()
    assert columns.value.tolist() == expected
    assert columns.part.twice.tolist() == [[number, number] for number in expected]
    assert (columns.same == np.eye(3)).all()


def test_selections_are_joined_before_rows_are_taken() -> None:
    joined = Readings.concat([rows(0, 4).take([1, 3]), rows(10, 4).take([0]), rows(20, 3).take([2, 0])])
    assert [value[0] for value in joined] == [1, 3, 10, 22, 20]
    assert joined.columns is not None
    assert joined.columns().value.tolist() == [1, 3, 10, 22, 20]


def test_batches_without_columns_have_none_when_joined() -> None:
    joined = Readings.concat([rows(0, 2), Readings(1, lambda k: (7.0, 14.0))])
    assert joined.columns is None
    assert joined[2] == (7.0, 14.0)
    with pytest.raises(IndexError):
        joined[3]

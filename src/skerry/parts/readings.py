"""Batches of readings as columns. The dataclass of a reading is the only schema: each field is one column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints, overload

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.frames import Pose, Twist
from skerry.core.units import UNIT

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, eq=False, slots=True)
class Ragged:
    """Column of arrays that differ in length: row i is `values[i, : counts[i]]`."""

    values: NDArray[Any]  # (n, largest length, …)
    counts: NDArray[np.int64]  # (n,)

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, row: int) -> NDArray[Any]:
        found: NDArray[Any] = self.values[row, : self.counts[row]]
        return found if len(self.counts) == 1 else found.copy()

    @staticmethod
    def of(column: Ragged | NDArray[Any] | Sequence[NDArray[Any]]) -> Ragged:
        """Return a column of arrays as `Ragged`."""
        if isinstance(column, Ragged):
            return column
        if isinstance(column, np.ndarray):
            return Ragged(column, np.full(len(column), column.shape[1]))
        return Ragged.concat([Ragged(row[None], np.array([len(row)])) for row in column])

    def take(self, rows: NDArray[np.intp] | slice) -> Ragged:
        """Return the given rows."""
        return Ragged(self.values[rows], self.counts[rows])

    @staticmethod
    def concat(parts: Sequence[Ragged]) -> Ragged:
        """Return the rows of all parts."""
        longest = max(part.values.shape[1] for part in parts)
        values = [
            part.values
            if part.values.shape[1] == longest
            else np.pad(part.values, [(0, 0), (0, longest - part.values.shape[1]), *[(0, 0)] * (part.values.ndim - 2)])
            for part in parts
        ]
        return Ragged(np.concatenate(values), np.concatenate([part.counts for part in parts]))


def shared(value: Any, count: int) -> Any:
    """Return a column in which all readings have the same value, stored once.

    Args:
        value: Array, number, text or another object.
        count: Number of readings.
    """
    if isinstance(value, np.ndarray):
        return np.broadcast_to(value, (count, *value.shape))
    return [value] * count


def _is_shared(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.ndim > 1 and column.strides[0] == 0


def _address(column: NDArray[Any]) -> Any:
    return column.__array_interface__["data"][0]


class Readings(Sequence[R_co | None], Generic[R_co]):
    """Batch of n readings of one sensor, in the order of time. Each field of the reading is a column of n values.

    `readings.velocity` is the column of the field `velocity`; `readings[i]` is reading i, or None if it is not valid.
    A column is an array (n, …), a `Ragged` for arrays that differ in length, `Readings` for a field that is a
    dataclass, or a sequence of other objects.

    Args:
        kind: Dataclass of a reading.
        columns: Column of each field, by name.
        valid: (n,) mask of the rows with a reading; None if all rows have one.

    Raises:
        SkerryError: The columns do not fit the fields, or differ in length.
    """

    __slots__ = ("_columns", "_count", "kind", "valid")

    def __init__(self, kind: type[R_co], columns: Mapping[str, Any], valid: NDArray[np.bool_] | None = None) -> None:
        plan = _plan(kind)
        if columns.keys() != plan.keys():
            _report_columns(kind, columns)
        count = -1
        for name, column in columns.items():
            if count < 0:
                count = len(column)
            elif len(column) != count:
                raise SkerryError(
                    f"{kind.__name__}: the column `{name}` has {len(column)} rows, but the first column has {count}"
                )
        self.kind = kind
        self.valid = valid
        self._columns = columns
        self._count = count

    @classmethod
    def of(cls, kind: type[R], items: Sequence[R | None]) -> Readings[R]:
        """Return a batch of single readings; None where nothing was measured."""
        found = [item for item in items if item is not None]
        if not found:
            return cls.none(kind, len(items))
        valid = None
        rows: Sequence[R] = found
        if len(found) < len(items):
            valid = np.array([item is not None for item in items])
            rows = [found[0] if item is None else item for item in items]
        columns = {name: _gather(field, [getattr(row, name) for row in rows]) for name, field in _plan(kind).items()}
        return Readings(kind, columns, valid)

    @classmethod
    def none(cls, kind: type[R], count: int) -> Readings[R]:
        """Return a batch of `count` rows in which nothing was measured."""
        empty = [None] * count
        return Readings(kind, dict.fromkeys(_plan(kind), empty), np.zeros(count, np.bool_))

    @staticmethod
    def poses(motions: NDArray[np.float64]) -> Readings[Pose]:
        """Return the poses of motions (n, ≥ 7): position and quaternion."""
        return Readings(Pose, {"position": motions[:, :3], "orientation": motions[:, 3:7]})

    @staticmethod
    def twists(twists: NDArray[np.float64]) -> Readings[Twist]:
        """Return twists of (n, 6): linear and angular velocity."""
        return Readings(Twist, {"linear": twists[:, :3], "angular": twists[:, 3:]})

    # -------------------------------------------------------------------------------------------- rows

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, row: int) -> R_co | None: ...
    @overload
    def __getitem__(self, row: slice) -> Readings[R_co]: ...
    def __getitem__(self, row: int | slice) -> Any:
        if isinstance(row, slice):
            return self.take(row)
        if not -self._count <= row < self._count:
            raise IndexError(f"index {row} is outside this batch of {self._count} readings")
        if row < 0:
            row += self._count
        if self.valid is not None and not self.valid[row]:
            return None
        columns = self._columns
        return self.kind(*[field.item(columns[name], row) for name, field in _plan(self.kind).items()])

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(self._count))

    def take(self, rows: Sequence[int] | NDArray[Any] | slice) -> Readings[R_co]:
        """Return the readings of the given rows, in that order."""
        index = rows if isinstance(rows, slice) else np.asarray(rows, np.intp)
        valid = None if self.valid is None else self.valid[index]
        return Readings(self.kind, {name: _take(column, index) for name, column in self._columns.items()}, valid)

    @staticmethod
    def concat(parts: Sequence[Readings[R]]) -> Readings[R]:
        """Return the readings of all parts, which must be of the same sensor, as one batch."""
        if len(parts) == 1:
            return parts[0]
        if any(part.valid is not None for part in parts):
            valid = np.concatenate(
                [np.ones(len(part), np.bool_) if part.valid is None else part.valid for part in parts]
            )
            if not valid.any():
                return Readings.none(parts[0].kind, len(valid))
            if any(part.valid is not None and not part.valid.any() for part in parts):  # these have no columns
                return Readings.of(parts[0].kind, [item for part in parts for item in part])
        else:
            valid = None
        columns = {name: _concat([part._columns[name] for part in parts]) for name in parts[0]._columns}
        return Readings(parts[0].kind, columns, valid)

    # -------------------------------------------------------------------------------------------- columns

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        column = self._columns.get(name)
        if column is not None:
            return column
        if isinstance(vars(self.kind).get(name), property):
            return _stack([getattr(item, name) for item in self])
        raise AttributeError(f"{self.kind.__name__} has no field {name!r}; {did_you_mean(name, self._columns)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._columns]

    @property
    def columns(self) -> Mapping[str, Any]:
        """Columns by field name."""
        return self._columns

    @property
    def units(self) -> dict[str, str]:
        """Unit of each field."""
        return units_of(self.kind)

    def to_dict(self) -> dict[str, Any]:
        """Return the columns of the valid readings as plain arrays, by name. Fields of a nested reading are `a.b`."""
        readings = self if self.valid is None else self.take(np.flatnonzero(self.valid))
        found: dict[str, Any] = {}
        for name, column in readings.columns.items():
            if isinstance(column, Readings):
                found |= {f"{name}.{inner}": values for inner, values in column.to_dict().items()}
            else:
                found[name] = column if isinstance(column, np.ndarray) else _objects(column)
        return found

    def to_pandas(self) -> Any:
        """Return the valid readings as a pandas `DataFrame`, indexed by time. A vector `v` has columns `v.0`, `v.1`, ….

        Raises:
            SkerryError: pandas is not installed; `to_dict` needs no pandas.
        """
        try:
            import pandas
        except ImportError:
            raise SkerryError("pandas is not installed; run `pip install pandas`, or use `to_dict()`") from None
        found: dict[str, Any] = {}
        for name, column in self.to_dict().items():
            if column.ndim == 1:
                found[name] = column
            else:
                flat = column.reshape(len(column), -1)
                found |= {f"{name}.{number}": flat[:, number] for number in range(flat.shape[1])}
        frame = pandas.DataFrame(found)
        return frame.set_index("time") if "time" in found else frame

    def __repr__(self) -> str:
        span = ""
        if self._count and "time" in self._columns and (self.valid is None or self.valid.any()):
            times = self.to_dict()["time"]
            span = f", {times[0]:g} s" + (f" to {times[-1]:g} s" if len(times) > 1 else "")
        shown = ", ".join(f"{name} [{unit}]" if unit else name for name, unit in self.units.items())
        return f"<Readings: {self._count} × {self.kind.__name__}{span}; {shown}>"


# ------------------------------------------------------------------------------------------------ fields of a reading


@dataclass(frozen=True, slots=True)
class _FieldPlan:
    """Conversion of one field between its column and its value in a reading."""

    name: str
    has_unit: bool
    unit: str | None
    nested: type[Any] | None  # dataclass of the field
    is_tuple: bool

    def item(self, column: Any, row: int) -> Any:
        """Return the value of a row."""
        if type(column) is np.ndarray and column.dtype != np.object_:
            if column.ndim == 1:
                return column.item(row)
            value = column[row]
            if self.is_tuple:
                return tuple(value.tolist())
            return value if len(column) == 1 or column.strides[0] == 0 else value.copy()
        return column[row]


_PLANS: dict[type[Any], dict[str, _FieldPlan]] = {}


def _plan(kind: type[Any]) -> dict[str, _FieldPlan]:
    found = _PLANS.get(kind)
    if found is None:
        if not is_dataclass(kind):
            raise SkerryError(f"a reading must be a dataclass, but {kind.__name__} is not")
        hints = get_type_hints(kind)
        found = _PLANS[kind] = {field.name: _plan_field(field, hints[field.name]) for field in fields(kind)}
    return found


def _plan_field(field: Field[Any], hint: Any) -> _FieldPlan:
    options = [one for one in get_args(hint) if one is not NoneType] if _is_union(hint) else [hint]
    only = options[0] if len(options) == 1 else None
    nested = only if isinstance(only, type) and is_dataclass(only) else None
    return _FieldPlan(field.name, UNIT in field.metadata, field.metadata.get(UNIT), nested, get_origin(only) is tuple)


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, UnionType)


def units_of(kind: type[Any]) -> dict[str, str]:
    """Return the unit of each field of a reading; the fields of a nested dataclass are `field.inner`."""
    found: dict[str, str] = {}
    for name, field in _plan(kind).items():
        if field.nested is not None:
            found |= {f"{name}.{inner}": unit for inner, unit in units_of(field.nested).items()}
        else:
            found[name] = field.unit or ""
    return found


def check_reading(kind: type[Any]) -> None:
    """Check the dataclass of a reading.

    Raises:
        SkerryError: It is not a dataclass, a field has no unit, has a default value or has the name of an attribute of
            `Readings`, or there is no field `time`.
    """
    plan = _plan(kind)
    if "time" not in plan:
        raise SkerryError(f'{kind.__name__} has no field `time`; add `time: float = unit("s")`')
    for field in fields(kind):
        if hasattr(Readings, field.name):
            raise SkerryError(
                f"{kind.__name__}.{field.name}: a batch of readings has an attribute of this name; choose another one"
            )
        if field.default is not MISSING or field.default_factory is not MISSING:
            raise SkerryError(f"{kind.__name__}.{field.name} has a default value; a sensor must measure every field")
    _check_units(kind, kind.__name__)


def _check_units(kind: type[Any], path: str) -> None:
    for name, field in _plan(kind).items():
        if field.nested is not None:
            _check_units(field.nested, f"{path}.{name}")
        elif not field.has_unit or field.unit is None:
            raise SkerryError(
                f'{path}.{name} has no unit; declare it as `{name}: … = unit("m")`, or with `unit("")` if it has none'
            )


def _report_columns(kind: type[Any], columns: Mapping[str, Any]) -> None:
    known = _plan(kind)
    for name in known:
        if name not in columns:
            raise SkerryError(f"{kind.__name__}: the column `{name}` is missing")
    for name in columns:
        if name not in known:
            raise SkerryError(f"{kind.__name__} has no field {name!r}; {did_you_mean(name, known)}")


# ------------------------------------------------------------------------------------------------ columns


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    """Return a one-dimensional array of objects."""
    found = np.empty(len(values), np.object_)
    for row in range(len(values)):
        found[row] = values[row]
    return found


def _gather(field: _FieldPlan, values: list[Any]) -> Any:
    """Return the column of the values of single readings."""
    if field.nested is not None and all(value is not None for value in values):
        return Readings.of(field.nested, values)
    if field.is_tuple:
        same = all(value == values[0] for value in values[1:])
        return shared(values[0], len(values)) if same else values
    return _stack(values)


def _stack(values: list[Any]) -> Any:
    first = values[0]
    if isinstance(first, np.ndarray):
        if all(value.shape == first.shape for value in values):
            return first[None] if len(values) == 1 else np.concatenate(values).reshape(len(values), *first.shape)
        return values
    return np.array(values) if isinstance(first, bool | int | float | np.generic) else values


def _take(column: Any, rows: NDArray[np.intp] | slice) -> Any:
    if isinstance(rows, slice):  # much faster than an array of rows
        return column.take(rows) if isinstance(column, Ragged | Readings) else column[rows]
    if _is_shared(column):
        return np.broadcast_to(column[0], (len(rows), *column.shape[1:]))
    if isinstance(column, np.ndarray):
        return column[rows]
    if isinstance(column, Ragged | Readings):
        return column.take(rows)
    return [column[row] for row in rows.tolist()]


def _concat(columns: list[Any]) -> Any:
    first = columns[0]
    if any(isinstance(column, Ragged) for column in columns):
        return Ragged.concat([Ragged.of(column) for column in columns])
    if isinstance(first, np.ndarray):
        if _is_shared(first) and all(_is_shared(other) and _address(other) == _address(first) for other in columns):
            return np.broadcast_to(first[0], (sum(map(len, columns)), *first.shape[1:]))
        if all(isinstance(other, np.ndarray) and other.shape[1:] == first.shape[1:] for other in columns):
            return np.concatenate(columns)
    elif isinstance(first, Readings):
        return Readings.concat(columns)
    return [item for column in columns for item in column]

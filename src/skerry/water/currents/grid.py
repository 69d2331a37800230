"""Current from a grid of positions and times, measured or from an ocean model, with linear interpolation.

The file is a NumPy .npz file, or NetCDF (read with the package netCDF4). The axes x, y and the optional axes z and time
may be unevenly spaced; u, v and the optional w have the shape (time, z, y, x). The acceleration is that of the linear
interpolation in time at a fixed position.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Self
from zipfile import BadZipFile

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import Config, ExistingFile
from skerry.core.errors import DependencyError, SkerryError, did_you_mean
from skerry.core.kernels import floats, kernel
from skerry.water.flow import (
    FLOW,
    FLOW_RATE,
    HEIGHT,
    MARK_OUTSIDE,
    NEED_FLOW,
    NEED_FLOW_RATE,
    CurrentConfig,
    FlowPart,
    flow,
    height_in_fluid,
    is_in_volume,
    own_constants,
)

Floats = NDArray[np.float64]

CLAMP: Final = 0
ZERO: Final = 1
RAISE: Final = 2
OUTSIDE: Final = {"clamp": CLAMP, "zero": ZERO, "refuse": RAISE}
SETTINGS: Final = 6  # lengths of the axes time, z, y and x; mode outside the grid; grid time at the start

# ------------------------------------------------------------------------------------------------ interpolation


@kernel
def _locate(axis: Any, n: int, value: float) -> Any:
    """Return the index of the node before a value on an axis, and the fraction to the next; clamped at the ends."""
    if n == 1 or value <= axis[0]:
        return 0, 0.0
    if value >= axis[n - 1]:
        return n - 2, 1.0
    low, high = 0, n - 1
    while high - low > 1:
        middle = (low + high) // 2
        if axis[middle] <= value:
            low = middle
        else:
            high = middle
    return low, (value - axis[low]) / (axis[low + 1] - axis[low])


@kernel
def _is_beyond(axis: Any, n: int, value: float) -> bool:
    """Return whether a value lies beyond the ends of an axis; an axis of one value has no ends."""
    return n > 1 and not (axis[0] <= value <= axis[n - 1])


@kernel
def _interpolate_space(nodes: Any, start: int, size: Any, node: Any, share: Any, k: int) -> float:
    """Return component k at one time, linear along z, y and x; neighbours of weight 0 are not read."""
    _, ny, nx = size
    iz, iy, ix = node
    fz, fy, fx = share
    total = 0.0
    for a in range(2):
        wz = fz if a else 1.0 - fz
        if wz == 0.0:
            continue
        for b in range(2):
            wy = wz * (fy if b else 1.0 - fy)
            if wy == 0.0:
                continue
            row = start + 3 * (((iz + a) * ny + iy + b) * nx + ix) + k
            total += wy * (1.0 - fx) * nodes[row]
            if fx != 0.0:
                total += wy * fx * nodes[row + 3]
    return total


@flow
def interpolate(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    """Native function. Constants: the settings, the axes time, z, y and x, and (u, v, w) of the nodes."""
    if not need & (NEED_FLOW | NEED_FLOW_RATE):
        return
    c = own_constants(table, SETTINGS)
    nt, nz, ny, nx, outside = int(c[0]), int(c[1]), int(c[2]), int(c[3]), int(c[4])
    t = floats(time, 1)[0] + c[5]
    first = 1 + SETTINGS
    times = floats(table + 8 * first, nt)
    levels = floats(table + 8 * (first + nt), nz)
    ys = floats(table + 8 * (first + nt + nz), ny)
    xs = floats(table + 8 * (first + nt + nz + ny), nx)
    block = 3 * nz * ny * nx
    nodes = floats(table + 8 * (first + nt + nz + ny + nx), nt * block)
    late = _is_beyond(times, nt, t)
    it, ft = _locate(times, nt, t)
    x, y, z = floats(points, count), floats(points + 8 * count, count), floats(points + 16 * count, count)
    height = floats(out + 8 * HEIGHT * count, count)
    velocity, change = floats(out + 8 * FLOW * count, 3 * count), floats(out + 8 * FLOW_RATE * count, 3 * count)
    for i in range(count):
        z_fluid = height_in_fluid(need, z[i], height[i])
        if not is_in_volume(table, x[i], y[i], z_fluid):
            continue
        if outside != CLAMP and (
            late or _is_beyond(xs, nx, x[i]) or _is_beyond(ys, ny, y[i]) or _is_beyond(levels, nz, z_fluid)
        ):
            if outside == ZERO:
                continue
            if need & MARK_OUTSIDE:
                for k in range(3):
                    velocity[k * count + i] = np.nan
                continue
        iz, fz = _locate(levels, nz, z_fluid)
        iy, fy = _locate(ys, ny, y[i])
        ix, fx = _locate(xs, nx, x[i])
        for k in range(3):
            now = _interpolate_space(nodes, it * block, (nz, ny, nx), (iz, iy, ix), (fz, fy, fx), k)
            if nt > 1:
                after = _interpolate_space(nodes, (it + 1) * block, (nz, ny, nx), (iz, iy, ix), (fz, fy, fx), k)
                if not late:
                    change[k * count + i] += (after - now) / (times[it + 1] - times[it])
                now += ft * (after - now)
            velocity[k * count + i] += now


# ------------------------------------------------------------------------------------------------ reading

AXES: Final = ("time", "z", "y", "x")
Names = Mapping[str, str]


@dataclass(frozen=True)
class GridData:
    """Content of a grid file: axes (a missing axis has one value) and velocities (time, z, y, x, 3), m/s."""

    axes: dict[str, Floats]
    velocity: Floats


def read_grid(file: Path, names: Names) -> GridData:
    """Read a grid file.

    Raises:
        SkerryError: The file is not a valid grid; the message names the file and the variable.
    """
    found = _read_npz(file, names) if file.suffix.lower() == ".npz" else _read_netcdf(file, names)
    for name, values in found.items():
        if not np.isfinite(values).all():
            index = tuple(int(number) for number in np.argwhere(~np.isfinite(values))[0])
            raise SkerryError(
                f"{file}: {names[name]!r} is not a finite number at index {index}; replace such values first, for "
                "example by 0 on land"
            )
    for name in AXES:
        if name in found and (found[name].ndim != 1 or (np.diff(found[name]) <= 0).any()):
            raise SkerryError(f"{file}: the axis {names[name]!r} must be one-dimensional and increasing")
        if name in {"x", "y"} and found[name].size < 2:
            raise SkerryError(f"{file}: the axis {names[name]!r} needs at least 2 values")
    present = [name for name in AXES if name in found]
    shape = tuple(found[name].size for name in present)
    for name in ("u", "v", "w"):
        if name in found and found[name].shape != shape:
            raise SkerryError(
                f"{file}: {names[name]!r} has the shape {found[name].shape}, but the axes "
                f"({', '.join(names[axis] for axis in present)}) need {shape}"
            )
    axes = {name: found.get(name, np.zeros(1)) for name in AXES}
    w = found.get("w", np.zeros(shape))
    velocity = np.stack([found["u"], found["v"], w], axis=-1).reshape(*(axes[name].size for name in AXES), 3)
    return GridData(axes, velocity)


def _require_variables(file: Path, names: Names, known: list[str]) -> None:
    for key, name in names.items():
        if name not in known and (key in {"x", "y", "u", "v"} or name != key):
            raise SkerryError(f"{file}: has no variable {name!r}; {did_you_mean(name, known)}")


def _numbers(file: Path, name: str, values: Any) -> Floats:
    try:
        return np.array(np.ma.filled(np.ma.asarray(values, np.float64), np.nan), np.float64)
    except (TypeError, ValueError):
        raise SkerryError(f"{file}: {name!r} must contain numbers") from None


def _read_npz(file: Path, names: Names) -> dict[str, Floats]:
    try:
        with file.open("rb") as stream, NpzFile(stream, allow_pickle=False) as data:
            _require_variables(file, names, data.files)
            return {key: _numbers(file, name, data[name]) for key, name in names.items() if name in data.files}
    except (BadZipFile, ValueError, EOFError, OSError) as error:
        raise SkerryError(f"{file}: cannot be read as an .npz file of numbers: {error}") from None


_UNITS: Final[dict[str, Mapping[str, float]]] = {
    "metres": dict.fromkeys(("", "1", "m", "meter", "meters", "metre", "metres"), 1.0),
    "m/s": dict.fromkeys(("", "1", "m/s", "m s-1", "m s^-1", "m s**-1", "meter second-1", "metre second-1"), 1.0),
    "seconds, minutes, hours or days": {
        "": 1.0,
        **dict.fromkeys(("s", "sec", "second", "seconds"), 1.0),
        **dict.fromkeys(("min", "minute", "minutes"), 60.0),
        **dict.fromkeys(("h", "hr", "hour", "hours"), 3600.0),
        **dict.fromkeys(("d", "day", "days"), 86400.0),
    },
}
"""Accepted values of the attribute `units` of a NetCDF variable, with the factor to SI."""


def _unit(file: Path, key: str, name: str, variable: Any) -> float:
    text = str(getattr(variable, "units", "")).strip()
    wanted = "seconds, minutes, hours or days" if key == "time" else "metres" if key in AXES else "m/s"
    unit = text.split(" since ")[0] if key == "time" else text
    if unit not in _UNITS[wanted]:
        raise SkerryError(f"{file}: the unit of {name!r} must be {wanted}, found {text!r}")
    return _UNITS[wanted][unit]


def _read_netcdf(file: Path, names: Names) -> dict[str, Floats]:
    try:
        import netCDF4  # an optional package
    except ImportError:
        raise DependencyError(
            f"{file}: reading NetCDF needs the package netCDF4; install it with `pip install 'skerry[grid]'`"
        ) from None
    try:
        data = netCDF4.Dataset(str(file))
    except OSError as error:
        raise SkerryError(f"{file}: cannot be read as NetCDF: {error.strerror or error}") from None
    with data:
        _require_variables(file, names, list(data.variables))
        variables = {key: data.variables[name] for key, name in names.items() if name in data.variables}
        dimension = {key: variables[key].dimensions for key in AXES if key in variables}
        order = [key for key in AXES if key in variables and set(dimension[key]) <= set(variables["u"].dimensions)]
        found: dict[str, Floats] = {}
        for key, variable in variables.items():
            if key in AXES and key not in order:
                continue  # an axis of other variables
            values = _numbers(file, names[key], variable[...]) * _unit(file, key, names[key], variable)
            if key not in AXES:
                wanted = [name for axis in order for name in dimension[axis]]
                if sorted(variable.dimensions) != sorted(wanted):
                    raise SkerryError(
                        f"{file}: {names[key]!r} has the dimensions ({', '.join(variable.dimensions)}), but the axes "
                        f"({', '.join(names[axis] for axis in order)}) have ({', '.join(wanted)})"
                    )
                values = values.transpose([variable.dimensions.index(name) for name in wanted])
            found[key] = values
        if "z" in order and getattr(variables["z"], "positive", "up") == "down":  # CF conventions 1.11, §4.3
            found["z"] = -found["z"][::-1]
            for key in ("u", "v", "w"):
                if key in found:
                    found[key] = np.flip(found[key], axis=order.index("z"))
    return found


# ------------------------------------------------------------------------------------------------ settings


class GridVariables(Config):
    """Names of the variables in the file; `z`, `time` and `w` are optional."""

    x: str = "x"
    y: str = "y"
    z: str = "z"
    time: str = "time"
    u: str = "u"
    v: str = "v"
    w: str = "w"


class GridCurrent(CurrentConfig):
    """Velocities (ENU, m/s) on a grid: x east, y north, z up in the world, m, and time, s."""

    kind: Literal["grid"] = "grid"
    file: ExistingFile = Field(description=".npz, or NetCDF")
    variables: GridVariables = GridVariables()
    outside: Literal["clamp", "zero", "refuse"] = Field(
        "refuse", description="outside the grid: nearest value (clamp), no current (zero), or an error (refuse)"
    )
    start: float = Field(0.0, description="time on the grid's time axis at the start of the run, s")

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"outside": "clamp"} | settings)

    def build(self, gravity: float) -> FlowPart:
        data = read_grid(self.file, self.variables.model_dump())
        axes = [data.axes[name] for name in AXES]
        self._check_volume(data)
        settings = [*(axis.size for axis in axes), OUTSIDE[self.outside], self.start]
        table = self.table_of(settings, *axes, data.velocity)
        return FlowPart(
            interpolate, table, has_acceleration=data.axes["time"].size > 1, raises_outside=self.outside == "refuse"
        )

    def _check_volume(self, data: GridData) -> None:
        """Raise `SkerryError` if the volume extends beyond the grid."""
        if self.volume is None:
            return
        low, high = self.volume.bounds()
        for name, below, above in zip(("x", "y", "z"), low, high, strict=True):
            axis = data.axes[name]
            slack = 1e-9 * max(abs(below), abs(above), 1.0)  # allowance for rounding of centre ± half size
            if axis.size > 1 and (below < axis[0] - slack or above > axis[-1] + slack):
                raise SkerryError(
                    f"{self.file}: the grid does not cover its volume: along {name} the grid has {axis[0]:g} to "
                    f"{axis[-1]:g} m, the volume {below:g} to {above:g} m; make the volume smaller or the grid larger"
                )

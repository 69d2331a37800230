"""The sea: surface, currents, density and wind, with one native function for physics, sensors and Python."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from skerry.core.config import Config, NonNegative, Positive, config_of
from skerry.core.errors import DependencyError, SkerryError
from skerry.core.kernels import call7, floats, kernel, load_word
from skerry.core.noise import Noise
from skerry.water.column import AbsorptionConfig, Column, ProfileConfig, SoundSpeedConfig, check_sound_speed
from skerry.water.flow import (
    CURRENTS,
    DENSITY,
    FLOW,
    FLOW_RATE,
    HEAD,
    HEIGHT,
    IN_AIR,
    MARK_OUTSIDE,
    NEED_ALL,
    NEED_FLOW,
    NEED_FLOW_RATE,
    NEED_HEAD,
    NEED_SLOPE,
    ROWS,
    SLOPE,
    SURFACES,
    FlowConfig,
    FlowPart,
    flow,
)
from skerry.water.optics import OpticalType, Optics, optics_of
from skerry.water.spectrum import Components
from skerry.water.surfaces.flat import FlatSurface

SEA_HEADER: Final = 40  # bytes of the sea's table before its parts


@kernel
def heights_of(table: int) -> Any:
    """Return the bounds of the surface's height, and the z below which that height does not matter, (3,), m."""
    return floats(table + 16, 3)


@flow
def sea(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    """Native function of the sea: density, surface, and the sum of the currents.

    Table: density, number of parts, bounds of the surface's height (2), z below which that height does not matter, and
    (function, table) of each part. If the density changes with depth, a part after the surface overwrites it.
    """
    first = SLOPE if need & NEED_SLOPE else FLOW
    last = DENSITY if need & (NEED_FLOW | NEED_FLOW_RATE) else FLOW
    rest = floats(out + 8 * first * count, (last - first) * count)
    for i in range(rest.size):
        rest[i] = 0.0
    density = floats(out + 8 * DENSITY * count, count)
    for i in range(count):
        density[i] = floats(table, 1)[0]
    if need & NEED_HEAD:
        head = floats(out + 8 * HEAD * count, count)
        for i in range(count):
            head[i] = np.nan  # a surface with waves writes its own pressure head
    for k in range(load_word(table + 8)):
        part = table + SEA_HEADER + 16 * k
        call7(load_word(part), load_word(part + 8), userdata, time, need, count, points, out)
    if need & NEED_HEAD:
        height, z = floats(out + 8 * HEIGHT * count, count), floats(points + 16 * count, count)
        head = floats(out + 8 * HEAD * count, count)
        for i in range(count):
            if np.isnan(head[i]):
                head[i] = height[i] - z[i]


@flow
def air(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    """Native function of the wind: height of the surface, and the sum of the winds in the rows of the flow.

    The flow is 0 under water. Table: number of parts, (function, table) of each part, the surface first.
    """
    rest = floats(out + 8 * FLOW * count, 6 * count)
    call7(load_word(table + 8), load_word(table + 16), userdata, time, 0, count, points, out)
    for i in range(rest.size):
        rest[i] = 0.0
    for k in range(1, load_word(table)):
        part = table + 8 + 16 * k
        call7(load_word(part), load_word(part + 8), userdata, time, need | IN_AIR, count, points, out)
    z = floats(points + 16 * count, count)
    height = floats(out + 8 * HEIGHT * count, count)
    for i in range(count):
        if z[i] < height[i]:
            for k in range(6):
                rest[k * count + i] = 0.0


@dataclass(frozen=True)
class WaterSample:
    """Sea at points and one time; the leading shape of the arrays is that of the points."""

    height: NDArray[np.float64]  # z of the surface above or below the point, m
    slope: NDArray[np.float64]  # (…, 2), slope of the surface
    velocity: NDArray[np.float64]  # (…, 3), velocity of the water, m/s
    acceleration: NDArray[np.float64]  # (…, 3), m/s²
    density: NDArray[np.float64]  # kg/m³
    pressure: NDArray[np.float64]  # pressure of the water without that of the air, Pa; 0 above the water


DEFAULT_DENSITY = 1025.0  # kg/m³; sea water at about 15 °C and 34 g/kg


class WaterConfig(Config):
    """Settings of the sea and the wind."""

    density: Positive | None = Field(None, description="constant density, kg/m³; 1025 if there is no profile")
    profile: ProfileConfig | None = Field(None, description="temperature and salinity, from which the density follows")
    sound_speed: SoundSpeedConfig = SoundSpeedConfig()
    absorption: AbsorptionConfig = AbsorptionConfig()
    optical_type: OpticalType = Field("II", description="Jerlov class of the water")
    turbidity: NonNegative = Field(1.0, le=1000, description="factor of the light scattering of that class")
    surface: config_of(SURFACES) = FlatSurface()  # type: ignore[valid-type]
    currents: dict[str, config_of(CURRENTS)] = {}  # type: ignore[valid-type]  # noqa: RUF012
    winds: dict[str, config_of(CURRENTS)] = Field(  # type: ignore[valid-type]
        {}, description="winds above the water, by name; same kinds as currents"
    )

    @model_validator(mode="before")
    @classmethod
    def _set_default_density(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and given.get("density") is None and given.get("profile") is None:
            return {**given, "density": DEFAULT_DENSITY}
        return given

    @model_validator(mode="after")
    def _check(self) -> WaterConfig:
        if self.density is not None and self.profile is not None:
            raise ValueError(
                "the `profile` determines the density; remove `density` (set it to null if inherited) or the `profile`"
            )
        check_sound_speed(self.sound_speed, self.profile or ProfileConfig())
        return self

    def with_seed(self, seed: int) -> WaterConfig:
        """Return the same settings with seeds derived from this one where none is given; each current gets its own."""

        def with_own(group: str, parts: Mapping[str, FlowConfig]) -> dict[str, FlowConfig]:
            own = {name: int(Noise(seed, f"{group}/{name}").uniform(0) * 2**52) for name in parts}
            return {name: part.with_seed(own[name]) for name, part in parts.items()}

        update = {"surface": self.surface.with_seed(seed)}
        update |= {"currents": with_own("currents", self.currents), "winds": with_own("winds", self.winds)}
        return self.model_copy(update=update)

    def build(self, gravity: float) -> Water:
        """Build the sea; gravity is in m/s²."""
        return Water(self, gravity)


_CALL = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 7)


def _build_parts(group: str, configs: Mapping[str, FlowConfig], gravity: float) -> dict[str, FlowPart]:
    built: dict[str, FlowPart] = {}
    for name, config in configs.items():
        try:
            built[f"{group}.{name}"] = config.build(gravity)
        except DependencyError as error:
            raise DependencyError(f"water.{group}.{name}: {error}") from None
        except SkerryError as error:
            raise SkerryError(f"water.{group}.{name}: {error}") from None
    return built


class Water:
    """Sea and wind.

    Native laws call the sea with `address` and `table_address`, and the wind with `wind_address` and
    `wind_table_address`.
    """

    def __init__(self, config: WaterConfig, gravity: float) -> None:
        self.config = config
        self._gravity = gravity
        surface: FlowPart = config.surface.build(gravity)
        currents = _build_parts("currents", config.currents, gravity)
        winds = _build_parts("winds", config.winds, gravity)
        self.column = Column(config.profile or ProfileConfig(), config.density, config.sound_speed, config.absorption)
        stratification = self.column.part()
        self._parts = parts = [surface, *([stratification] if stratification else []), *currents.values()]
        self._winds = [surface, *winds.values()]
        self._raising = [
            (name, part, asked)
            for group, asked in ((currents, 0), (winds, IN_AIR))
            for name, part in group.items()
            if part.raises_outside
        ]
        words = [word for part in parts for word in (part.function.address, part.table.ctypes.data)]
        self._table = np.concatenate([np.zeros(SEA_HEADER // 8), np.array(words, np.int64).view(np.float64)])
        self._table[0] = self.density
        self._table.view(np.int64)[1] = len(parts)
        # The density of stratified water depends on the depth below the surface, at any depth.
        self._table[2:5] = *surface.heights, -np.inf if stratification else surface.deep
        self.address: int = sea.address
        self.table_address: int = self._table.ctypes.data
        self.call: Any = _CALL(sea.address)
        words = [word for part in self._winds for word in (part.function.address, part.table.ctypes.data)]
        self._wind_table = np.array([len(self._winds), *words], np.int64)
        self.wind_address: int = air.address
        self.wind_table_address: int = self._wind_table.ctypes.data
        self._call_wind: Any = _CALL(air.address)

    @property
    def waves(self) -> Components | None:
        """Wave components of the surface, or None if it has no waves."""
        return self._parts[0].waves

    @property
    def followed_object(self) -> str | None:
        """Name of the object whose height the surface follows, or None."""
        return self._parts[0].followed_object

    def set_followed_index(self, index: int) -> None:
        """Set the index in userdata of the height of the followed object."""
        self._parts[0].table[1] = index

    @property
    def has_acceleration(self) -> bool:
        """True if the flow has an acceleration anywhere."""
        return any(part.has_acceleration for part in self._parts)

    @property
    def raises_outside(self) -> bool:
        """True if a current or wind raises an error outside its data; see `check_points`."""
        return bool(self._raising)

    @property
    def density(self) -> float:
        """Density of the water at the surface, kg/m³."""
        return float(self.column.densities[0])

    @property
    def optics(self) -> Optics:
        """Optical properties of the water."""
        return optics_of(self.config.optical_type, self.config.turbidity)

    def sample(
        self, points: ArrayLike, time: float, state: NDArray[np.float64] | None = None, need: int = NEED_ALL
    ) -> WaterSample:
        """Return the sea at points.

        Args:
            points: Points in the world, m, shape (…, 3).
            time: Simulated time, s.
            state: The engine's userdata; required if the surface follows an object.
            need: Bits of the requested quantities (`NEED_…` of `skerry.water.flow`).
        """
        shape, rows = _rows(points)
        self._check_followed(state)
        if need & (NEED_FLOW | NEED_FLOW_RATE):
            self._check(rows, time, state, 0)
        out = _query(self.call, self.table_address, rows, time, state, need)
        pressure = self._gravity * self.column.mass_above(out[HEAD]) if need & NEED_HEAD else np.zeros(rows.shape[1])
        return WaterSample(
            out[0].reshape(shape),
            out[SLOPE:FLOW].T.reshape(*shape, 2),
            out[FLOW : FLOW + 3].T.reshape(*shape, 3),
            out[FLOW + 3 : FLOW + 6].T.reshape(*shape, 3),
            out[DENSITY].reshape(shape),
            pressure.reshape(shape),
        )

    def height(self, points: ArrayLike, time: float, state: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the z of the surface above or below points (…, 3), m; as `sample`, in half the time."""
        shape, rows = _rows(points)
        self._check_followed(state)
        return _query(self.call, self.table_address, rows, time, state, 0)[HEIGHT].reshape(shape)

    def _check_followed(self, state: NDArray[np.float64] | None) -> None:
        if self.followed_object is not None and state is None:
            raise SkerryError(
                "the surface follows an object, so its height depends on the world: use `world.sample_water`"
            )

    def pressure_of_head(self, head: ArrayLike) -> NDArray[np.float64]:
        """Return the pressure of a water column of this height (m), Pa."""
        return self._gravity * self.column.mass_above(head)

    def depth(self, points: ArrayLike, time: float, state: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the depth of points (…, 3) below the surface, m; 0 above it."""
        below = self.height(points, time, state) - np.asarray(points, np.float64)[..., 2]
        return np.maximum(below, 0.0)

    def temperature(
        self, points: ArrayLike, time: float, state: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the temperature of the water at points (…, 3), °C."""
        return self.column.temperature(self.depth(points, time, state))

    def salinity(self, points: ArrayLike, time: float, state: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the practical salinity at points (…, 3), g/kg."""
        return self.column.salinity(self.depth(points, time, state))

    def sound_speed(
        self, points: ArrayLike, time: float, state: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the speed of sound at points (…, 3), m/s."""
        return self.column.sound_speed(self.depth(points, time, state))

    def absorption_db_per_km(
        self,
        frequency_hz: ArrayLike,
        points: ArrayLike,
        time: float,
        state: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return the absorption of sound at points (…, 3), dB/km."""
        return self.column.absorption_db_per_km(frequency_hz, self.depth(points, time, state))

    def sample_wind(
        self, points: ArrayLike, time: float, state: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the velocity of the air at points (…, 3) in the world, m/s; 0 under water."""
        shape, rows = _rows(points)
        self._check(rows, time, state, IN_AIR)
        out = _query(self._call_wind, self.wind_table_address, rows, time, state, NEED_FLOW)
        return out[FLOW:FLOW_RATE].T.reshape(*shape, 3)

    def check_points(
        self,
        points: ArrayLike,
        time: float,
        names: Sequence[str] = (),
        state: NDArray[np.float64] | None = None,
    ) -> None:
        """Raise an error for the first point (…, 3) outside the data of a current or wind with `outside: refuse`.

        Args:
            points: Points in the world, m, shape (…, 3).
            time: Simulated time, s.
            names: Names of the points for the error message.
            state: The engine's userdata; required if the surface follows an object.
        """
        rows = _rows(points)[1]
        for in_air in (0, IN_AIR):
            self._check(rows, time, state, in_air, names)

    def _check(
        self,
        rows: NDArray[np.float64],
        time: float,
        state: NDArray[np.float64] | None,
        in_air: int,
        names: Sequence[str] = (),
    ) -> None:
        surface = self._parts[0]
        for part_name, part, asked in self._raising:
            if asked != in_air:
                continue
            out = _query(_CALL(surface.function.address), surface.table.ctypes.data, rows, time, state, 0)
            out[FLOW:DENSITY] = 0.0
            need = NEED_FLOW | MARK_OUTSIDE | in_air
            _query(_CALL(part.function.address), part.table.ctypes.data, rows, time, state, need, out)
            outside = np.isnan(out[FLOW])
            if in_air:
                outside &= rows[2] >= out[HEIGHT]
            if outside.any():
                first = int(np.argmax(outside))
                name = names[first] if names else "the point"
                x, y, z = rows[:, first]
                raise SkerryError(
                    f"{name} at ({x:.6g}, {y:.6g}, {z:.6g}) m and {time:.6g} s is outside the grid of "
                    f"water.{part_name}; use a larger grid, limit the current by a `volume`, or set `outside` to "
                    "`clamp` or `zero`"
                )


def _rows(points: ArrayLike) -> tuple[tuple[int, ...], NDArray[np.float64]]:
    """Return the leading shape of points (…, 3), and their coordinates as three rows."""
    given = np.asarray(points, np.float64)
    if given.shape[-1:] != (3,):
        raise SkerryError(f"points must have 3 coordinates each, found an array of shape {given.shape}")
    return given.shape[:-1], np.ascontiguousarray(given.reshape(-1, 3).T)


def _query(
    call: Any,
    table: int,
    rows: NDArray[np.float64],
    time: float,
    state: NDArray[np.float64] | None,
    need: int,
    out: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Call a native function at points and return the rows of a sample."""
    count = rows.shape[1]
    answer = np.empty((ROWS, count)) if out is None else out
    instant = np.array([time], np.float64)
    userdata = np.zeros(1) if state is None else state
    if count:
        call(table, userdata.ctypes.data, instant.ctypes.data, need, count, rows.ctypes.data, answer.ctypes.data)
    return answer

"""Currents and winds by position and time, compared with the same formulas in numpy; volumes and error messages."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from skerry.core.errors import DependencyError, SkerryError
from skerry.core.meshes import Mesh, box, sphere
from skerry.water import Water, WaterConfig
from skerry.water.flow import CURRENTS, NEED_FLOW, NEED_FLOW_RATE, NEED_SLOPE

Array = NDArray[np.float64]
POINTS = np.random.default_rng(3).uniform([-40, -40, -60], [40, 40, 0], (200, 3))
ROUNDING = {"rtol": 0.0, "atol": 1e-13}  # values are below 10, added up from a few terms


def sea(currents: Mapping[str, Any], surface: Any = None, **settings: Any) -> Water:
    whole = {"currents": currents, "surface": surface or {"kind": "flat"}, **settings}
    return WaterConfig.model_validate(whole).with_seed(7).build(9.81)


def velocity(current: Mapping[str, Any], points: Any = POINTS, time: float = 0.0, **settings: Any) -> Array:
    return sea({"it": current}, **settings).sample(points, time).velocity


def write_obj(mesh: Mesh, path: Path) -> str:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.faces.tolist()]
    path.write_text("\n".join(lines))
    return str(path)


def linear_field(x: Any, y: Any, z: Any, t: Any) -> Array:
    """Return components linear in each coordinate, with all products, which multilinear interpolation reproduces."""
    u = 0.5 + 0.01 * x - 0.02 * y + 0.03 * z + 0.002 * t + 1e-4 * x * y - 2e-5 * y * z * t
    v = -0.2 + 0.02 * x + 0.01 * y - 0.01 * z - 0.001 * t + 3e-6 * x * y * z
    w = 0.1 - 0.001 * x + 0.003 * y + 0.002 * z + 0.0001 * t + 1e-7 * x * y * z * t
    return np.stack(np.broadcast_arrays(u, v, w), axis=-1)


X = np.array([-50.0, -35.0, -1.0, 0.0, 4.0, 18.0, 50.0])
Y = np.array([-45.0, -20.0, 10.0, 45.0])
Z = np.array([-70.0, -30.0, -5.0, 0.0])
T = np.array([0.0, 10.0, 40.0])


def grid_arrays(
    function: Callable[..., Array] = linear_field, z: Array | None = Z, time: Array | None = T
) -> dict[str, Array]:
    axes = {"time": time, "z": z, "y": Y, "x": X}
    there = {name: axis for name, axis in axes.items() if axis is not None}
    mesh = dict(zip(there, np.meshgrid(*there.values(), indexing="ij"), strict=True))
    found = function(mesh["x"], mesh["y"], mesh.get("z", 0.0), mesh.get("time", 0.0))
    return {**there, "u": found[..., 0], "v": found[..., 1], "w": found[..., 2]}


@pytest.fixture
def grid(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Write a grid and return the settings of its current; `changes` replaces or (None) removes arrays."""

    def write(changes: Mapping[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
        arrays = {**grid_arrays(), **(changes or {})}
        file = tmp_path / "grid.npz"
        np.savez(file, **{name: value for name, value in arrays.items() if value is not None})
        return {"kind": "grid", "file": str(file), "outside": "clamp", **settings}

    return write


# ------------------------------------------------------------------------------------------------ kinds


def test_a_profile_is_linear_between_its_depths_and_held_beyond_them() -> None:
    depths, speeds = [2.0, 10.0, 30.0], [[0.5, 0.1, 0.0], [0.2, -0.3, 0.05], [-0.1, 0.0, 0.0]]
    found = velocity({"kind": "profile", "depths": depths, "velocities": speeds})
    expected = [np.interp(-POINTS[:, 2], depths, np.array(speeds)[:, k]) for k in range(3)]
    np.testing.assert_allclose(found, np.transpose(expected), **ROUNDING)


def test_a_profile_of_one_depth_is_the_same_at_all() -> None:
    found = velocity({"kind": "profile", "depths": [5.0], "velocities": [[0.5, 0.1, 0.0]]})
    np.testing.assert_allclose(found, np.tile([0.5, 0.1, 0.0], (200, 1)), **ROUNDING)


def test_a_profile_by_heights_is_the_profile_by_depths_turned_over() -> None:
    down = velocity({"kind": "profile", "depths": [0.0, 20.0], "velocities": [[1, 0, 0], [0, 1, 0]]})
    up = velocity({"kind": "profile", "heights": [-20.0, 0.0], "velocities": [[0, 1, 0], [1, 0, 0]]})
    np.testing.assert_array_equal(down, up)


def test_a_shear_grows_with_every_metre_of_depth() -> None:
    current = {"kind": "shear", "velocity": [0.4, 0, 0], "gradient": [-0.01, 0.02, 0], "reference_depth": 10.0}
    expected = np.array([0.4, 0, 0]) + (-POINTS[:, 2:] - 10.0) * np.array([-0.01, 0.02, 0.0])
    np.testing.assert_allclose(velocity(current), expected, **ROUNDING)


@pytest.mark.parametrize("kind", ["profile", "shear"])
def test_depth_is_measured_from_the_surface_that_is_there(kind: str) -> None:
    """The depth is counted from a level of 3 m, and from a wave, whose height is that of the sample."""
    own = {
        "profile": {"depths": [0.0, 100.0], "velocities": [[0, 0, 0], [1, 0, 0]]},
        "shear": {"velocity": [0, 0, 0], "gradient": [0.01, 0, 0]},
    }[kind]
    current = {"kind": kind, **own}
    level = velocity(current, surface={"kind": "flat", "level": 3.0})[:, 0]
    np.testing.assert_allclose(level, 0.01 * (3.0 - POINTS[:, 2]), **ROUNDING)
    waves = {"kind": "waves", "height": 1.0, "period": 6.0, "heading_deg": 30.0}
    bare, both = (sea(currents, waves).sample(POINTS, 2.0) for currents in ({}, {"it": current}))
    depth = np.maximum(both.height - POINTS[:, 2], 0.0)
    np.testing.assert_allclose((both.velocity - bare.velocity)[:, 0], 0.01 * depth, **ROUNDING)


def test_above_the_surface_the_answer_is_that_of_the_water_right_below_it(grid: Any) -> None:
    currents = [
        {"kind": "shear", "velocity": [0.4, 0, 0], "gradient": [0.1, 0, 0]},
        {"kind": "uniform", "velocity": [1, 2, 3], "volume": {"kind": "box", "center": [0, 0, -5], "size": [9, 9, 10]}},
        grid(outside="zero"),
    ]
    for current in currents:
        high, low = velocity(current, [[1, 2, 7.0], [1, 2, 0.0]])
        assert high.tolist() == low.tolist()
        assert high.any()


@pytest.fixture(scope="module")
def wander() -> Array:
    """Return a Gauss–Markov current at 20 000 times, a tenth of the correlation time apart."""
    settings = {"mean": [0.3, -0.1, 0.0], "sigma": [0.1, 0.05, 0.0], "correlation_time": 50.0}
    water = sea({"it": {"kind": "gauss_markov", **settings, "seed": 5, "harmonics": 64}})
    return np.array([water.sample([0, 0, -5], 5.0 * k).velocity for k in range(20_000)])


def test_a_gauss_markov_current_has_its_mean_deviation_and_correlation(wander: Array) -> None:
    """Autocorrelation exp(−τ/T), over 2000 T.

    The deviation is Σ a²/2 = σ² by construction, so only the finite run and the number of harmonics leave errors: the
    standard error of a mean of 2000 T is σ √(2/2000) = 0.03 σ, and the correlation of N = 64 midpoints errs by less
    than 2 % up to 3 T. The limits are about three times that.
    """
    np.testing.assert_allclose(wander.mean(axis=0), [0.3, -0.1, 0.0], atol=0.01)
    np.testing.assert_allclose(wander.std(axis=0), [0.1, 0.05, 0.0], rtol=0.05, atol=1e-12)
    for axis in range(2):
        x = wander[:, axis] - wander[:, axis].mean()
        for lag in (2, 5, 10, 20, 30):
            assert (x[lag:] * x[:-lag]).mean() / x.var() == pytest.approx(np.exp(-lag / 10), abs=0.06)


def test_the_values_of_a_gauss_markov_current_are_normal(wander: Array) -> None:
    """Shares within 1, 2 and 3 σ: 68.3, 95.4 and 99.7 %; some 1000 independent values leave 1.5 % on the first."""
    x = (wander[:, 0] - 0.3) / 0.1
    for sigmas, share in ((1, 0.683), (2, 0.954), (3, 0.997)):
        assert (np.abs(x) < sigmas).mean() == pytest.approx(share, abs=0.045)


def test_the_axes_of_a_gauss_markov_current_are_independent(wander: Array) -> None:
    """Two sets of 64 random phases: their correlation is of the order of √(1/2N) = 0.09; three times that."""
    assert abs(np.corrcoef(wander[:, 0], wander[:, 1])[0, 1]) < 0.27


def test_the_rate_of_change_of_a_gauss_markov_current_is_its_derivative() -> None:
    """Central differences over 2 ms: error (h²/6) ω³ u with ω up to 0.4 rad/s and rounding 1e-16/h: below 1e-9."""
    water = sea({"it": {"kind": "gauss_markov", "sigma": [0.3, 0.2, 0.1], "correlation_time": 100.0}})
    assert water.has_acceleration
    for t in (0.0, 17.0, 1234.5):
        before, now, after = (water.sample([0, 0, -5], t + h) for h in (-1e-3, 0.0, 1e-3))
        np.testing.assert_allclose(now.acceleration, (after.velocity - before.velocity) / 2e-3, atol=1e-9)


def test_a_gauss_markov_current_is_the_same_for_the_same_seed_and_another_for_another_or_another_name() -> None:
    def at(seed: int, **names: int | None) -> Array:
        own = {"kind": "gauss_markov", "sigma": [0.1, 0.1, 0.1], "correlation_time": 10.0}
        config = {"currents": {name: {**own, "seed": given} for name, given in names.items()}}
        water = WaterConfig.model_validate(config).with_seed(seed).build(9.81)
        return water.sample([0, 0, -1], 3.0).velocity

    assert at(1, tide=None).tolist() == at(1, tide=None).tolist()
    assert at(1, tide=4).tolist() == at(2, tide=4).tolist() == at(2, drift=4).tolist()
    assert at(1, tide=None).tolist() != at(2, tide=None).tolist()
    assert at(1, tide=None).tolist() != at(1, drift=None).tolist()


# ------------------------------------------------------------------------------------------------ grids


@pytest.mark.parametrize("time", [0.0, 3.0, 10.0, 33.3, 40.0])
def test_a_grid_is_exact_for_a_field_that_is_linear_along_each_axis(grid: Any, time: float) -> None:
    """Multilinear interpolation reproduces products of first powers: to rounding, 1e-13 of sums of 16 terms."""
    sample = sea({"it": grid()}).sample(POINTS, time)
    x, y, z = POINTS.T
    np.testing.assert_allclose(sample.velocity, linear_field(x, y, z, time), **ROUNDING)
    rate = linear_field(x, y, z, 1.0) - linear_field(x, y, z, 0.0)
    np.testing.assert_allclose(sample.acceleration, rate, **ROUNDING)


def test_a_grid_agrees_with_an_independent_interpolation_of_any_values(grid: Any) -> None:
    from scipy.interpolate import RegularGridInterpolator

    random = np.random.default_rng(1)
    values = {name: random.normal(size=(3, 4, 4, 7)) for name in "uvw"}
    found = velocity(grid(values), time=12.0)
    at = np.column_stack([np.full(200, 12.0), POINTS[:, ::-1]])
    expected = [RegularGridInterpolator((T, Z, Y, X), values[name])(at) for name in "uvw"]
    np.testing.assert_allclose(found, np.transpose(expected), **ROUNDING)


@pytest.mark.parametrize("without", [("z",), ("time",), ("z", "time"), ("w",)])
def test_depth_time_and_vertical_motion_may_be_left_out_of_a_grid(grid: Any, without: tuple[str, ...]) -> None:
    arrays = grid_arrays(z=None if "z" in without else Z, time=None if "time" in without else T)
    changes = {**arrays, **dict.fromkeys(without)}
    water = sea({"it": grid(changes)})
    sample = water.sample(POINTS, 5.0)
    x, y, z = POINTS.T
    expected = linear_field(x, y, 0.0 if "z" in without else z, 0.0 if "time" in without else 5.0)
    if "w" in without:
        expected[:, 2] = 0.0
    np.testing.assert_allclose(sample.velocity, expected, **ROUNDING)
    assert water.has_acceleration == ("time" not in without)


def test_a_grid_may_name_its_variables_otherwise_and_begin_later(grid: Any) -> None:
    arrays = grid_arrays()
    renamed = {"x": None, "easting": arrays["x"], "u": None, "eastward": arrays["u"]}
    current = grid(renamed, variables={"x": "easting", "u": "eastward"}, start=20.0)
    x, y, z = POINTS.T
    np.testing.assert_allclose(velocity(current, time=5.0), linear_field(x, y, z, 25.0), **ROUNDING)


BEYOND = [[60.0, 0, -10], [0, -50.0, -10], [0, 0, -80.0]]


def test_a_grid_that_clamps_holds_its_last_value(grid: Any) -> None:
    found = sea({"it": grid(outside="clamp")}).sample(BEYOND, 50.0)
    nearest = np.array([[50.0, 0, -10], [0, -45.0, -10], [0, 0, -70.0]]).T
    np.testing.assert_allclose(found.velocity, linear_field(*nearest, 40.0), **ROUNDING)
    np.testing.assert_array_equal(found.acceleration, 0.0)


def test_a_grid_that_is_zero_outside_gives_nothing_there(grid: Any) -> None:
    water = sea({"it": grid(outside="zero")})
    np.testing.assert_array_equal(water.sample(BEYOND, 5.0).velocity, 0.0)
    np.testing.assert_array_equal(water.sample([[0, 0, -10]], 41.0).velocity, 0.0)
    assert water.sample([[0, 0, -10]], 39.0).velocity.any()
    assert not water.raises_outside


def test_a_grid_that_refuses_names_the_point_and_the_current(grid: Any) -> None:
    current = grid(outside="refuse")
    water = sea({"it": current})
    assert water.raises_outside
    for point in BEYOND:
        with pytest.raises(SkerryError, match=r"outside the grid of water.currents.it; use"):
            water.sample(point, 5.0)
    with pytest.raises(SkerryError, match=r"'auv' at \(60, 0, -10\) m and 5 s"):
        water.check_points([[0, 0, -10], BEYOND[0]], 5.0, ["the robot 'rov'", "the robot 'auv'"])
    with pytest.raises(SkerryError, match="and 41 s is outside"):
        water.check_points([[0, 0, -10]], 41.0)
    water.check_points([[0, 0, -10]], 40.0)
    water.sample(BEYOND, 5.0, need=NEED_SLOPE)  # the height of the surface is known everywhere
    limited = {**current, "volume": {"kind": "sphere", "center": [0, 0, -20], "radius": 10}}
    sea({"it": limited}).check_points(BEYOND, 5.0)  # outside its volume there is nothing to ask it


# ------------------------------------------------------------------------------------------------ NetCDF


@pytest.fixture
def netcdf() -> Any:
    return importlib.import_module("netCDF4")


def write_netcdf(netcdf: Any, file: Path, version: str, units: Mapping[str, str], down: bool) -> None:
    arrays = grid_arrays()
    with netcdf.Dataset(str(file), "w", format=version) as data:
        for name in ("time", "z", "y", "x"):
            data.createDimension(name, arrays[name].size)
            variable = data.createVariable(name, "f8", (name,))
            variable[:] = -arrays[name][::-1] if name == "z" and down else arrays[name]
            if name in units:
                variable.units = units[name]
        if down:
            data["z"].positive = "down"
        for name in "uvw":
            values = arrays[name][:, ::-1] if down else arrays[name]
            variable = data.createVariable(name, "f8", ("x", "time", "z", "y"))
            variable[:] = values.transpose(3, 0, 1, 2)
            if name in units:
                variable.units = units[name]


@pytest.mark.parametrize("version", ["NETCDF3_CLASSIC", "NETCDF4"])
@pytest.mark.parametrize("down", [False, True])
def test_a_grid_is_read_from_netcdf_in_any_order_of_its_dimensions(
    netcdf: Any, tmp_path: Path, version: str, down: bool
) -> None:
    write_netcdf(netcdf, tmp_path / "g.nc", version, {"x": "m", "u": "m s-1", "time": "s"}, down)
    x, y, z = POINTS.T
    found = velocity({"kind": "grid", "file": str(tmp_path / "g.nc")}, time=5.0)
    np.testing.assert_allclose(found, linear_field(x, y, z, 5.0), **ROUNDING)


def test_hours_of_netcdf_are_hours(netcdf: Any, tmp_path: Path) -> None:
    write_netcdf(netcdf, tmp_path / "g.nc", "NETCDF4", {"time": "hours since 2020-01-01 00:00:00"}, False)
    x, y, z = POINTS.T
    found = velocity({"kind": "grid", "file": str(tmp_path / "g.nc"), "start": 3600.0}, time=1800.0)
    np.testing.assert_allclose(found, linear_field(x, y, z, 1.5), **ROUNDING)


@pytest.mark.parametrize("units, problem", [({"x": "degrees_east"}, "must be metres"), ({"u": "knots"}, "must be m/s")])
def test_other_units_of_netcdf_are_refused(netcdf: Any, tmp_path: Path, units: Mapping[str, str], problem: str) -> None:
    write_netcdf(netcdf, tmp_path / "g.nc", "NETCDF4", units, False)
    with pytest.raises(SkerryError, match=problem):
        velocity({"kind": "grid", "file": str(tmp_path / "g.nc")})


def test_a_file_that_is_no_netcdf_is_an_error(netcdf: Any, tmp_path: Path) -> None:
    (tmp_path / "g.nc").write_text("no grid")
    with pytest.raises(SkerryError, match=r"water.currents.it: .*g\.nc: cannot be read as NetCDF"):
        velocity({"kind": "grid", "file": str(tmp_path / "g.nc")})


def test_without_its_package_netcdf_is_an_error_that_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "netCDF4", None)
    (tmp_path / "g.nc").write_text("")
    with pytest.raises(DependencyError, match=r"pip install 'skerry\[grid\]'"):
        velocity({"kind": "grid", "file": str(tmp_path / "g.nc")})


# ------------------------------------------------------------------------------------------------ volumes


def in_box(p: Array) -> Array:
    c, s = np.cos(np.radians(30.0)), np.sin(np.radians(30.0))
    dx, dy, dz = (p - [5, -3, -20]).T
    return (np.abs(c * dx + s * dy) <= 20) & (np.abs(c * dy - s * dx) <= 10) & (np.abs(dz) <= 15)


VOLUMES: dict[str, tuple[dict[str, Any], Callable[[Array], Array]]] = {
    "box": ({"center": [5, -3, -20], "size": [40, 20, 30], "yaw_deg": 30.0}, in_box),
    "sphere": ({"center": [5, -3, -20], "radius": 18}, lambda p: np.linalg.norm(p - [5, -3, -20], axis=1) <= 18),
    "cylinder": (
        {"center": [5, -3, -20], "radius": 18, "height": 30},
        lambda p: (np.hypot(p[:, 0] - 5, p[:, 1] + 3) <= 18) & (np.abs(p[:, 2] + 20) <= 15),
    ),
}


@pytest.mark.parametrize("shape", VOLUMES)
def test_a_current_ends_at_its_volume(shape: str) -> None:
    settings, contains = VOLUMES[shape]
    found = velocity({"kind": "uniform", "velocity": [1, 2, 3], "volume": {"kind": shape, **settings}})
    inside = contains(POINTS)
    assert 5 < inside.sum() < 150
    np.testing.assert_array_equal(found, inside[:, None] * np.array([1.0, 2.0, 3.0]))


def test_a_current_ends_at_a_closed_mesh(tmp_path: Path) -> None:
    """A ball of flat faces: inside its faces for sure within 0.95 of the radius, outside beyond it."""
    mesh = write_obj(sphere(2.0, 32), tmp_path / "ball.obj")
    volume = {"kind": "mesh", "file": mesh, "position": [5, -3, -20], "scale": 10.0}
    found = velocity({"kind": "uniform", "velocity": [1, 0, 0], "volume": volume})[:, 0]
    distance = np.linalg.norm(POINTS - [5, -3, -20], axis=1)
    assert (found[distance < 19.0] == 1.0).all()
    assert (found[distance > 20.0] == 0.0).all()
    assert (distance < 19.0).sum() > 5


def test_points_above_edges_of_a_mesh_are_inside_too(tmp_path: Path) -> None:
    """An upward ray from directly below an edge must count exactly one of the two faces."""
    volume = {"kind": "mesh", "file": write_obj(box([2, 2, 2]), tmp_path / "box.obj"), "position": [0, 0, -5]}
    line = np.linspace(-0.9, 0.9, 19)
    points = np.stack(np.meshgrid(line, line, [-5.5, -5.0, -4.5]), axis=-1)
    found = velocity({"kind": "uniform", "velocity": [1, 0, 0], "volume": volume}, points)
    assert (found[..., 0] == 1.0).all()


def test_an_open_mesh_is_no_volume(tmp_path: Path) -> None:
    whole = box([2, 2, 2])
    path = write_obj(Mesh(whole.vertices, whole.faces[1:]), tmp_path / "open.obj")
    with pytest.raises(SkerryError, match=r"water.currents.it: .*open\.obj.*open"):
        velocity({"kind": "uniform", "velocity": [1, 0, 0], "volume": {"kind": "mesh", "file": path}})


def every_kind(grid: Any) -> dict[str, dict[str, Any]]:
    return {
        "uniform": {"kind": "uniform", "velocity": [0.3, -0.2, 0.1]},
        "profile": {"kind": "profile", "depths": [0, 50], "velocities": [[1, 0, 0], [0, 1, 0.5]]},
        "shear": {"kind": "shear", "velocity": [0.1, 0.2, 0.0], "gradient": [0.01, 0, 0]},
        "gauss_markov": {"kind": "gauss_markov", "sigma": [0.1, 0.2, 0.3], "correlation_time": 20},
        "grid": grid(),
    }


def test_every_kind_ends_at_its_volume_and_overlapping_ones_add_up(grid: Any) -> None:
    """Both currents are added where cylinder and sphere overlap, in velocity and acceleration."""
    kinds = every_kind(grid)
    assert sorted(kinds) == CURRENTS.kinds()
    shapes = [VOLUMES["sphere"], VOLUMES["cylinder"]]
    total, rate = np.zeros((200, 3)), np.zeros((200, 3))
    limited: dict[str, Any] = {}
    for number, (name, current) in enumerate(kinds.items()):
        shape = ("sphere", "cylinder")[number % 2]
        alone = sea({name: current}).sample(POINTS, 4.0)
        inside = shapes[number % 2][1](POINTS)[:, None]
        total += inside * alone.velocity
        rate += inside * alone.acceleration
        limited[name] = {**current, "volume": {"kind": shape, **shapes[number % 2][0]}}
    found = sea(limited).sample(POINTS, 4.0)
    np.testing.assert_allclose(found.velocity, total, **ROUNDING)
    np.testing.assert_allclose(found.acceleration, rate, **ROUNDING)


def test_a_requested_quantity_does_not_depend_on_other_requests(grid: Any) -> None:
    water = sea(every_kind(grid))
    whole = water.sample(POINTS, 4.0)
    assert water.sample(POINTS, 4.0, need=NEED_FLOW).velocity.tolist() == whole.velocity.tolist()
    assert water.sample(POINTS, 4.0, need=NEED_FLOW_RATE).acceleration.tolist() == whole.acceleration.tolist()
    one_by_one = [water.sample(point, 4.0).velocity.tolist() for point in POINTS[:20]]
    assert one_by_one == whole.velocity[:20].tolist()


# ------------------------------------------------------------------------------------------------ wind


def test_every_kind_is_a_wind_above_the_water_and_nothing_below(grid: Any) -> None:
    """At heights of 0 to 60 m the same formulas hold, with depth = −height."""
    water = WaterConfig.model_validate({"winds": every_kind(grid)}).with_seed(7).build(9.81)
    high = POINTS * [1, 1, -1]
    assert (water.sample_wind(POINTS, 4.0) == 0.0).all()
    assert (water.sample(high, 4.0).velocity == 0.0).all()
    found = water.sample_wind(high, 4.0)
    x, y, z = high.T
    wander = {"winds": {"gauss_markov": every_kind(grid)["gauss_markov"]}}
    expected = WaterConfig.model_validate(wander).with_seed(7).build(9.81).sample_wind(high, 4.0)
    expected += np.array([0.3, -0.2, 0.1]) + np.array([1.0, 0.0, 0.0])
    expected += np.array([0.1, 0.2, 0.0]) - z[:, None] * np.array([0.01, 0, 0])
    expected += linear_field(x, y, 0.0, 4.0)  # the grid ends at z = 0 and is held
    np.testing.assert_allclose(found, expected, **ROUNDING)


def test_a_wind_begins_at_the_surface_that_is_there() -> None:
    waves = {"kind": "waves", "height": 2.0, "period": 8.0, "heading_deg": 0.0}
    water = sea({}, waves, winds={"it": {"kind": "uniform", "velocity": [3, 0, 0]}})
    points = np.random.default_rng(0).uniform([-99, -99, -1], [99, 99, 1], (500, 3))
    above = points[:, 2] >= water.sample(points, 5.0).height
    assert 100 < above.sum() < 400
    np.testing.assert_array_equal(water.sample_wind(points, 5.0)[:, 0], 3.0 * above)


def test_a_wind_on_a_grid_refuses_only_what_is_above_the_water(grid: Any) -> None:
    current = grid({"z": [0.0, 10.0, 20.0, 30.0]}, outside="refuse")
    water = sea({}, winds={"it": current})
    water.check_points([[99, 0, -1], [0, 0, 5]], 1.0)
    water.sample([99, 0, 5], 1.0)  # a question about the water
    with pytest.raises(SkerryError, match=r"water\.winds\.it"):
        water.sample_wind([0, 0, 40], 1.0)


# ------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    "current, problem",
    [
        ({"kind": "profile", "depths": [0, 5, 5], "velocities": [[0, 0, 0]] * 3}, "must be increasing"),
        ({"kind": "profile", "depths": [5, 0], "velocities": [[0, 0, 0]] * 2}, "must be increasing"),
        ({"kind": "profile", "depths": [0, 5], "velocities": [[0, 0, 0]]}, "as many depths or heights as velocities"),
        ({"kind": "profile", "velocities": [[0, 0, 0]]}, "either `depths` or `heights`"),
        ({"kind": "profile", "depths": [0], "heights": [0], "velocities": [[0, 0, 0]]}, "either `depths` or"),
        ({"kind": "profile", "depths": [0], "velocities": [[0, 0, float("nan")]]}, "finite"),
        ({"kind": "profile", "depths": [], "velocities": []}, "at least 1"),
        ({"kind": "shear", "velocity": [0, 0, 0]}, "gradient"),
        ({"kind": "gauss_markov", "sigma": [-0.1, 0, 0], "correlation_time": 1}, "greater than or equal to 0"),
        ({"kind": "gauss_markov", "sigma": [0.1, 0, 0], "correlation_time": 0}, "greater than 0"),
        ({"kind": "gauss_markov", "sigma": [0.1, 0, 0], "correlation_time": 1, "harmonics": 3}, "equal to 4"),
        ({"kind": "grid", "file": "nowhere.npz"}, "there is no file"),
        ({"kind": "uniform", "velocity": [0, 0, 0], "volume": {"kind": "cone"}}, "cone"),
        (
            {"kind": "uniform", "velocity": [0, 0, 0], "volume": {"kind": "sphere", "center": [0, 0, 0], "radius": 0}},
            "greater than 0",
        ),
    ],
)
def test_bad_settings_are_refused_with_a_message(current: dict[str, Any], problem: str) -> None:
    for group in ("currents", "winds"):
        with pytest.raises(ValidationError, match=problem):
            WaterConfig.model_validate({group: {"it": current}})


def with_hole(name: str) -> dict[str, Array]:
    changed = grid_arrays()[name].copy()
    changed.flat[5] = np.nan if changed.ndim > 1 else np.inf
    return {name: changed}


@pytest.mark.parametrize(
    "changes, problem",
    [
        ({"x": X[::-1]}, "'x' must be one-dimensional and increasing"),
        ({"time": np.array([0.0, 5.0, 5.0])}, "'time' must be one-dimensional and increasing"),
        ({"y": np.zeros((4, 2))}, "'y' must be one-dimensional"),
        ({"x": np.array([1.0])}, "'x' needs at least 2"),
        ({"u": np.zeros((3, 4, 4, 6))}, r"'u' has the shape \(3, 4, 4, 6\), but the axes .*\(3, 4, 4, 7\)"),
        ({"z": None}, r"'u' has the shape .* but the axes \(time, y, x\)"),
        ({"w": np.zeros((4, 4, 7))}, "'w' has the shape"),
        (with_hole("u"), r"'u' is not a finite number at index \(0, 0, 0, 5\)"),
        (with_hole("x"), r"'x' is not a finite number at index \(5,\)"),
        ({"v": None}, "has no variable 'v'"),
        ({"u": np.full((3, 4, 4, 7), "fast")}, "'u' must contain numbers"),
    ],
)
def test_a_bad_grid_is_refused_with_a_message(grid: Any, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(SkerryError, match=rf"water.currents.it: .*grid\.npz: .*{problem}"):
        velocity(grid(changes))


def test_a_variable_that_is_named_must_be_there(grid: Any) -> None:
    with pytest.raises(SkerryError, match="has no variable 'depth'"):
        velocity(grid(variables={"z": "depth"}))


def test_a_file_that_is_no_grid_is_refused(tmp_path: Path) -> None:
    (tmp_path / "grid.npz").write_bytes(b"PK\x03\x04 no more")
    with pytest.raises(SkerryError, match=r"grid\.npz: cannot be read"):
        velocity({"kind": "grid", "file": str(tmp_path / "grid.npz")})


@pytest.mark.parametrize(
    "axis, center, size", [("x", [10, 0, -30], 81), ("y", [0, 10, -30], 71), ("z", [0, 0, -60], 21)]
)
def test_a_grid_must_cover_its_volume(grid: Any, axis: str, center: list[float], size: float) -> None:
    sizes = [size if name == axis else 1 for name in "xyz"]
    with pytest.raises(SkerryError, match=rf"does not cover its volume: along {axis} "):
        velocity(grid(volume={"kind": "box", "center": center, "size": sizes}))
    velocity(grid(volume={"kind": "box", "center": center, "size": [s - 1 if s == size else 1 for s in sizes]}))


def test_a_grid_that_ends_exactly_at_its_box_covers_it(grid: Any) -> None:
    velocity(grid(volume={"kind": "box", "center": [0, 0, -35], "size": [100, 90, 70]}))

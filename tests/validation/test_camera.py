"""Images against closed forms: projection, depth, and light in air and water."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from skerry.core.frames import OPTICAL_IN_BODY, Pose, multiply, rpy_to_quaternion
from skerry.rays.lens import Lens
from skerry.rays.light import REFRACTION
from skerry.rays.renderer import Conditions, RenderedImage, Renderer, linear_light
from skerry.rays.sea_view import SeaView
from skerry.water.daylight import Daylight, SkyConfig
from skerry.water.optics import Optics, optics_of

Load = Callable[..., Any]
OVERCAST = {"cloud": 1.0}


def lens(width: int = 161, height: int = 121, fov_deg: float = 60.0, **more: Any) -> Lens:
    f = 0.5 * height / np.tan(np.radians(0.5 * fov_deg))
    return Lens(width, height, f, f, (width - 1) / 2, (height - 1) / 2, **more)


def camera_at(x: float, y: float, z: float, pitch_deg: float = 0.0, yaw_deg: float = 0.0) -> Pose:
    """Return the optical pose of a camera that points along x at zero angles; a positive pitch points down."""
    turn = rpy_to_quaternion(np.radians([0.0, pitch_deg, yaw_deg]))
    return Pose(np.array([x, y, z], np.float64), multiply(turn, OPTICAL_IN_BODY))


def body_at(shape: dict[str, Any], place: tuple[float, float, float], **more: Any) -> dict[str, Any]:
    return {"geometry": shape, "pose": {"position": list(place)}, "colour": [1, 1, 1], **more}


def sphere(radius: float) -> dict[str, Any]:
    return {"kind": "sphere", "radius": radius}


def box(*size: float) -> dict[str, Any]:
    return {"kind": "box", "size": list(size)}


def render(
    world: Any,
    pose: Pose,
    through: Lens | None = None,
    sky: dict[str, Any] | None = None,
    optics: Optics | None = None,
    threads: int = 1,
    port: float = 0.0,
) -> RenderedImage:
    conditions = Conditions(SkyConfig(**(sky or {})).build(), optics or optics_of("I"), SeaView.level(0.0))
    return Renderer(through or lens(), port=port).render(world.ray_scene.view(), pose, conditions, threads=threads)


# ------------------------------------------------------------------------------------------------ geometry

POINTS = [(6.0, y, z) for y in (-2.5, -0.7, 1.1, 2.6) for z in (8.4, 9.9, 11.7)]


@pytest.mark.parametrize("distortion", [(0.0, 0.0, 0.0, 0.0, 0.0), (-0.25, 0.06, 0.002, -0.001, 0.0)])
def test_points_appear_where_the_lens_projects_them(load: Load, distortion: tuple[float, ...]) -> None:
    """Small spheres: the centroid of their pixels is at u = fx x' + cx, v = fy y' + cy within half a pixel."""
    through = lens(321, 241, distortion=distortion)
    spheres = {f"ball{i}": body_at(sphere(0.12), place) for i, place in enumerate(POINTS)}
    world = load({"objects": spheres})
    pose = camera_at(0.0, 0.0, 10.0, 4.0, -3.0)
    picture = render(world, pose, through)
    expected = through.project(pose.inverse().transform(np.array(POINTS)))
    names = [body.name for body in world.ray_scene.scene.bodies]
    for i, where in enumerate(expected):
        rows, columns = np.nonzero(picture.bodies == names.index(f"objects/ball{i}"))
        assert len(rows) > 20
        assert np.hypot(columns.mean() - where[0], rows.mean() - where[1]) < 0.5


def test_directions_and_projection_undo_each_other() -> None:
    """Brown and Conrady's distortion has no closed inverse; Newton's method must find it to 0.001 pixel."""
    through = lens(64, 48, 80.0, distortion=(-0.2, 0.05, 0.003, -0.002, -0.004))
    there_and_back = through.project(through.directions())
    u, v = np.meshgrid(np.arange(64), np.arange(48))
    assert np.abs(there_and_back - np.stack((u, v), axis=-1)).max() < 1e-3


def test_depth_is_along_the_optical_axis_and_agrees_with_the_bodies(load: Load) -> None:
    """A wall across the optical axis has one depth; the depth of a sphere follows from its equation."""
    world = load(
        {"objects": {"wall": body_at(box(0.2, 4.0, 3.0), (8.1, 0, 10)), "ball": body_at(sphere(0.5), (5, 0, 10))}}
    )
    through = lens()
    picture = render(world, camera_at(0.0, 0.0, 10.0), through)
    wall, ball = (
        [body.name for body in world.ray_scene.scene.bodies].index(f"objects/{name}") for name in ("wall", "ball")
    )
    np.testing.assert_allclose(picture.depth[picture.bodies == wall], 8.0, rtol=1e-5)
    seen = picture.bodies == ball
    rays = through.directions()[seen]
    along = rays @ [0.0, 0.0, 5.0]
    inside = 0.5**2 - 25.0 + along**2
    deep = inside > 0.05  # away from the rim, where the facets of the mesh matter most
    expected = (along - np.sqrt(np.maximum(inside, 0.0))) * rays[:, 2]
    np.testing.assert_allclose(picture.depth[seen][deep], expected[deep], atol=0.01)
    assert np.isinf(picture.depth[picture.bodies == -1]).all()


def test_the_shadow_lies_opposite_the_sun(load: Load) -> None:
    """A ball 2 m over level ground, the sun 45° high in the south: its shadow lies 2 m to the north."""
    ground = {"kind": "flat", "z": 5.0, "material": "plastic"}
    world = load({"terrain": ground, "objects": {"ball": body_at(sphere(0.4), (0, 0, 7))}})
    through = lens()
    pose = camera_at(0.0, 0.0, 15.0, 90.0)
    sky = {"sun_elevation_deg": 45.0, "sun_heading_deg": 180.0, "cloud": 0.0}
    picture = render(world, pose, through, sky)

    def light_at(x: float, y: float) -> NDArray[np.float32]:
        u, v = np.round(through.project(pose.inverse().transform([x, y, 5.0]))).astype(int)
        return picture.light[v, u]

    daylight = SkyConfig(**sky).build()
    white = linear_light(np.array([0.70, 0.70, 0.70]))
    np.testing.assert_allclose(light_at(0.0, 2.0), white * daylight.ambient, rtol=1e-3)
    for away in ((0.0, 2.6), (0.6, 2.0), (0.0, -2.0), (2.0, 0.0)):
        lit = white * (daylight.ambient + daylight.sun * np.sin(np.radians(45.0)))
        np.testing.assert_allclose(light_at(*away), lit, rtol=1e-3)


# ------------------------------------------------------------------------------------------------ water


def below_surface(daylight: Daylight) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Sun and sky just under level water, by Snell and Fresnel, and the cosine of the sun's angle there."""
    cosine = daylight.sun_direction[2]
    beyond = np.sqrt(1 - (1 - cosine**2) / REFRACTION**2)
    s = (cosine - REFRACTION * beyond) / (cosine + REFRACTION * beyond)
    p = (beyond - REFRACTION * cosine) / (beyond + REFRACTION * cosine)
    return daylight.sun * (1 - (s**2 + p**2) / 2) * cosine / beyond, 0.934 * daylight.ambient, beyond


@pytest.mark.parametrize("kind", ["I", "II", "3C"])
@pytest.mark.parametrize("distance", [0.5, 2.0, 5.0, 12.0])
def test_a_white_wall_under_water_has_the_radiance_of_the_closed_form(load: Load, kind: Any, distance: float) -> None:
    """J exp(−c d) + B∞ (1 − exp(−c d)), B∞ = b E / 4c, level, 4 m down, with the sun behind the wall."""
    depth = 4.0
    optics = optics_of(kind)
    sky = {"sun_heading_deg": 90.0, "cloud": 0.0}
    world = load({"objects": {"wall": body_at(box(0.1, 40.0, 6.0), (distance + 0.05, 0, -depth))}})
    picture = render(world, camera_at(0.0, 0.0, -depth), sky=sky, optics=optics)
    sun, ambient, cosine = below_surface(SkyConfig(**sky).build())
    fading = np.exp(-optics.diffuse_attenuation * depth)
    straight = np.exp(-optics.scattering[1] * (1 - 0.924) / cosine * depth)
    J = 0.55 * fading * (sun * cosine * (1 - straight) + ambient)
    c = optics.attenuation
    veil = optics.scattering * fading * (sun * cosine + ambient) / (4 * c)
    left = np.exp(-c * distance)
    np.testing.assert_allclose(picture.light[60, 80], J * left + veil * (1 - left), rtol=2e-3)


def test_daylight_decreases_with_depth_by_the_diffuse_attenuation(load: Load) -> None:
    """Level white plates, each seen from 1 cm above: E₀ exp(−K_d D) at every depth D."""
    optics = optics_of("II")
    depths = np.array([0.5, 3.0, 10.0])
    plates = {f"plate{i}": body_at(box(1, 1, 0.02), (20.0 * i, 0, -d - 0.01)) for i, d in enumerate(depths)}
    world = load({"objects": plates})
    sun, ambient, cosine = below_surface(SkyConfig().build())
    for i, depth in enumerate(depths):
        seen = render(world, camera_at(20.0 * i + 0.3, 0, 0.01 - depth, 90.0), optics=optics).light[60, 80]
        expected = (sun * cosine + ambient) * np.exp(-optics.diffuse_attenuation * depth)
        np.testing.assert_allclose(seen, expected, rtol=0.01)  # 1 cm of water lies between


def test_turbidity_multiplies_scattering_and_leaves_absorption() -> None:
    """c = a + b and Kirk's K_d² = a² + 0.256 a b."""
    clear, murky = optics_of("IB"), optics_of("IB", 5.0)
    np.testing.assert_allclose(murky.scattering, 5 * clear.scattering)
    np.testing.assert_allclose(murky.absorption, clear.absorption)
    a, b = murky.absorption, murky.scattering
    np.testing.assert_allclose(murky.diffuse_attenuation**2, a**2 + 0.256 * a * b)


def test_snells_window_is_as_wide_as_the_critical_angle(load: Load) -> None:
    """From below, the sky is inside 48.6° from the vertical; outside, the surface mirrors the dark water."""
    world = load({"objects": {"far": body_at(sphere(0.1), (500, 0, -300))}})
    through = Lens(641, 3, 180.0, 180.0, 320.0, 1.0)
    picture = render(world, camera_at(0, 0, -2.0, -90.0), through, OVERCAST)
    bright = picture.light[1, :, 1]
    step = np.abs(np.diff(bright))
    edges = np.sort(np.argsort(step)[-2:]) + 0.5
    angles = np.degrees(np.arctan((edges - 320.0) / 180.0))
    critical = np.degrees(np.arcsin(1 / REFRACTION))
    assert critical == pytest.approx(48.6, abs=0.05)
    np.testing.assert_allclose(angles, [-critical, critical], atol=0.3)  # a pixel is 0.14° wide there
    assert (picture.bodies == -2).all()


def test_still_water_seen_from_straight_above_reflects_two_percent(load: Load) -> None:
    """Fresnel at normal incidence, ((n − 1)/(n + 1))² = 2.04 %, over water that scatters nothing."""
    world = load({"objects": {"far": body_at(sphere(0.1), (500, 0, -300))}})
    clear = optics_of("I", 0.0)
    for sky in (OVERCAST, {"cloud": 0.0, "sun_elevation_deg": 20.0}):
        down = render(world, camera_at(0, 0, 3.0, 90.0), sky=sky, optics=clear).light[60, 80]
        up = render(world, camera_at(0, 0, 3.0, -90.0), sky=sky, optics=clear).light[60, 80]
        np.testing.assert_allclose(down / up, ((REFRACTION - 1) / (REFRACTION + 1)) ** 2, rtol=1e-3)


def test_the_horizon_is_level_with_the_camera(load: Load) -> None:
    """Level water without end has its horizon at the camera's height (the earth is flat here)."""
    world = load({"objects": {"far": body_at(sphere(0.1), (0, 500, -300))}})
    picture = render(world, camera_at(0, 0, 20.0))
    assert (picture.bodies[:60] == -1).all()
    assert (picture.bodies[61:] == -2).all()


def test_a_half_submerged_camera_sees_air_above_and_water_below(load: Load) -> None:
    """Each ray starts at the port, in air or water: 6 m of 9C water hide a wall, air does not.

    The veil of a path that leads down by a share u of its length: (b/4) E / (c + K_d u).
    """
    world = load({"objects": {"wall": body_at(box(0.1, 8, 12), (6, 0, 0))}})
    optics, sky, port = optics_of("9C"), {"sun_heading_deg": 90.0}, 0.05
    through = lens()
    picture = render(world, camera_at(0, 0, 0.0), through, sky, optics, port=port)
    air, water = picture.light[30, 80], picture.light[95, 80]
    daylight = SkyConfig(**sky).build()
    np.testing.assert_allclose(air, 0.55 * daylight.ambient, rtol=1e-3)
    sun, ambient, cosine = below_surface(daylight)
    down = through.directions()[95, 80, 1]
    here = (sun * cosine + ambient) * np.exp(-optics.diffuse_attenuation * port * down)
    veil = optics.scattering / 4 * here / (optics.attenuation + optics.diffuse_attenuation * down)
    np.testing.assert_allclose(water, veil, rtol=1e-3)


def test_refraction_raises_bodies_under_water(load: Load) -> None:
    """Seen at 45° from the air, a ball 3 m down appears where Snell's law bends the ray to it."""
    world = load({"objects": {"ball": body_at(sphere(0.15), (0, 0, -3.0))}})
    through = lens(321, 241)
    into = np.arcsin(np.sin(np.radians(45.0)) / REFRACTION)
    away = 3.0 * np.tan(into) + 4.0  # camera 4 m up, its axis 45° down
    picture = render(world, camera_at(-away, 0, 4.0, 45.0), through)
    rows, columns = np.nonzero(picture.bodies == 0)
    assert len(rows) > 10
    assert np.hypot(rows.mean() - 120, columns.mean() - 160) < 0.7


# ------------------------------------------------------------------------------------------------ repeatability


def test_images_do_not_depend_on_threads_or_on_earlier_images(load: Load) -> None:
    """The bytes are the same with one thread and with many, and with any content of the memory."""
    hills = {"kind": "hills", "amplitude": 2}
    ground = {"kind": "heightfield", "size": [60, 60], "level": -6, "resolution": 1, "function": hills}
    world = load({"seed": 3, "terrain": ground, "objects": {"ball": body_at(sphere(0.5), (5, 0, -2), material="rock")}})
    through = lens(320, 240)
    taken = [render(world, camera_at(0, 0, -2.0, 20.0), through, threads=threads) for threads in (1, 2, 1)]
    for other in taken[1:]:
        for name in ("light", "depth", "bodies", "labels"):
            assert getattr(taken[0], name).tobytes() == getattr(other, name).tobytes()

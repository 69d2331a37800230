"""Display of rays: the latest rays as lines, recent hits as points coloured by height."""

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.world.sampling.ray_trail import rainbow


def swim(**viewer):
    return skerry.load(
        "sam_in_the_bay", overrides={"robots": {"sam": {"overrides": {"sensors": {"dvl": {"viewer": viewer}}}}}}
    )


def test_hits_stay_for_their_lifetime_and_lie_on_the_ground():
    with swim(hits_lifetime=0.45) as world:
        dvl = world.robots["sam"].sensors["dvl"]
        trail = dvl.trail
        assert len(trail.hits(world.time).points) == 0
        for _ in range(10):
            world.advance(0.1)
            assert dvl.reading.bottom_lock
        hits = trail.hits(world.time)
        assert len(hits.points) == 5 * 5
        assert hits.ages.max() < 0.45
        assert hits.points[:, 2] == pytest.approx(world.terrain.height(hits.points[:, :2]), abs=1e-3)


def test_no_more_readings_are_kept_than_the_multiplier_says():
    with swim(hits_lifetime=100, max_particles_multiplier=3, every=2) as world:
        dvl = world.robots["sam"].sensors["dvl"]
        trail = dvl.trail
        for _ in range(10):
            world.advance(0.1)
            dvl.measure_latest()
        assert len(trail.hits(world.time).points) == 3 * 3


def test_hits_of_all_samples_of_a_long_run_are_kept():
    """Compare a world that is read after each reading with one that advances over all of them."""
    kept = []
    for times in (1, 7):
        with swim(hits_lifetime=100) as world:
            trail = world.robots["sam"].sensors["dvl"].trail
            _ = world.robots["sam"].sensors["dvl"].reading
            world.robots["sam"].sensors["dvl"].deliver = lambda ticks, readings: None
            for _ in range(times):
                world.advance_steps(140 // times)
                _ = world.robots["sam"].sensors["dvl"].reading
            hits = trail.hits(world.time)
            kept.append((hits.points.tolist(), hits.ages.tolist()))
    assert kept[0] == kept[1]
    assert len(kept[0][0]) == 8 * 5


def test_rays_begin_at_the_sensor_and_end_where_they_hit():
    with swim() as world:
        dvl = world.robots["sam"].sensors["dvl"]
        trail = dvl.trail
        world.advance(0.1)
        reading = dvl.reading
        rays = trail.rays()
        place = world.robots["sam"].link_pose("dvl_link").position
        assert rays.origin == pytest.approx(place)
        lengths = np.linalg.norm(rays.ends - rays.origin, axis=1)
        assert lengths[:4] == pytest.approx(reading.ranges, abs=0.02)  # the reading has noise
        assert rays.hit.all() and rays.time == reading.time


def test_hits_that_are_not_drawn_are_not_kept():
    with swim(draw_rays=False, draw_hits=False) as world:
        dvl = world.robots["sam"].sensors["dvl"]
        trail = dvl.trail
        world.advance(0.1)
        dvl.measure_latest()
        assert trail.rays() is None and len(trail.hits(world.time).points) == 0


@pytest.mark.parametrize(("low", "high"), [(5.0, -5.0), (1.0, 1.0)])
def test_contradictory_heights_are_refused(low, high):
    with pytest.raises(SkerryError, match=r"viewer: `min_height` \(.* m\) must be less than `max_height`"):
        swim(min_height=low, max_height=high)


def test_the_rainbow_runs_from_violet_to_red():
    colours = rainbow(np.array([0.0, 1 / 3, 5 / 9, 7 / 9, 1.0]))
    assert colours.tolist() == [[128, 0, 255], [0, 255, 255], [0, 255, 0], [255, 255, 0], [255, 0, 0]]


def test_colours_follow_the_heights_of_the_settings_or_are_red():
    with swim(min_height=-100.0, max_height=-99.0) as world:
        dvl = world.robots["sam"].sensors["dvl"]
        trail = dvl.trail
        world.advance(0.1)
        dvl.measure_latest()
        assert (trail.hits(world.time).colours == [255, 0, 0]).all()  # all far above the rainbow
    with swim(use_rainbow=False) as world:
        dvl = world.robots["sam"].sensors["dvl"]
        trail = dvl.trail
        world.advance(0.1)
        dvl.measure_latest()
        assert (trail.hits(world.time).colours == [255, 0, 0]).all()


def test_a_sensor_without_rays_has_nothing_to_show():
    with swim() as world, pytest.raises(SkerryError, match="casts no rays"):
        _ = world.robots["sam"].sensors["imu"].trail


def test_the_load_is_read_out_and_changes_nothing():
    with swim() as world:
        dvl = world.robots["sam"].sensors["dvl"]
        assert dvl.load == 0.0
        world.advance(0.1)
        dvl.measure_latest()
        assert dvl.load > 0.0

"""View of several buffered samples for one robot: the noise-free data that its batch sensors may use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Rate
from skerry.core.frames import Pose
from skerry.core.geo import Projection
from skerry.core.kernels import call7, strict_kernel
from skerry.core.rotations import motion_of_fixed_frame
from skerry.parts.sensor import ContactPoint
from skerry.rays import RayCasterBatch
from skerry.water import Water
from skerry.water.flow import DENSITY, HEAD, HEIGHT, NEED_HEAD, ROWS
from skerry.world.sampling.sample_buffer import DueSamples, EngineSamples, SampleBuffer
from skerry.world.sampling.sample_view import NOW, RobotSampleView

Floats = NDArray[np.float64]


@strict_kernel
def _carry_each(log: Any, rows: Any, body: int, offset: Any, carried: Any) -> None:
    """Compute the motions (n, 13) of a frame on a body at given rows of the log (rows, 2, bodies, 13)."""
    for k in range(rows.size):
        motion_of_fixed_frame(log[rows[k], NOW, body], offset, carried[k])


@strict_kernel
def _sample_each(
    function: int,
    table: int,
    userdata: Any,
    rows: Any,
    times: Any,
    need: int,
    points: Any,
    found: Any,
) -> None:
    """Sample the sea at one point per sample, points (n, 3); `userdata` is the log (rows, states)."""
    for k in range(rows.size):
        state = userdata[rows[k]].ctypes.data
        at, out = points[k].ctypes.data, found[k].ctypes.data
        call7(function, table, state, times[k:].ctypes.data, need, 1, at, out)


@dataclass(frozen=True, eq=False)
class RobotSensorView:
    """`SensorView` of one robot on samples of the buffer; `rate` is that of the sensor."""

    view: RobotSampleView
    buffer: SampleBuffer
    due: DueSamples
    rate: Rate

    def __len__(self) -> int:
        return len(self.due)

    @property
    def ticks(self) -> NDArray[np.int64]:
        return self.due.ticks

    @property
    def times(self) -> Floats:
        return self.due.times

    @property
    def step(self) -> float:
        return self.view.step

    @property
    def gravity(self) -> float:
        return self.view.gravity

    @property
    def water(self) -> Water:
        return self.view.water

    @cached_property
    def rays(self) -> RayCasterBatch:
        return self.buffer.views(self.due.rows, self.view.ray_bit)

    def at(self, row: int) -> RobotSampleView:
        """Return the view of one sample; valid until the next call."""
        self.buffer.select(int(self.ticks[row]))
        return replace(self.view, sample=self.buffer)

    def rows(self, row: int) -> RobotSensorView:
        """Return a view of one sample."""
        return replace(self, due=self.due[row : row + 1])

    @property
    def previous(self) -> RobotSensorView:
        """View of the samples one period earlier."""
        return replace(self, due=self.buffer.previous(self.due, self.rate))

    @property
    def projection(self) -> Projection | None:
        return self.view.projection

    def depth(self, points: Floats) -> Floats:
        return self._sample_sea(points, 0)[:, HEIGHT] - points[:, 2]

    def water_pressure(self, points: Floats) -> tuple[Floats, Floats]:
        found = self._sample_sea(points, NEED_HEAD)
        return self.water.pressure_of_head(found[:, HEAD]), found[:, DENSITY]

    def _sample_sea(self, points: Floats, need: int) -> Floats:
        found, water = np.empty((len(points), ROWS)), self.water
        _sample_each(
            water.address,
            water.table_address,
            self.buffer.engine.sample_log.userdata,
            self.due.rows,
            self.times,
            need,
            np.ascontiguousarray(points),
            found,
        )
        return found

    def motion(self, link: str, offset: Pose | None = None) -> Floats:
        body, pose = self.view.frame(link, offset)
        carried = np.empty((len(self.due.rows), 13))
        _carry_each(self.buffer.engine.sample_log.motions, self.due.rows, body, pose, carried)
        return carried

    @property
    def joints(self) -> tuple[str, ...]:
        return self.view.joints

    def joint_position(self, joint: str) -> Floats:
        return self._joint(joint, 0, self.buffer.engine.sample_log.positions)

    def joint_velocity(self, joint: str) -> Floats:
        return self._joint(joint, 1, self.buffer.engine.sample_log.velocities)

    def _joint(self, joint: str, which: int, log: Floats) -> Floats:
        robot = self.view.robot
        return log[self.due.rows, robot.engine.joint_addresses[robot.joints[joint]][which]]

    @property
    def power(self) -> Floats:
        read, total = EngineSamples(self.buffer.engine, self.due).read, np.zeros(len(self.due))
        for actuator in self.view.robot.actuators.values():
            if (power := actuator.power_from(read)) is not None:
                total += power
        return total

    def contacts(self, link: str | None = None) -> dict[int, list[ContactPoint]]:
        engine, name = self.buffer.engine, self.view.robot.name
        found = {}
        for row in np.flatnonzero(engine.may_have_touched(self.due.rows, name)).tolist():
            contacts = engine.contacts_at_row(int(self.due.rows[row]), int(self.ticks[row]), name)
            if points := self.view.contact_points(contacts, link):
                found[row] = points
        return found

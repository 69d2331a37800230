"""The world: built from a scenario, advanced in steps, saved as snapshots and restored. It uses no sockets."""

from skerry.world.batch import Batch
from skerry.world.build import build_batch, build_world
from skerry.world.robot import Robot
from skerry.world.snapshots import Snapshot
from skerry.world.world import World

__all__ = ["Batch", "Robot", "Snapshot", "World", "build_batch", "build_world"]

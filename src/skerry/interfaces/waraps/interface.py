"""Interface to an MQTT broker of WARA-PS: one agent per robot."""

from __future__ import annotations

import json
import logging
from fractions import Fraction
from functools import partial
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.geo import Projection
from skerry.interfaces.waraps.agent import Agent
from skerry.interfaces.waraps.broker import Broker
from skerry.parts.interface import Inbox, Interface, ReadingBatches
from skerry.world import World

if TYPE_CHECKING:
    from skerry.interfaces.waraps import Waraps

logger = logging.getLogger("skerry")


class WarapsInterface(Interface):
    """Interface that connects all robots of the world to one broker."""

    def __init__(self, config: Waraps) -> None:
        self.config = config
        self.broker = Broker(config.host, config.port, config.user, config.password)
        self.agents: dict[str, Agent] = {}
        self._sent_info = self._sent_sensors = float("-inf")  # wall time, which bounds the traffic of fast runs

    def check(self, world: World) -> None:
        for name in self.config.units:
            if name not in world.robots:
                raise SkerryError(
                    f"interface `waraps`: `units` has no robot {name!r}; {did_you_mean(name, world.robots)}"
                )

    def start(self, world: World, inbox: Inbox) -> None:
        self.check(world)
        self._world, self._inbox = world, inbox
        reference = world.scenario.reference
        self._projection = None if reference is None else Projection(reference)
        if self._projection is None:
            logger.warning("waraps: the scenario has no `reference`, so there are no positions and no tasks")
        rate = Fraction(max(self.config.rate, self.config.sensor_rate)).limit_denominator(1000)
        self._rate = Rate.of(rate, world.scenario.step, faster_ok=True)
        self._add_agents()
        self.broker.start()

    def next_due(self, tick: int) -> int | None:
        return self._rate.next_due(tick)

    def publish(self, readings: ReadingBatches) -> None:
        for topic, payload in self.broker.take():
            self._on_message(topic, payload)
        for agent in self.agents.values():
            agent.update()
        now = monotonic()
        if now - self._sent_sensors >= 0.9 / self.config.sensor_rate:
            self._sent_sensors = now
            for agent in self.agents.values():
                agent.send_sensors()
        if now - self._sent_info >= 0.9 / self.config.rate:
            self._sent_info = now
            for agent in self.agents.values():
                agent.send_info(time())

    def on_idle(self, readings: ReadingBatches) -> None:
        self.publish(readings)

    def world_changed(self) -> None:
        self._add_agents()

    @property
    def status(self) -> str:
        return f"{self.broker.status}, {len(self.agents)} agents"

    def close(self) -> None:
        self.broker.close()

    def _add_agents(self) -> None:
        """Add agents of new robots and remove agents of deleted robots."""
        robots = self._world.robots
        self.agents = {name: agent for name, agent in self.agents.items() if robots.get(name) is agent.robot}
        for name, robot in robots.items():
            if name not in self.agents:
                agent = Agent(self.config, robot, self._projection, self._inbox, partial(self._send, name))
                self.agents[name] = agent
        self._by_topic = {f"{agent.base}/exec/command": agent for agent in self.agents.values() if agent.has_tasks}
        self.broker.subscribe(self._by_topic)

    def _on_message(self, topic: str, payload: bytes) -> None:
        agent = self._by_topic.get(topic)
        if agent is None:
            return
        try:
            agent.on_command(payload)
        except SkerryError as error:
            self.broker.warn_once(f"{agent.robot.name} {error}", f"{agent.robot.name}: {error}; it was dropped")

    def _send(self, robot: str, topic: str, value: Any, must_arrive: bool) -> None:
        try:
            text = json.dumps(value, allow_nan=False)
        except ValueError:
            self.broker.warn_once("nan", f"{topic} contains NaN or infinity and was not sent; the world has diverged")
            return
        self.broker.publish(f"{self.agents[robot].base}/{topic}", text, must_arrive=must_arrive)

"""Scenario files: the schema, and loading of YAML into a checked `Scenario`."""

from skerry.scenario.loading import find_scenario, load_scenario
from skerry.scenario.schema import Scenario

__all__ = ["Scenario", "find_scenario", "load_scenario"]

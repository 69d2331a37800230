"""The bus: topics, services and actions of the simulator, independent of any transport."""

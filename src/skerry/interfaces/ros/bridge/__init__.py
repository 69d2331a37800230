"""The bridge: one class per feature that connects parts of the world to the bus."""

"""Abstract parts: Component, Law, Actuator, Sensor, Readings, Controller, AcousticPart, Observer and Interface."""

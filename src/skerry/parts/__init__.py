"""What a robot or a border is made of, as abstractions only: Component, Law, Actuator, Sensor, Controller, Interface."""

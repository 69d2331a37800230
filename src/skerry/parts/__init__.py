"""What a robot or a border is made of, as abstractions: Component, Law, Actuator, Sensor, AcousticPart and others."""

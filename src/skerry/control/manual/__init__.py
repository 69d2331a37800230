"""Manual driving: keys held by a person, mapped to actuator commands."""

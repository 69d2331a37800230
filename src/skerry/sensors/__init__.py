"""Sensors, one kind per file."""

NOT_KINDS = (
    "echoes",
    "lidar_patterns",
    "ray_sensor",
    "sonar",
)

"""Sensors, one kind per file."""

NOT_KINDS = (
    "lidar_patterns",
    "ray_sensor",
    "sonar",
)

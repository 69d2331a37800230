"""Sensors, one kind per file."""

NOT_KINDS = (
    "echo_rows",
    "echoes",
    "lidar_patterns",
    "lidar_returns",
    "lidar_rows",
    "ray_sensor",
    "sonar",
)

"""Ways to peers of ROS, one kind per file."""

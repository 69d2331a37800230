"""Code shared by actuators: joint drives, motors, shafts and thrust curves."""

"""Code shared by sensors that cast rays: sonar and lidar kernels, beam patterns and base classes."""

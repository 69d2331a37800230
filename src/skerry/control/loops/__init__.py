"""Control loops shared by controllers: PID, allocation, limits, navigation data and setpoints."""

"""What people see in the terminal, one file for a command, so that none waits for what another needs."""

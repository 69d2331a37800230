"""What everything stands on and what imports nothing of ours: settings, time, frames, noise, errors, kernels."""

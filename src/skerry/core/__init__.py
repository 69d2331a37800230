"""Foundations that import no other package of Skerry: settings, time, frames, noise, errors and native kernels."""

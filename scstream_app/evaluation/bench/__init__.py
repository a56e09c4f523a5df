"""Measurements: the same work on other methods, side by side in one run."""

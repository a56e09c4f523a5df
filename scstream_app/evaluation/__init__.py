"""Measurements: scores against a ground truth, and benchmarks beside other methods."""

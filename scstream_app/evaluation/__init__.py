"""Scores against a ground truth, and benchmarks against other methods."""

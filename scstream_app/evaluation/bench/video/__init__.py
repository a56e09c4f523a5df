"""Benchmarks on video."""

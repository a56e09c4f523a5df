"""Benchmarks: speed on video, and scores on streams and data sets, next to clusterers of scikit-learn."""

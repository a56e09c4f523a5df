"""Benchmarks: speed on video and scores on streams, compared with k-means."""

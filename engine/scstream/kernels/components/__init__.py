"""Scores, statistics and marginal likelihoods of points, one kind of cluster per file."""

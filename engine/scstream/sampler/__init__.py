"""The streaming sampler: sweeps, split and merge moves, forgetting, and the genealogy of clusters."""

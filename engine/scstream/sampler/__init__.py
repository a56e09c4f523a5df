"""The streaming sampler: sweeps, split and merge moves, history, forgetting, and the genealogy of clusters."""

"""Run a clip again from a frame on, or merge segments in its result."""

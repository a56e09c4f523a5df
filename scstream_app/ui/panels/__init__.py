"""The docked panels: segments, objects, controls, statistics."""

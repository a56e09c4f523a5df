"""How the time of a step grows."""

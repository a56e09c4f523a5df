"""Compare two runs of the same clip, and keep one of them."""

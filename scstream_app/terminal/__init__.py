"""What the commands have in common: their options, what they say, and how they end."""

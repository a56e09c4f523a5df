"""Tables of the actions, one per menu."""

"""Events of the run as the window shows them: their texts, and which are shown."""

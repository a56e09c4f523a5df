"""User actions: the table of actions with their keys, the actions of panels, mouse gestures."""

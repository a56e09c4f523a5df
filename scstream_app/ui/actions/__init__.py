"""What the user can do: menu actions with their keys, actions of panels, mouse gestures."""

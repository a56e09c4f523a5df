"""The window. Widgets know the document, never the engine."""

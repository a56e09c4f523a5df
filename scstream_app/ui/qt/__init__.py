"""Widgets and threads that Qt itself lacks; nothing here knows about segments."""

"""Formats of the group "Masks and ids": label images, and annotations for other tools."""

"""Bars above the picture: views, legend, zoom, and live mode."""

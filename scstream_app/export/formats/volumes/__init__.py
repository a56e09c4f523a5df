"""Volumes of the group "Tables and volumes": all frames in one array."""

"""The welcome page: sample clips, recent clips and unsaved sessions."""

"""Qt helpers that know nothing about segmentation: widgets, threads, theme and dialogs."""

"""Qt helpers that know nothing about segmentation: widgets, threads, looks, layout and dialogs."""

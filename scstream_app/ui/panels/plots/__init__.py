"""The plots of the statistics dock, a file for each tab."""

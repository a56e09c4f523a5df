"""Plots and tables of the statistics dock, one module per tab."""

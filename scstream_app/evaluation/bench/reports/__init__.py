"""What a benchmark found: its tables and plots, stored, printed, drawn and compared."""

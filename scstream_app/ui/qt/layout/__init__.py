"""Where things go: docks, their widths, rows that become narrow, and windows that fit the screen."""

"""Labels and shares from a table of scores, records of past batches, clusters that may be split or merged."""

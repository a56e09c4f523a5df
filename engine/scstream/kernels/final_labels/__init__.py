"""From the labels by score alone to the final ones: motion, labels that last, pieces that neighbours absorb."""

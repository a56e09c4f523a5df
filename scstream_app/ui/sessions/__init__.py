"""Commands that open, save, recover and close clips and sessions."""

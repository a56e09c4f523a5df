"""One export format a module; `registry` lists them all."""

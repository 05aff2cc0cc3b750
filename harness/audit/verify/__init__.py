"""Does a record, and a run, recompute."""

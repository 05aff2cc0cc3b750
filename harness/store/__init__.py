"""What is kept: one SQLite file a run, its records, calls, usage and manifest."""

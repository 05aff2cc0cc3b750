"""The ladder made from a run's tidy rows."""

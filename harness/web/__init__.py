"""What a browser shows: the offline replay page of a run, and the live pages of `--serve`. Pictures come from the
engine's positions; nothing here plays or judges."""

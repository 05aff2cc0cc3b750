"""Where a model is reached, with which settings, at which price."""

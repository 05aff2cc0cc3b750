"""A command that plays, whole: composed from its config, opened, played and closed."""

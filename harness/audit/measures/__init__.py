"""How entrants play each game, from records alone."""

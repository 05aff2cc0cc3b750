"""The offline replay page and the live pages of --serve; pictures come from the engine."""

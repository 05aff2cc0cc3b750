"""The offline replay page."""

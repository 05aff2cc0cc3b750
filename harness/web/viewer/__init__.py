"""The replay page of an episode or a run: one HTML file, or a folder of them, that needs no server."""

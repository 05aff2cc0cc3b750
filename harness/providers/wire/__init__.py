"""The three wires: how a request is put and an answer read."""

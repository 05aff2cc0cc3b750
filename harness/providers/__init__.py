"""The one door to models: endpoints, wires, failures, the embedded model, the mock server."""

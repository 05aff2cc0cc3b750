"""The document model and its writers."""

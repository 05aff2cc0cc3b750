"""One section a subject."""

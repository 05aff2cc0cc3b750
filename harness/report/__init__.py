"""Everything a person reads: one document model, its writers, one section a subject; computes no number."""

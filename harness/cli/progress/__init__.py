"""What a waiting person sees."""

"""What a provider's failure means."""

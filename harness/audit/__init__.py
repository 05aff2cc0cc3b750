"""What finished records show: does it recompute, how was it played, who stands aside, what are claims worth."""

"""What is ordered: config file, entrants, prompt files, schedule."""

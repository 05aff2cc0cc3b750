"""Two policies on the same blocks: arms, differences, tests, verdict, baseline file."""

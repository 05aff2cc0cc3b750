"""The command line: reads words, calls one function of a room below, prints its value, sets the exit code."""

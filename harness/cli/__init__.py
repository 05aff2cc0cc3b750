"""The command line: the composition root. The only place that names concrete providers and prints results."""

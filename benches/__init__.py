"""Benchmarks: one module each, with a `main()` that prints its figures. `python -m benches [NAME]` runs them."""

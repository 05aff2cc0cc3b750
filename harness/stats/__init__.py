"""Pure arithmetic over arrays: clustered means, power, permutation, betting, multiple tests; knows no frame, name or
file."""

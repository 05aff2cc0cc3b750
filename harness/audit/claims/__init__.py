"""Experiments: what a run finds out by changing one thing and leaving everything else as it is.

Owns the question of Ballast, whether claims are read. `arms` has the alterations, `plan` the episodes, `contrasts` the
tests; `claims`, `signalling` and `listening` look closer; `report` puts the answer together and `report_text` tells it.
"""

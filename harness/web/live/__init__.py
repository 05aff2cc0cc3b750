"""The live pages of `--serve`: what is being played, shown in a browser on this machine, and seats for people."""

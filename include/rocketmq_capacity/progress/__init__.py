"""How far the work is, shown while it runs: as lines, or on a terminal as a live table."""

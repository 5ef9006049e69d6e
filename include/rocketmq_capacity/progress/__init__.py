"""How far the work is, told while it runs: as lines, or on a terminal as a table that moves."""

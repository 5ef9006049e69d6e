"""How a snapshot is taken, and what it says."""

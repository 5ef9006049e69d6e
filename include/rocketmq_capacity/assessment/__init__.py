"""Judges allocations: loads, skew, the strategy in use, the provision status, and findings."""

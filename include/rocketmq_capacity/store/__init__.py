"""The lake: every path, the runs and their keys, and how long runs are kept."""

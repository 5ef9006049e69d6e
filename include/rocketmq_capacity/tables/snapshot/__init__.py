"""The tables that the step `snapshot` writes."""

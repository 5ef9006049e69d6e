"""The tables that the step `assess` writes."""

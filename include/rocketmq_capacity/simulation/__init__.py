"""What-ifs: the scenario file, the changed snapshot, and the effects on every group."""

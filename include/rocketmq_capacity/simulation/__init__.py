"""What-ifs: a scenario file, the snapshot as the scenario leaves it, and what that does to every group."""

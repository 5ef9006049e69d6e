"""Network in: what a cluster is at one moment, as an inventory file and as tables."""

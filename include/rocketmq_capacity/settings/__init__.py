"""What a deployment and its users decide: the policy, its YAML, addresses and folders."""

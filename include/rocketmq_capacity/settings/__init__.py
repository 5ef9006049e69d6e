"""Settings of a deployment and its users: the policy, its YAML, addresses and folders."""

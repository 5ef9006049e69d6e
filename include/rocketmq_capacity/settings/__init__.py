"""What a deployment and its users decide: the policy, the YAML that says so, and where things are."""

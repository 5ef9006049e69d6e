"""Who owns which queue under each strategy, exactly as RocketMQ's own classes decide it."""

"""Who owns which queue under each strategy: row for row what RocketMQ's own classes give."""

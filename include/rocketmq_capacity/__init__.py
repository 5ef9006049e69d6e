"""Plan the consumer capacity of Apache RocketMQ: who reads which queue, what is wrong, what to change."""

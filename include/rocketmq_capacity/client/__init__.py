"""The thin asyncio shell over the protocol: connections, time limits, retries, and a small method for each request."""

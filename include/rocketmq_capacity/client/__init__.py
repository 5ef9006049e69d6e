"""The thin asyncio shell over the protocol: connections, time limits, retries and one small method a request."""

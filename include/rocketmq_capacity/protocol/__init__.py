"""RocketMQ's remoting protocol without any input or output: bytes in, commands out, and back.

Nothing here opens a socket, reads a clock or sleeps, and nothing outside the standard library is imported.
"""

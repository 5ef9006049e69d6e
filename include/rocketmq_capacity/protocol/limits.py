"""What is taken from a peer at most: sizes, depths, digits, counts and lengths, each with its reason.

What is beyond a limit makes the whole answer unreadable, so that it becomes a failure and its subject unknown.
"""

from typing import Final

MAX_FRAME_BYTES: Final = 64 * 2**20
"""Default limit of a frame. Java takes up to 16 MiB (NettyDecoder.FRAME_MAX_LENGTH), and a broker sends larger ones."""
MAX_BODY_BYTES: Final = 64 * 2**20
"""Default limit of a body once it is inflated: that of a frame, as no broker was seen to compress one."""
MAX_DEPTH: Final = 64
"""Default limit of nesting. RocketMQ's deepest body here (307) nests 4 levels; Java reads 2,048."""
MAX_WHOLE: Final = 2**63 - 1
"""The largest whole number: a Java long. Offsets, counts and moments are longs."""
MAX_QUEUES: Final = 65_536
"""The most queues of a topic on a broker, as in an inventory. mqadmin sets at most a few hundred."""
MAX_NAME: Final = 4_096
"""Characters of a name. Topics have at most 127, groups 255 (Validators); client ids are a host, a process and more."""
MAX_TEXT: Final = 65_536
"""Characters of any other text, such as a setting or a filter: Java writes no longer one into a header (writeUTF)."""
MAX_REMARK: Final = 1_000
"""Characters of a peer's own words that are kept. A remark may hold a whole stack trace."""

"""Bodies that arrive compressed with zlib: their first two bytes say so.

Neither JSON nor a properties text begins so: ``x``, then a control character, ``^``, or a byte that is not UTF-8 there.
"""

import zlib
from typing import Final

from rocketmq_capacity.protocol.errors import BodyError
from rocketmq_capacity.protocol.limits import MAX_BODY_BYTES

_DEFLATE_32K: Final = 0x78
_CHECK: Final = 31


def is_compressed(body: bytes) -> bool:
    """Whether the body begins as a zlib stream does (RFC 1950, section 2.2)."""
    return len(body) > 1 and body[0] == _DEFLATE_32K and (body[0] << 8 | body[1]) % _CHECK == 0


def inflate(body: bytes, *, max_body_bytes: int = MAX_BODY_BYTES) -> bytes:
    """The body as it was before compression; a plain body as it is.

    Errors: `BodyError` where the stream is broken or cut, or inflates to more than the limit.
    """
    if not is_compressed(body):
        return body
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(body, max_body_bytes)
    except zlib.error as error:
        raise BodyError(f"a compressed body of {len(body)} bytes is broken: {error}") from None
    if stream.eof:
        return content
    if len(content) >= max_body_bytes:
        raise BodyError(f"a compressed body of {len(body)} bytes holds more than {max_body_bytes} bytes")
    raise BodyError(f"a compressed body is cut after {len(body)} bytes")

"""A token in a file of its own, such as a secret that a container is given."""

from pathlib import Path
from typing import Final

from rocketmq_capacity.errors import BadInput

SHORTEST: Final = 32
LONGEST: Final = 4_096
"""Characters. A short token can be guessed; a long one is no token."""


def read_token(source: str, file: Path) -> bytes:
    """The token, without the end of its line.

    Args:
        source: what names the file, for errors.
        file: where it is.

    Errors: BadInput if it cannot be read or is no token. None of them shows what is in the file.
    """
    try:
        with file.open("rb") as opened:
            token = opened.read(LONGEST + 2).rstrip(b"\r\n")
    except OSError as error:
        raise BadInput(source, "", f"{file} cannot be read: {error.strerror}") from None
    if not (SHORTEST <= len(token) <= LONGEST and all(0x21 <= one <= 0x7E for one in token)):
        expected = f"expected one line of {SHORTEST} to {LONGEST:,} letters, digits and signs without spaces"
        raise BadInput(source, "", f"{file} holds no token; {expected}")
    return token

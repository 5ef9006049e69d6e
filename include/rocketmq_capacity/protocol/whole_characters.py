"""Halves of UTF-16 pairs, which escapes can write and UTF-8 cannot."""


def whole_characters(text: str) -> str:
    """The text; two halves that belong together become their character, and any other half becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

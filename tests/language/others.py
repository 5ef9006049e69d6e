"""The words of libraries and of the system that errors have in them, each with its source."""

import errno
import os
from collections.abc import Iterator
from typing import Final

from pydantic_core._pydantic_core import list_all_errors

PYDANTIC: Final = (
    "missing",
    "invalid_key",
    "greater_than",
    "greater_than_equal",
    "less_than",
    "less_than_equal",
    "multiple_of",
    "finite_number",
    "too_short",
    "too_long",
    "string_type",
    "string_too_short",
    "string_too_long",
    "string_pattern_mismatch",
    "bool_type",
    "bool_parsing",
    "int_type",
    "int_parsing",
    "int_parsing_size",
    "int_from_float",
    "float_type",
    "float_parsing",
    "literal_error",
    "date_type",
    "date_parsing",
    "date_from_datetime_parsing",
    "date_from_datetime_inexact",
    "datetime_type",
    "datetime_parsing",
    "datetime_from_date_parsing",
    "timezone_aware",
    "time_delta_type",
    "time_delta_parsing",
)
"""Kinds of its errors that a value of a file may be, and that have no words of our own."""
PLACES: Final = (("{expected_plural}", "{|s}"), ("{field_type}", "{Dictionary|Frozenset|List|Set|Tuple|Value}"))
"""Places for words that only inflect, or name a type of Python."""
SPEEDATE: Final = (
    "input is too short",
    "invalid character in year",
    "invalid character in month",
    "invalid character in day",
    "invalid date separator, expected `-`",
    "month value is outside expected range of 1-12",
    "day value is outside expected range",
    "unexpected extra characters at the end of the input",
)
"""What pydantic says of a date. Source: speedate."""
ARGPARSE: Final = (
    "argument {argument_name}: {reason}",
    "the following arguments are required: {names}",
    "expected one argument",
    "ignored explicit argument {value}",
    "invalid choice: {value} (choose from {choices})",
)
SYSTEM: Final = (
    errno.EACCES,
    errno.EBUSY,
    errno.ECONNREFUSED,
    errno.ECONNRESET,
    errno.EEXIST,
    errno.EHOSTUNREACH,
    errno.EINVAL,
    errno.EIO,
    errno.EISDIR,
    errno.ELOOP,
    errno.EMFILE,
    errno.ENAMETOOLONG,
    errno.ENETUNREACH,
    errno.ENOENT,
    errno.ENOSPC,
    errno.ENOTDIR,
    errno.EPERM,
    errno.EPIPE,
    errno.EROFS,
    errno.ETIMEDOUT,
)
OF_SYSTEM: Final = (
    "Name or service not known",
    "Temporary failure in name resolution",
    "[Errno {number}] {strerror}",
    "[Errno {number}] {strerror}: {name}",
)
JSON: Final = (
    "JSON is malformed: {reason} (byte {number})",
    "invalid character",
    "trailing characters",
    "trailing comma in array",
    "trailing comma in object",
    "expected ',' or '}'",
    "expected ',' or ']'",
    "expected ':'",
    "object keys must be strings",
    "Input data was truncated",
    "Expected {kind}, got {given}",
    "Expected {kind}, got {given} - at {place}",
    "Expected {kind} of length >= {least}",
    "Expected {kind} of length <= {most}",
    "Expected {kind} >= {least}",
    "Expected {kind} <= {most}",
    "Invalid enum value {value}",
    "Object missing required field {name}",
    "Object missing required field {name} - at {place}",
)
YAML: Final = (
    "mapping values are not allowed here",
    "could not find expected ':'",
    "expected <block end>, but found {token}",
    "expected the node content, but found {token}",
    "expected ',' or ']', but got {token}",
    "expected ',' or '}', but got {token}",
    "found character {character} that cannot start any token",
    "found unexpected end of stream",
    "sequence entries are not allowed here",
)
OF_LISTS: Final = ("{first} or {last}",)
"""Values that are allowed, as pydantic lists them."""


def texts_of_others() -> Iterator[tuple[str, str]]:
    """Each with its source."""
    known = {kind["type"]: kind["message_template_python"] for kind in list_all_errors()}
    for kind in PYDANTIC:
        text = known[kind]
        for place, said in PLACES:
            text = text.replace(place, said)
        yield text, "pydantic"
    for text in (*SPEEDATE, *OF_LISTS):
        yield text, "pydantic"
    for text in ARGPARSE:
        yield text, "argparse"
    for number in SYSTEM:
        yield os.strerror(number), "errno"
    for text in OF_SYSTEM:
        yield text, "errno"
    for text in JSON:
        yield text, "json"
    for text in YAML:
        yield text, "yaml"

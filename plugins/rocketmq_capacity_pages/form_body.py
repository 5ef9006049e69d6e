"""What a browser sends of a plain form, read within bounds."""

from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl

from fastapi import HTTPException, Request
from starlette.requests import ClientDisconnect

FORM: Final = "application/x-www-form-urlencoded"


async def body_of(request: Request, largest: int) -> bytes:
    """The body of the form. Errors: HTTPException 415 for another type, 413 once it is longer than allowed."""
    if request.headers.get("Content-Type", "").partition(";")[0].strip().lower() != FORM:
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Expected a body of the type {FORM}.")
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > largest:
                said = f"The form is too long. Expected at most {largest:,} bytes."
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, said)
    except ClientDisconnect:
        raise HTTPException(HTTPStatus.BAD_REQUEST, "The form has not arrived whole. Send it again.") from None
    return bytes(body)


def pairs_of(body: bytes, most: int) -> list[tuple[str, str]] | None:
    """The names and texts of at most so many fields, those that are empty included; None if they cannot be read."""
    try:
        return parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=most,
        )
    except ValueError:
        return None

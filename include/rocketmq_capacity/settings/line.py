"""Texts of one line: what a person writes into a policy, and what then stands in commands, tables and pages."""

from typing import Annotated

from pydantic import AfterValidator, Field


def _one_line(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError("expected one line of text")
    return text


Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_one_line)]
Reason = Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(_one_line)]

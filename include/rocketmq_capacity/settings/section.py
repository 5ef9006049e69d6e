"""What every part of the policy is made of: strict numbers, and sections that refuse unknown keys."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

# Strict, so that "2" and yes are not numbers. The upper bounds are those of Spark's int and bigint.
Whole = Annotated[int, Field(strict=True)]
Int: Final = 2**31 - 1
BigInt: Final = 2**63 - 1
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
Ratio = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]


class Section(BaseModel):
    """A part of the policy: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

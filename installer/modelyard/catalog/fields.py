"""What the catalogue's models have in common. Pure."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)]


class Model(BaseModel):
    """Base of the catalogue's models: frozen, and no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)

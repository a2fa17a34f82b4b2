"""`caviardage key new`: a tenant's key, shown once. May import: tenants, policy, typer."""

from __future__ import annotations

from typing import Annotated

import typer
from pydantic_core import PydanticCustomError

from proxy.tenants.keys import digest, new_key
from proxy.tenants.model import tenant_name


def new(tenant: Annotated[str, typer.Option("--tenant", help="Whose key it will be.")]) -> None:
    """Makes a key and prints it, once, with the line for the tenants file. It is kept nowhere: the file holds only its
    SHA-256."""
    try:
        tenant_name(tenant)
    except PydanticCustomError as error:
        mend = (error.context or {})["mend"]
        raise typer.BadParameter(f"{error.message()}; {mend}", param_hint="--tenant") from None
    key = new_key()
    typer.echo(f"The key, which nobody can show again: {key}")
    typer.echo(f"For the tenants file, under tenants.{tenant}.keys:")
    typer.echo(f"      - sha256: {digest(key)}")

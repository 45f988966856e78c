"""`python -m conformance.proof`: compare the record with the clone; exit code 1 and what to do where they differ."""

from __future__ import annotations

import sys

from conformance.proof import marks, parts, record, standing
from conformance.proof.code import Code
from conformance.proof.standing import Unproved
from modelyard.cli.workspace import Workspace
from modelyard.errors import ModelyardError
from modelyard.events import discard


def missing() -> list[Unproved]:
    """Return the components of this clone that are not proved.

    Raises:
        ModelyardError: the record cannot be used, or a component cannot be rendered.
    """
    workspace = Workspace(None, discard)
    catalog, suite = workspace.catalog(), workspace.root / "conformance"
    entries, code = record.read(suite / record.FILE), Code(suite)
    claims = marks.by_component(marks.claims(suite))
    names = parts.components(catalog)
    now = parts.parts_of(catalog, workspace.renderer(), names)
    found = (standing.unproved(name, now[name], claims.get(name, ()), entries.get(name), code.digest) for name in names)
    return [each for each in found if each is not None]


def main() -> int:
    """Print what is not proved, and how to prove it."""
    try:
        found = missing()
    except ModelyardError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for each in found:
        print(each, file=sys.stderr)
    areas = tuple(sorted({area for each in found for area in each.areas}))
    if areas:
        print(f"All of it: {standing.command(areas)}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

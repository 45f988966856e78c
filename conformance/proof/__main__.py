"""`python -m conformance.proof`: compare the record with the clone; exit code 1 and what to do where they differ."""

from __future__ import annotations

import sys

import yaml

from conformance.proof import marks, parts, record, standing
from conformance.proof.code import Code
from conformance.proof.standing import Unproved
from modelyard.errors import ModelyardError
from modelyard.events import discard
from modelyard.paths import data_root
from modelyard.platform.workspace import Workspace

KNOWN = "unproved.yaml"


def known() -> dict[str, str]:
    """Return the components that are known to be unproved, with the reason that conformance/unproved.yaml gives."""
    listed = yaml.safe_load((data_root() / "conformance" / KNOWN).read_text()) or {}
    return {str(name): str(reason) for name, reason in listed.items()}


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
    said = known()
    surprising, proved = standing.surprises(found, said)
    for name, reason in sorted(said.items()):
        print(f"known: component {name} is not proved: {reason}", file=sys.stderr)
    for each in surprising:
        print(each, file=sys.stderr)
    for name in proved:
        print(f"component {name} is proved: take it out of {KNOWN}", file=sys.stderr)
    areas = tuple(sorted({area for each in surprising for area in each.areas}))
    if areas:
        print(f"All of it: {standing.command(areas)}", file=sys.stderr)
    return 1 if surprising or proved else 0


if __name__ == "__main__":
    sys.exit(main())

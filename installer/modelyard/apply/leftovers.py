"""What a controller leaves behind under its finalizers when it goes, while what it kept books of stays."""

from __future__ import annotations

from collections.abc import Iterable

from modelyard.apply.held import objects_of
from modelyard.apply.run import Run
from modelyard.cluster.discovery import resource_of_crd
from modelyard.events import Note
from modelyard.objects import Object, ref_of, sequence


def release(run: Run, name: str, definitions: Iterable[Object]) -> None:
    """Take the finalizers off all objects of some kinds, whose controller is gone.

    Kueue makes a Workload anew for a user's suspended job for as long as it runs; without Kueue nobody ever takes its
    finalizer off, and its definition could not go.

    Args:
        run: the run.
        name: the component.
        definitions: its live CustomResourceDefinitions, which go next.
    """
    for crd in definitions:
        # As they are stored: any other version may take a conversion webhook, which is gone.
        version = resource_of_crd(crd).version
        for item in objects_of(run.session, crd):
            if sequence(item, "metadata", "finalizers"):
                run.session.patch(ref_of(item), {"metadata": {"finalizers": None}}, version=version)
                run.emit(Note(f"{name}: took the finalizers off {ref_of(item)}: its controller is gone"))

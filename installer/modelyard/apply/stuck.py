"""What was deleted and does not go: named, with the controller that should let it go; and, when told to, let go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass

from modelyard.apply.controllers import Controllers, describe
from modelyard.apply.held import objects_of
from modelyard.apply.run import Run
from modelyard.cluster import ApiError
from modelyard.cluster.discovery import resource_of_crd
from modelyard.errors import ModelyardError, NotReadyError
from modelyard.events import Note
from modelyard.objects import GroupKind, Object, ObjectRef, ref_of, text
from modelyard.plan import kinds, stuck

WAY_ON = "--remove-finalizers"


@dataclass(frozen=True, slots=True)
class Stuck:
    """Tells what holds up a deletion, and ends it where it may.

    Args:
        controllers: of all installed components.
        mine: the platform's own objects that go.
        going: the components that go.
        dead: components whose controllers do not come back, with the reason.
        remove: take finalizers off what does not go.
    """

    controllers: Controllers
    mine: Set[ObjectRef]
    going: Set[str]
    dead: Mapping[str, str]
    remove: bool = False

    def disarm(self, run: Run) -> None:
        """Take out of the way what would refuse every change while it does not answer, of components that go.

        Their webhook configurations and APIServices are deleted, and the conversions of their CRDs end: the objects of
        those go with them, so it does not matter any more in which version they are read.
        """
        for name in sorted(set(self.dead) & self.going if self.remove else ()):
            for ref, obj in sorted(self.controllers.members[name].items()):
                if ref.group_kind in kinds.WEBHOOK_CONFIGURATIONS or stuck.is_aggregated(obj):
                    if run.session.delete(ref, uid=text(obj, "metadata", "uid")):
                        run.emit(Note(f"{name}: removed {ref}: nobody answers for it"))
                elif text(obj, "spec", "conversion", "strategy") == "Webhook" and run.session.get(ref) is not None:
                    run.session.patch(ref, {"spec": {"conversion": {"strategy": "None", "webhook": None}}})
                    run.emit(Note(f"{name}: ended the conversion of {ref}: nobody answers for it"))

    def hopeless(self, run: Run, left: Mapping[ObjectRef, Object]) -> bool:
        """Tell whether every one of `left` waits for controllers that do not come back, and for nothing else."""
        if not self.dead:
            return False
        for ref, obj in left.items():
            held = {self._keeper(item) for item in self._holders(run, {ref: obj})}
            if not held or not held <= set(self.dead):
                return False
        return True

    def release(self, run: Run, left: Mapping[ObjectRef, Object], *, all_of_it: bool) -> int:
        """Take the finalizers off what holds up `left`; return of how many objects.

        Args:
            run: the run.
            left: live objects that were deleted.
            all_of_it: also where the controller is at work, or nobody knows which it is.
        """
        count = 0
        for item in self._holders(run, left):
            taken = stuck.removable(item, own=self.controllers.owners, mine=self.mine)
            if not taken or not (all_of_it or self._keeper(item) in self.dead):
                continue
            if _take(run, item, taken):
                run.emit(Note(f"took {', '.join(taken)} off {ref_of(item)}: what it stood for is not cleaned up"))
                count += 1
        return count

    def late(self, run: Run, left: Mapping[ObjectRef, Object], seconds: float) -> NotReadyError:
        """Return the error for what is still there after `seconds`."""
        ref, obj = min(left.items())
        more = f" (and {len(left) - 1} more)" if len(left) > 1 else ""
        cause = f"is still there after {seconds:.0f} s{more}: {stuck.staying(obj)}"
        holders = self._holders(run, {ref: obj})
        holder = min(holders, key=ref_of, default=None)
        if holder is not None and ref_of(holder) != ref:
            cause += f"; {ref_of(holder)} in it: {stuck.staying(holder)}"
        keeper = self._keeper(holder) if holder is not None else ""
        if keeper:
            cause += f"; its controller: {describe(run.session, self.controllers, keeper)}"
        shown = ref if holder is None else ref_of(holder)
        where = f"-n {shown.namespace} " if shown.namespace else ""
        remedy = f"see why: kubectl {where}get {shown.kind.lower()} {shown.name} -o yaml"
        helps = any(stuck.removable(item, own=self.controllers.owners, mine=self.mine) for item in holders)
        if not self.remove and (helps or self.dead):
            remedy += f"; then run the same command again, or add {WAY_ON}: what the controller would clean up stays"
        else:
            remedy += "; then run the same command again: it goes on where it was"
        return NotReadyError(str(ref), cause, remedy)

    def refused(self, run: Run, error: ApiError) -> ModelyardError:
        """Return what to say where the apiserver refused a change: more, if a controller that is gone was asked."""
        if not self.dead or self.remove or "webhook" not in error.message:
            return error
        said = "; ".join(f"{name}: {describe(run.session, self.controllers, name)}" for name in sorted(self.dead))
        return NotReadyError(
            error.subject,
            f"{error.cause}; not at work: {said}",
            f"bring that back, then run the same command again; or add {WAY_ON}: webhooks that nobody answers for go "
            "first, and what the controller would clean up stays",
        )

    def is_dead(self, kind: GroupKind) -> bool:
        """Tell whether the controller of a kind does not come back."""
        return self.controllers.owners.get(kind, "") in self.dead

    def _holders(self, run: Run, left: Mapping[ObjectRef, Object]) -> list[Object]:
        """Return what still has finalizers: the objects themselves, or those in a namespace or of a CRD."""
        found: dict[ObjectRef, Object] = {}
        for ref, obj in left.items():
            if ref.group_kind == kinds.NAMESPACE:
                items = self._inside(run, ref.name)
            elif ref.group_kind == kinds.CRD:
                items = list(objects_of(run.session, obj))
            else:
                items = [obj]
            found |= {ref_of(item): item for item in items if stuck.finalizers(item)}
        return [found[ref] for ref in sorted(found)]

    def _inside(self, run: Run, namespace: str) -> list[Object]:
        items: list[Object] = []
        for kind in [*sorted(self.controllers.owners), stuck.POD]:
            with suppress(ApiError):  # it explains another failure, it must not become one
                listing = run.session.list(kind, namespace=namespace, metadata_only=True, version=self._version(kind))
                items += listing.items if listing else ()
        return [item for item in items if text(item, "metadata", "namespace") == namespace and stuck.is_going(item)]

    def _version(self, kind: GroupKind) -> str:
        """Return the version in which objects are stored: any other may take a conversion that nobody answers."""
        name = self.controllers.owners.get(kind, "")
        for obj in self.controllers.members.get(name, {}).values():
            if ref_of(obj).group_kind == kinds.CRD and resource_of_crd(obj).kind == kind:
                return resource_of_crd(obj).version
        return ""

    def _keeper(self, item: Object) -> str:
        """Return the component whose controller should let an object go; empty where nobody knows."""
        owner = self.controllers.owners.get(ref_of(item).group_kind, "")
        if owner:
            return owner
        for finalizer in stuck.finalizers(item):
            for kind, name in sorted(self.controllers.owners.items()):
                if kind.group == finalizer.partition("/")[0]:
                    return name
        return ""


def _take(run: Run, item: Object, taken: Sequence[str]) -> bool:
    """Take finalizers off an object; return False where it is gone or another one by now."""
    rest = [each for each in stuck.finalizers(item) if each not in taken]
    change = {"metadata": {"uid": text(item, "metadata", "uid"), "finalizers": rest or None}}
    try:
        run.session.patch(ref_of(item), change, version=text(item, "apiVersion").rpartition("/")[2])
    except ApiError as error:
        if error.code in (404, 409):
            return False
        raise
    return True

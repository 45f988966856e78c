"""Which objects an install of ours left, by what they carry alone. Pure."""

from __future__ import annotations

from modelyard.objects import Object, annotations_of, labels_of, mappings
from modelyard.plan.desired import DIGEST
from modelyard.plan.inventory import PART_OF_LABEL


def is_ours(obj: Object) -> bool:
    """Tell whether a metadata-only object was applied by an install: by its ApplySet label and its digest.

    Controllers copy labels to what they make (a Service's to its EndpointSlices), but not annotations, or they name an
    owner; and other tools have ApplySets too: https://git.k8s.io/enhancements/keps/sig-cli/3659-kubectl-apply-prune.
    """
    marked = PART_OF_LABEL in labels_of(obj) and DIGEST in annotations_of(obj)
    return marked and not mappings(obj, "metadata", "ownerReferences")

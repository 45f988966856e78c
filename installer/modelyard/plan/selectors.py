"""Label selectors, as Kubernetes matches them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from modelyard.objects import Object, mappings, sequence, strings, text


def matches(selector: Object, labels: Mapping[str, str]) -> bool:
    """Tell whether `labels` match a LabelSelector; an empty one matches all."""
    for key, value in strings(selector, "matchLabels").items():
        if labels.get(key) != value:
            return False
    return all(_holds(term, labels) for term in mappings(selector, "matchExpressions"))


def labels_for(selector: Object) -> dict[str, str]:
    """Return the fewest labels that satisfy what a selector asks to be there."""
    found = strings(selector, "matchLabels")
    for term in mappings(selector, "matchExpressions"):
        operator, key = text(term, "operator"), text(term, "key")
        if operator == "Exists":
            found.setdefault(key, "modelyard-probe")
        elif operator == "In":
            found.setdefault(key, str(next(iter(sequence(term, "values")), "")))
    return found


def is_narrow(selector: Object) -> bool:
    """Tell whether a selector asks for a label: then it takes only objects that somebody marked."""
    return bool(labels_for(selector))


def _holds(term: Object, labels: Mapping[str, str]) -> bool:
    key, operator, values = text(term, "key"), text(term, "operator"), sequence(term, "values")
    if operator == "In":
        return key in labels and labels[key] in values
    if operator == "NotIn":
        return labels.get(key) not in values
    if operator == "Exists":
        return key in labels
    return key not in labels  # DoesNotExist

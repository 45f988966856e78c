"""Kubernetes resource quantities ("100m", "1Gi") as exact numbers.

Source: the Quantity format of k8s.io/apimachinery/pkg/api/resource.
"""

from __future__ import annotations

import re
from decimal import Decimal

_FORMAT = re.compile(r"([+-]?[0-9.]+)([eE][+-]?[0-9]+)?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?")
_SUFFIXES = {
    "": Decimal(1),
    **{suffix: Decimal(1000) ** power for suffix, power in zip("num", (-3, -2, -1), strict=True)},
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate("kMGTPE", start=1)},
    **{f"{suffix}i": Decimal(1024) ** power for power, suffix in enumerate("KMGTPE", start=1)},
}


def parse(value: object) -> Decimal | None:
    """Return the number that `value` stands for, or None where it is no quantity.

    Args:
        value: a string, or a JSON number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    found = _FORMAT.fullmatch(str(value))
    if found is None:
        return None
    number, exponent, suffix = found.groups()
    try:
        return Decimal(number + (exponent or "")) * _SUFFIXES[suffix or ""]
    except ArithmeticError:  # "1.2.3" passes the pattern and is no number
        return None

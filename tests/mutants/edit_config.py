"""edit_config.py NAMESPACE CONFIGMAP PATTERN REPLACEMENT: change a controller's configuration, and start it again.

The ConfigMap's name may end in a hash; the namespace's Deployments are those that read it. PATTERN is a regular
expression over the text of all its values; one that changes nothing is an error, for it would break nothing.
"""

from __future__ import annotations

import re
import subprocess
import sys

from modelyard.cluster import connect
from modelyard.objects import GroupKind, mapping, ref_of, text

SECONDS = 180


def main(namespace: str, name: str, pattern: str, replacement: str) -> int:
    """Edit it in the cluster of $KUBECONFIG; return 0 once its readers run again."""
    session = connect()
    listing = session.list(GroupKind("", "ConfigMap"), namespace=namespace)
    named = re.compile(rf"{re.escape(name)}(-[a-z0-9]{{10}})?")
    [found] = [item for item in (listing.items if listing else ()) if named.fullmatch(text(item, "metadata", "name"))]
    data = {key: str(value) for key, value in mapping(found, "data").items()}
    edited = {key: re.sub(pattern, replacement, value) for key, value in data.items()}
    if edited == data:
        print(f"{pattern!r} changes nothing of {ref_of(found)}", file=sys.stderr)
        return 1
    session.patch(ref_of(found), {"data": edited})
    kubectl = ["kubectl", "-n", namespace, "rollout"]
    subprocess.run([*kubectl, "restart", "deployment"], check=True, timeout=SECONDS)
    subprocess.run([*kubectl, "status", "deployment", f"--timeout={SECONDS}s"], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

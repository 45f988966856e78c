"""A client of a model server, in a pod of its own: asks without a pause until it has seen a new version, and reports.

Arguments: URL, the request as JSON, the first and the second version's answer (numbers), seconds to give up after.
It prints READY once the first version has answered, and at last a JSON object: how many answers of each version it
had, and the requests that failed.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.request

TOLERANCE = 1e-4
ENOUGH = 200  # answers of the new version in a row, before it is the only one


def ask(url: str, body: bytes) -> float:
    """Send the request over a connection of its own, and return the first prediction's first number."""
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as response:
        return float(json.load(response)["predictions"][0][0])


def main(url: str, body: str, first: float, second: float, seconds: float) -> None:
    """Ask until the new version alone answers."""
    deadline = time.monotonic() + seconds
    answers, failures, in_a_row = {"first": 0, "second": 0}, [], 0
    while in_a_row < ENOUGH and time.monotonic() < deadline:
        try:
            value = ask(url, body.encode())
        except (OSError, urllib.error.URLError, ValueError) as error:
            failures.append(f"{type(error).__name__}: {error}")
            continue
        version = "second" if abs(value - second) < TOLERANCE else "first"
        if version == "first" and abs(value - first) > TOLERANCE:
            failures.append(f"an answer of neither version: {value}")
        answers[version] += 1
        in_a_row = in_a_row + 1 if version == "second" else 0
        if answers["first"] == 1 and version == "first":
            print("READY", flush=True)
    print("RESULT", json.dumps({"answers": answers, "failures": failures}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]))

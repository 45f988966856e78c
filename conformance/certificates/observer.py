"""Runs in a pod: prints the SHA-256 of each new certificate that a server shows.

Each connection is new, and is refused by this client, as by any other, where the certificate does not fit the
authority ($CA) or the host's name.
"""

import hashlib
import os
import socket
import ssl
import time

HOST, PORT = os.environ["HOST"], int(os.environ["PORT"])


def served() -> str:
    """Return the fingerprint of the certificate that the server shows now."""
    context = ssl.create_default_context(cadata=os.environ["CA"])
    with (
        socket.create_connection((HOST, PORT), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=HOST) as secure,
    ):
        return hashlib.sha256(secure.getpeercert(binary_form=True) or b"").hexdigest()


def main() -> None:
    """Look four times a second, until the pod is stopped."""
    last = ""
    while True:
        try:
            seen = f"served {served()}"
        except OSError as error:  # ssl's errors too
            seen = f"refused {type(error).__name__}: {error}"
        if seen != last:
            print(seen, flush=True)
            last = seen
        time.sleep(0.25)


if __name__ == "__main__":
    main()

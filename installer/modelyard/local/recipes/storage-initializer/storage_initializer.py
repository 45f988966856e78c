"""Fetch models before a server starts: `SOURCE_URI FOLDER [SOURCE_URI FOLDER ...]`, as KServe's webhook calls it."""

import sys

from kserve_storage import Storage
from kserve_storage.logging import configure_logging, logger


def main(arguments: list[str]) -> int:
    """Download each source into its folder; 0 if all are there."""
    if not arguments or len(arguments) % 2:
        print("usage: storage_initializer SOURCE_URI FOLDER [SOURCE_URI FOLDER ...]", file=sys.stderr)
        return 2
    sources, folders = arguments[::2], arguments[1::2]
    try:
        Storage.download_files(sources, folders)
    except Exception as error:  # whichever storage it is, its own errors: the pod's log must show them
        logger.error("%s: %s", sources, error)
        return 1
    return 0


if __name__ == "__main__":
    configure_logging()
    sys.exit(main(sys.argv[1:]))

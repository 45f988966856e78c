"""etcd's data before it has served for the first time: nobody's, and begun anew if that start was cut short."""

from __future__ import annotations

import shutil

from modelyard.local.host.files import make_private_dir, write_private
from modelyard.local.state.layout import Layout


def begin_etcd(where: Layout) -> None:
    """Make etcd's folder ready for a start; what a first start left that was cut short is removed.

    etcd writes who its members are as the first entry of its log. Killed between the log's creation and that entry, it
    finds a log without members the next time and waits for a leader for ever.
    """
    make_private_dir(where.etcd)
    if where.etcd_first_start.exists():
        shutil.rmtree(where.etcd)
        make_private_dir(where.etcd)
    if not any(where.etcd.iterdir()):
        write_private(where.etcd_first_start, "")


def mark_etcd_as_served(where: Layout) -> None:
    """From now on its data is somebody's, and is kept."""
    where.etcd_first_start.unlink(missing_ok=True)

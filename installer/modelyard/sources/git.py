"""The git channel: the pinned tag itself, from upstream's own repository."""

from __future__ import annotations

import os
from pathlib import Path

from modelyard.errors import SourceError
from modelyard.programs import run

TIMEOUT_SECONDS = 300


def clone(url: str, ref: str, commit: str | None, *, into: Path) -> Path:
    """Clone the one commit of `ref` into the new folder `into` and return it.

    Args:
        url: repository.
        ref: tag.
        commit: the commit that the tag must be; None where it is not pinned.
        into: a folder that does not exist.

    Raises:
        SourceError: git cannot run or refuses, or the tag has moved to another commit.
    """
    _git(url, "clone", "--quiet", "--depth", "1", "--branch", ref, "--", url, str(into))
    if commit is not None:
        head = _git(url, "-C", str(into), "rev-parse", "HEAD").strip()
        if head != commit:
            raise SourceError(
                f"upstream {url}", f"tag {ref} is commit {head} now, upstream.lock has {commit}: it was moved"
            )
    return into


def _git(url: str, *arguments: str) -> str:
    environment = os.environ | {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1"}
    done = run(["git", "-c", "advice.detachedHead=false", *arguments], env=environment, seconds=TIMEOUT_SECONDS)
    if done.problem:
        raise SourceError(f"upstream {url}", f"git {arguments[0]}: {done.problem}")
    return done.text

"""upstream.lock as a whole: checked against what is used, moved forward, its digests resolved."""

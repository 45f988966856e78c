"""upstream.lock as a whole: proved against what is used, moved forward, its digests resolved."""

"""Speed and memory, each figure beside a named peer: `make bench`, `make bench-cold`."""

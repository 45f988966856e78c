"""Resource metrics: what nodes and pods use, and what scales by it."""

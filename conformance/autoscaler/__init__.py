"""The queue acquires nodes for what it admits, and they go when nothing needs them any more."""

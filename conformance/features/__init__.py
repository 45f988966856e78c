"""What nodes can do, by their labels."""

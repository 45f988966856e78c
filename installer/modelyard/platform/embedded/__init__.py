"""What an install does on an embedded cluster alone: images built and loaded, and a job through its queue."""

"""What the platform must not do to a cluster that is somebody else's, whatever of it is down."""

"""Objects and live state -> waves, changes, inventories, refusals. Pure."""

"""Gangs by a scheduler of their own: all pods of a PodGroup are bound, or none."""

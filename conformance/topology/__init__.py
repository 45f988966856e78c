"""Gangs are placed by how their nodes lie to each other."""

"""Devices by claim: dynamic resource allocation."""

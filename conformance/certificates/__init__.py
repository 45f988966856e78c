"""Serving certificates change while the platform serves."""

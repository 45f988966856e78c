"""Requests through the platform's Gateway: split between versions of a model, served by as many pods as they need."""

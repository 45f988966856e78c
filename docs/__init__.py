"""The documentation, and what generates its reference pages. Not part of the wheel."""

"""Metrics, alerts and dashboards, as the platform's own Prometheus has them."""

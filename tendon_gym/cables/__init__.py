"""Geodesic cables over obstacles."""

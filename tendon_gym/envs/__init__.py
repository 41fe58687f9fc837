"""Environments: one core, a scalar and a vector face, and the tasks."""

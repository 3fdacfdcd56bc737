"""Marker files, what to track in them, and the motion that fits them."""

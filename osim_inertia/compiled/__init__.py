"""Model to flat arrays: names become indices, functions become tables."""

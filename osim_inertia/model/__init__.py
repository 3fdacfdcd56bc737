"""The model as the file describes it: frozen, readable dataclasses, no maths."""

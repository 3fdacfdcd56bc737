"""Numba kernels: plain arrays in, plain arrays out, ground coordinates. Nothing here imports anything of ours."""

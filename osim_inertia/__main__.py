"""`python -m osim_inertia` is the same as `osim-inertia`."""

from osim_inertia.cli.main import main

main(prog_name="osim-inertia")

"""The commands: arguments, files and exit codes; the work is done elsewhere."""

"""The command line `mneme`."""

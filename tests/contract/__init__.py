"""Contract suites of the ports, and their subclasses for each driver."""

"""gRPC servers and channels with Mneme's interceptors, limits and identity."""

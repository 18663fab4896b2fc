"""HTTP beside gRPC: Connect and gRPC-Web, with JSON or protobuf, by the same handlers."""

"""Mneme services: one package per tier, the gateway, and what they share."""

import os

# Each process of ours imports this package before gRPC. gRPC reads the variable when it starts: without it, its fork
# handlers run in every child that is forked while calls are served, and crash there before the child's program begins.
# None of our children goes on to use gRPC without a program of its own.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

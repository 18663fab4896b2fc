"""Sentence embeddings: packaged weights, ONNX graph, encoder, and the embedder that services use."""

import os

# ONNX Runtime reports its use to its maker by default, and leaves a device id and a database of events behind. A memory
# of people's conversations has nothing to report to anybody. Read when the library is first imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

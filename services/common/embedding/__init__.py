"""Sentence embeddings: packaged weights, ONNX graph, encoder, and the embedder that services use."""

"""Which of two embedding models serves, while a change of the model runs, and how all processes follow it."""

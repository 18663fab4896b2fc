"""The conversation log and the outbox of deliveries behind it."""

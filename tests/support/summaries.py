"""A long exchange, and summaries of it as a language model may write them."""

from __future__ import annotations

import json
from typing import Final

SENTENCES: Final = (
    "Thanks for walking me through the options for the trip, that was really very useful to me.",
    "I have been thinking about it for a while now and I keep going back and forth on the details.",
    "We leave on 14 June from Rotterdam and the ferry takes about eleven hours.",
    "It would be nice to have some good weather for once, but you never know with the coast.",
    "Marta booked two cabins for 312.50 euros, and the booking code is KX-4471.",
    "There is a small bakery near the harbour that everybody seems to like, or so I have been told.",
    "After that we drive to Hull and stay with Peter Lindqvist until Sunday.",
    "I am not sure yet what to pack, but I suppose that I will find out when the time comes.",
    "The car must be back by 23 June at 18:00, otherwise they charge 90 euros a day.",
    "In general I like to travel slowly and to look at things for as long as I please.",
)
LONG: Final = " ".join(
    (*SENTENCES, *(f"It was a long talk about nothing in particular, part {letter}." for letter in "abcdefghij"))
)
"""Of more than 300 tokens."""

WRITTEN: Final = (
    "They leave on 14 June from Rotterdam, and the ferry takes about eleven hours.",
    "Marta's two cabins are booked for 312.50 euros with the booking code KX-4471.",
    "After that they drive to Hull and stay with Peter Lindqvist until Sunday.",
    "The car must be back by 23 June at 18:00, otherwise 90 euros a day are charged.",
    "They keep going back and forth on the details, and would like to have some good weather for once.",
    "The speaker likes to travel slowly, is not sure yet what to pack, and mentions a small bakery near the harbour.",
)
SUMMARY: Final = " ".join(WRITTEN)
"""Of LONG, in words of its own and all true: 100 to 150 tokens."""


def response(summary: str) -> str:
    """The content of a completion."""
    return json.dumps({"reasoning": "The dates matter.", "summary": summary})

"""Words, before a sentence is read.

Lists of words with a meaning (verbs, relatives, units, fields of life, words of change), how a text is cut into words
and numbers, and how the phrases of the data files become patterns. Nothing here knows what a clause is.
"""

"""Yes and no of the same thing.

What never was and is by now, what was given up and is taken up again, what broke and is repaired.
"""

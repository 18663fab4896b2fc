"""One value takes the place of another one, in other words than before.

Another number, place, platform, tool or doer; a date that is moved; a list with other items. Lists are in
`contrasts.toml` (values of which one holds at a time) and `shifts.toml` (ways to say that something is set anew).
"""

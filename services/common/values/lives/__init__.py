"""States of a life: home, work, partner, diet, measures of the body ...

A person has one state of a field at a time. The modules know how a state is stated, which events end it, and which
states pass by themselves. `data/` lists fields, states and phrases; one file is one area of life.
"""

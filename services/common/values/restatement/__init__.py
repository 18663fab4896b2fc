"""The same sentence said again, with something else in it.

Another end, another number, another name, a shorter subject, or an order that is changed by its own words. Long
sentences are cut into their parts first, so that a remark beside them hides nothing.
"""

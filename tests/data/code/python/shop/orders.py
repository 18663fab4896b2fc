from __future__ import annotations

from . import base as b
from .base import LIMIT, Base
import shop.tools as tools


class Order(Base):
    class Line:
        def price(self) -> int:
            return 1

    def total(self) -> int:
        def inner(x):
            return x

        return inner(LIMIT) + self.save() + tools.tax(3) + b.LIMIT

    async def ship(self, other: Order):
        other.total()
        line = Order.Line()
        return unknown_function(line)

from shop import Order


def tax(amount):
    order = Order()
    return order.total() * amount


square = lambda x: x * x

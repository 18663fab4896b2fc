"""What is stored has a name."""

LIMIT = 10


class Base:
    """Something with a name."""

    kind = "base"

    def save(self):
        return self.validate()

    def validate(self):
        return LIMIT

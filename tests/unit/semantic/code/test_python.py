"""What Python's own constructs refer to."""

from __future__ import annotations

from tests.support.code import relations_of

BASES = "class Base:\n    def save(self): ...\n    def load(self): ...\n"


def test_spec_3_11_super_in_python_is_the_class_that_is_inherited_from() -> None:
    own = """
        from base import Base
        class Order(Base):
            def save(self): super().save()
            def load(self): super(Order, self).load()
    """
    found = relations_of({"base.py": BASES, "order.py": _plain(own)})
    calls = {name: sure for name, sure in found.items() if name.startswith("calls")}
    assert calls == {"calls Order.save Base.save": 0.85, "calls Order.load Base.load": 0.85}


def test_spec_3_11_super_of_a_class_from_outside_is_no_method_of_the_repository() -> None:
    own = """
        from outside import Outer
        class Order(Outer):
            def save(self): super().save()
    """
    assert "calls Order.save Base.save" not in relations_of({"base.py": BASES, "order.py": _plain(own)})


def test_spec_3_11_what_a_method_calls_on_something_else_is_not_guessed_to_be_itself() -> None:
    own = "class Order:\n    def save(self, to): to.inner().save()\n"
    assert relations_of({"order.py": own}) == {}
    assert relations_of({"base.py": BASES, "order.py": own}) == {"calls Order.save Base.save": 0.5}


def _plain(text: str) -> str:
    return text.replace("\n        ", "\n")

"""Relations that single constructs of a language make."""

from __future__ import annotations

import pytest

from services.semantic.code.resolution import Target
from tests.support.code import definitions_of, graph_of, relations_of

GO = """package a
type Item struct{ Base; *Other[int] }
type Base struct{}
type Other[T any] struct{}
type Number interface { ~int | Base }
type Both interface { Number; String() string }
type List[T any] struct{ store Store }
type Store struct{}
func (s *Store) put() {}
func (l *List[T]) grow() {}
func (l *List[T]) put(x T) { l.grow(); l.store.put() }
func Map[T any, U any](xs []T, of func(T) U) []U { return nil }
func use(s *Store) { Map[Item, string](nil, nil); s.put() }
func made() { r := &Store{}; r.put() }
"""
JAVA = {
    "shop/Tax.java": "package shop; public class Tax { static int rate() { return 1; } static int RATE = 2; }\n",
    "a/Tax.java": "package a; public class Tax { int rate() { return 1; } }\n",
}
CSHARP = {
    "Tax.cs": "namespace Shop { class Tax { public static int Rate() => 1; public int Net() => 1; } }\n",
    "Other.cs": "namespace Else { class Other { public static int Rate() => 1; public int Net() => 1; } }\n",
}
RUBY = """module Priced
  def price; 1; end
end
class Order
  include Priced
  attr_reader :lines, :name
  attr_writer :note
  define_method(:count) { price() }
  alias_method :size, :count
  alias length count
  def total; price; lines; end
end
class Other
  def price; end
  def lines; end
end
"""
CPP = """namespace geo {
const int SIDES = 4;
int counter;
struct Square { int area(); };
bool operator==(Square a, Square b) { return SIDES; }
}
struct Round { int area(); };
int main(const geo::Square& other) {
  geo::Square s(2);
  return s.area();
}
int second(std::unique_ptr<Round> round) { return round->area(); }
"""


def _of(files: dict[str, str], kind: str, source: str) -> dict[str, float]:
    start = f"{kind} {source} "
    return {name.removeprefix(start): sure for name, sure in relations_of(files).items() if name.startswith(start)}


def _targets(files: dict[str, str], path: str, name: str) -> list[Target]:
    """What all references of a file by one name mean."""
    graph = graph_of(files)
    references = [one for one in graph.files[path].references if one.name == name]
    return [found for one in references for found in graph.resolve(path, one)]


def test_spec_3_11_type_arguments_of_go_are_not_inherited_from() -> None:
    files = {"a.go": GO}
    inherited = {name for name in relations_of(files) if name.startswith("inherits")}
    assert inherited == {"inherits Item Base", "inherits Item Other", "inherits Both Number"}


def test_spec_3_11_receivers_and_parameters_of_go_have_their_types() -> None:
    files = {"a.go": GO}
    assert _of(files, "calls", "List.put") == {"List.grow": 0.8, "Store.put": 0.8}
    assert _of(files, "calls", "use") == {"Map": 0.95, "Store.put": 0.8}
    assert _of(files, "calls", "made") == {"Store": 0.95, "Store.put": 0.8}


@pytest.mark.parametrize(("imported", "sure"), [("shop.Tax.rate", 0.95), ("shop.Tax.*", 0.9)])
def test_spec_3_11_static_imports_of_java_name_members(imported: str, sure: float) -> None:
    own = f"package b; import static {imported}; class Cart {{ int total() {{ return rate(); }} }}\n"
    assert _of({**JAVA, "b/Cart.java": own}, "calls", "Cart.total") == {"Tax.rate": sure}


def test_spec_3_11_declared_variables_of_java_have_their_types() -> None:
    own = "package a; class Cart { Tax field; int all() { return field.rate(); } "
    own += "int total(Tax tax) { return tax.rate(); } }"
    files = {**JAVA, "a/Cart.java": own}
    assert _of(files, "calls", "Cart.total") == {"Tax.rate": 0.8}
    assert _of(files, "calls", "Cart.all") == {"Tax.rate": 0.8}


def test_spec_3_11_constants_behind_a_class_of_java_are_used() -> None:
    own = "package b; import shop.Tax; class Cart { int total() { return Tax.RATE; } }\n"
    assert _of({**JAVA, "b/Cart.java": own}, "uses", "Cart.total")["Tax.RATE"] == 0.95


def test_spec_3_11_namespaces_around_one_of_csharp_are_seen() -> None:
    own = "namespace Shop.Web { class Cart { int Total(Tax tax) => tax.Net(); } }\n"
    assert _of({**CSHARP, "Cart.cs": own}, "calls", "Cart.Total") == {"Tax.Net": 0.8}


def test_spec_3_11_static_members_of_csharp_are_seen() -> None:
    own = "using static Shop.Tax;\nnamespace Web { class Cart { int Total() => Rate(); } }\n"
    assert _of({**CSHARP, "Cart.cs": own}, "calls", "Cart.Total") == {"Tax.Rate": 0.9}


def test_spec_3_11_operators_indexers_and_events_of_csharp_are_definitions() -> None:
    own = "class A { public event E Moved; event E Full { add {} remove {} } int this[int i] => 1; "
    own += "public static A operator +(A a, A b) => a; }\n"
    assert definitions_of({"A.cs": own}) == {"A", "A.Moved", "A.Full", "A.this[]", "A.operator+"}


def test_spec_3_11_modules_of_ruby_are_inherited_from() -> None:
    files = {"a.rb": RUBY}
    assert _of(files, "inherits", "Order") == {"Priced": 0.95}
    assert _of(files, "calls", "Order.count")["Priced.price"] == 0.85


def test_spec_3_11_methods_that_calls_of_ruby_make_are_definitions() -> None:
    made = {"lines", "name", "note=", "count", "size", "length", "total"}
    found = {name.removeprefix("Order.") for name in definitions_of({"a.rb": RUBY}) if name.startswith("Order.")}
    assert found == made


def test_spec_3_11_constants_and_operators_in_namespaces_of_cpp_are_definitions() -> None:
    files = {"a.cc": CPP}
    assert {"geo.SIDES", "geo.counter", "geo.operator=="} <= definitions_of(files)
    assert _of(files, "uses", "geo.operator==") == {"geo.SIDES": 0.95}


def test_spec_3_11_variables_of_cpp_have_their_types() -> None:
    files = {"a.cc": CPP}
    assert _of(files, "calls", "main")["geo.Square.area"] == 0.8
    assert _of(files, "calls", "second") == {"Round.area": 0.8}


def test_spec_3_11_parameters_of_rust_have_their_types() -> None:
    text = "struct A;\nimpl A { fn run(&self) {} }\nstruct B { a: A }\nimpl B { fn run(&self) { self.a.run() } }\n"
    text += "fn go(a: &mut A, b: Box<B>) { a.run(); }\nfn all(b: Box<B>) { b.run(); }\n"
    files = {"src/lib.rs": text}
    assert _of(files, "calls", "go") == {"A.run": 0.8}
    assert _of(files, "calls", "all") == {"B.run": 0.8}


def test_spec_3_11_constants_behind_a_module_of_python_are_used() -> None:
    files = {"app/settings.py": "DEBUG = True\n", "app/__init__.py": ""}
    files["app/a.py"] = (
        "from app import settings\nDEBUG = 1\ndef run(other):\n    other.DEBUG\n    return settings.DEBUG\n"
    )
    meant = {one.ref.path for one in _targets(files, "app/a.py", "DEBUG")}
    assert meant == {"app/settings.py"}
    assert _of(files, "uses", "run")["DEBUG"] == 0.95
    files["app/a.py"] = "DEBUG = 1\ndef run(other):\n    return other.DEBUG\n"
    assert _of(files, "uses", "run") == {}


def test_spec_3_11_type_aliases_of_python_are_definitions() -> None:
    assert definitions_of({"a.py": "type Names = list[str]\nclass A:\n    type Inner = int\n"}) == {
        "Names", "A", "A.Inner",
    }  # fmt: skip


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "class A(A.B): pass\n"},
        {"a.py": "class A(B.X): pass\nclass B(A.X): pass\n"},
        {"A.java": "class A extends A.B {}\n"},
        {"a.cs": "class A : A.B {}"},
        {"a.cc": "struct A : A::B { void f(); };"},
        {"a.rb": "class A < A::B\nend\n"},
        {"a.rs": "trait A: A::B {}"},
    ],
)
def test_spec_7_2_classes_that_name_themselves_as_their_base_end(files: dict[str, str]) -> None:
    assert not [name for name in relations_of(files) if name.startswith("inherits") and name.endswith("B")]

"""Each language's golden repository: what is defined, imported and resolved."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from services.semantic.code.graph import CodeGraph
from services.semantic.code.model import FileStatus, ReferenceKind, RelationKind, SymbolKind
from services.semantic.code.parser import parse_file

DATA = Path(__file__).resolve().parents[3] / "data" / "code"

SYMBOLS = {
    "python": "Base Base.kind Base.save Base.validate LIMIT Order Order.Line Order.Line.price Order.ship Order.total"
    " Order.total.inner square tax good bad Later Later.method",
    "typescript": "Animal Animal.constructor Animal.count Animal.label Animal.name Animal.speak Clock Clock.now"
    " Clock.tick Color Dog Dog.speak Line Line.price Named Named.label Options Order Order.add Order.each"
    " Order.first Order.lines Order.made Orders Orders.assignedField Orders.chained Orders.clock"
    " Orders.clockOf Orders.constructedField Orders.constructor Orders.declaredField Orders.last"
    " Orders.parameterProperty Orders.store Pair Visitor awaited bounded cast constructed defaults"
    " defaults.describe eachItem given givenByType global helper hidden lent load loaded looped namespaces"
    " ofObject passedOn renamed run shadowed shout slug taken throughDefault visit written",
    "javascript": "Box Box.size LIMIT close later main numbers open",
    "go": "Base Base.Name NewSquare Shape Shape.Area Sides Square Square.Area Total",
    "java": "Animal Animal.LEGS Animal.Mood Animal.Mood.CALM Animal.sound Animal.speak Dog Dog.Dog Dog.make Dog.name"
    " Dog.sound Dog.tricks Pet Pet.name",
    "rust": "Area Area.area Circle Circle.area Circle.new Kind SCALE square total unit",
    "c": "LIST_MAX color color.GREEN color.RED counter list list_name list_size point_t",
    "cpp": "Number geo geo.Shape geo.Shape.area geo.Shape.twice geo.Square geo.Square.area largest main",
    "csharp": "Cart Cart.Add Customer IPriced IPriced.Price Item Item.Item Item.Name Item.Price Item.Round Item.money"
    " Money Size Money.Cents Size.Small",
    "ruby": "Base Base.greet Zoo Zoo.Dog Zoo.Dog.initialize Zoo.Dog.make Zoo.Dog.name Zoo.Dog.speak Zoo.LEGS",
}

RELATIONS = {
    "python": """
        calls Base.save Base.validate; calls Order.total Order.total.inner; calls Order.total Base.save
        calls Order.total tax; calls Order.ship Order.total; calls Order.ship Order.Line; calls tax Order
        calls tax Order.total; inherits Order Base; uses Base.validate LIMIT; uses Order.total LIMIT
        references Order.ship Order; calls Later.method good
    """,
    "typescript": """
        calls Animal.label Animal.speak; calls Dog.speak helper; calls shout helper; calls run Dog; calls run helper
        calls run Dog.speak; calls run shout; inherits Dog Animal; inherits Animal Named; references run Named
        references Pair Color
        calls Order.each Line.price; calls Order.made Line
        calls Orders.parameterProperty Clock.now; calls Orders.assignedField Clock.tick
        calls Orders.assignedField Order.first; calls Orders.constructedField Order.first
        calls Orders.constructedField Line.price; calls Orders.declaredField Order.made
        calls Orders.declaredField Line.price; calls Orders.chained Order.add; calls Orders.chained Order.first
        calls namespaces slug; calls throughDefault Dog; calls throughDefault Dog.speak; calls renamed hidden
        calls constructed Order.first; calls awaited Order.first; calls passedOn Order.first; calls taken Clock.now
        calls written Order.first; calls eachItem Order.first; calls eachItem Order.made; calls given Line.price
        calls given Order.first; calls givenByType Order.first; calls ofObject Order.first
        calls ofObject defaults.describe; calls bounded Order.first; calls cast Order.first; calls looped Order.first
        calls lent slug; calls loaded helper; calls defaults.describe hidden
    """,
    "javascript": """
        calls Box.size numbers; calls open Box; calls close open; calls main open; calls main close; uses numbers LIMIT
    """,
    "go": """
        calls Total NewSquare; calls Total Square.Area; calls NewSquare Square; inherits Square Base
        uses Square.Area Sides
    """,
    "java": """
        calls Animal.speak Animal.sound; calls Dog.name Animal.speak; calls Dog.make Dog.Dog; inherits Dog Animal
        inherits Dog Pet; uses Animal.speak Animal.LEGS
    """,
    "rust": """
        calls total unit; calls total Circle.area; calls total square; calls Circle.new unit; calls Circle.new Circle
        references total Circle; uses total SCALE
    """,
    "c": "calls list_name list_size; uses list_size counter; uses list_size LIST_MAX",
    "cpp": """
        calls geo.Shape.twice geo.Shape.area; calls main largest; calls main geo.Square
        inherits geo.Square geo.Shape
    """,
    "csharp": """
        calls Item.Price Item.Round; calls Cart.Add Item; calls Cart.Add Item.Price; inherits Item IPriced
        references Item Money
    """,
    "ruby": "calls Zoo.Dog.speak Base.greet; inherits Zoo.Dog Base; references Zoo.Dog.speak Zoo.LEGS",
}


def read(language: str) -> CodeGraph:
    graph = CodeGraph()
    folder = DATA / language
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        graph.put(parse_file(file.relative_to(folder).as_posix(), file.read_bytes()))
    return graph


@pytest.mark.parametrize("language", sorted(SYMBOLS))
def test_spec_3_11_definitions_of_every_construct_are_found(language: str) -> None:
    found = {symbol.qualified_name for file in read(language).files.values() for symbol in file.symbols}
    assert found == set(SYMBOLS[language].split())


@pytest.mark.parametrize("language", sorted(RELATIONS))
def test_spec_3_11_references_resolve_to_what_they_mean(language: str) -> None:
    graph = read(language)
    found = set()
    for path in graph.files:
        elsewhere = [one for one in graph.outgoing(path, None) if one.kind is not RelationKind.CONTAINS]
        assert all(one.to_path != path for one in elsewhere)
        for at, symbol in enumerate(graph.files[path].symbols):
            for target in graph.files[path].references:
                if target.source != at:
                    continue
                for one in graph.resolve(path, target):
                    meant = graph.symbol(one.ref).qualified_name
                    found.add(f"{target.kind.name.lower()} {symbol.qualified_name} {meant}")
    wanted = {part.strip() for line in RELATIONS[language].splitlines() for part in line.split(";") if part.strip()}
    assert wanted - found == set()


def _calls(graph: CodeGraph, path: str, caller: str) -> list[tuple[str, float]]:
    """What a function calls, with how surely, in its order."""
    file = graph.files[path]
    found = []
    for reference in file.references:
        is_here = reference.source >= 0 and file.symbols[reference.source].name == caller
        if is_here and reference.kind is ReferenceKind.CALLS:
            found += [(graph.symbol(one.ref).qualified_name, one.confidence) for one in graph.resolve(path, reference)]
    return found


def test_spec_3_11_parameters_and_what_the_language_defines_are_no_calls_of_the_repository() -> None:
    graph = read("typescript")
    assert _calls(graph, "orders.ts", "shadowed") == []
    assert _calls(graph, "orders.ts", "global") == []


@pytest.mark.parametrize(
    ("caller", "confidence"),
    [("namespaces", 0.95), ("constructed", 0.8), ("written", 0.8), ("given", 0.7), ("givenByType", 0.7)],
)
def test_spec_3_11_the_confidence_of_a_call_says_how_it_was_resolved(caller: str, confidence: float) -> None:
    assert _calls(read("typescript"), "orders.ts", caller)[-1][1] == confidence


def test_spec_3_11_types_that_are_made_of_each_other_take_bounded_time() -> None:
    names = [f"T{number}" for number in range(40)]
    union = " | ".join(names)
    text = "".join(f"type {name} = {union};\n" for name in names)
    text += "".join(f"function f{name}(one: {union}) {{ return f{name}(one).next().next(); }}\n" for name in names)
    graph = CodeGraph()
    graph.put(parse_file("a.ts", (text + f"fT0({names[0]}).a().b().c().d();\n").encode()))
    begin = time.process_time()
    for reference in graph.files["a.ts"].references:
        graph.resolve("a.ts", reference)
    assert time.process_time() - begin < 5.0


def test_spec_3_11_the_same_text_gives_the_same_result_whatever_the_order_of_captures() -> None:
    chain = "".join(f".step{number}(one => one.run())" for number in range(20))
    source = f"function go(first: Order) {{ const made = first{chain}; made.last(); }}\n".encode()
    assert all(parse_file("a.ts", source) == parse_file("a.ts", source) for _ in range(20))
    [last] = [one for one in parse_file("a.ts", source).references if one.name == "step3"]
    assert last.qualifier == "<Order>.step0().step1().step2()"


def test_spec_3_11_private_methods_are_told_from_public_ones() -> None:
    graph = CodeGraph()
    source = b"class Bag { #get() {} get() { this.#get(); } other() { this.get(); } }\n"
    graph.put(parse_file("a.ts", source))
    assert _calls(graph, "a.ts", "get") == [("Bag.#get", 0.95)]
    assert _calls(graph, "a.ts", "other") == [("Bag.get", 0.95)]


def test_spec_3_11_modules_of_node_are_no_files_of_the_same_name() -> None:
    graph = CodeGraph()
    graph.put(parse_file("src/util.ts", b"export function inspect(text: string) {}\n"))
    graph.put(parse_file("src/a.ts", b'import { inspect } from "util";\nexport function run() { inspect("a"); }\n'))
    assert _calls(graph, "src/a.ts", "run") == []


def test_spec_3_11_modules_of_javascript_that_export_one_class_are_that_class() -> None:
    graph = CodeGraph()
    graph.put(parse_file("shop.js", b"class Shop { open() {} }\nfunction other() {}\nmodule.exports = Shop;\n"))
    source = b"const Store = require('./shop');\nfunction run() { const s = new Store(); s.open(); Store.open(); }\n"
    graph.put(parse_file("a.js", source))
    assert [name for name, _ in _calls(graph, "a.js", "run")] == ["Shop", "Shop.open", "Shop.open"]


def test_spec_3_11_a_broken_file_is_read_around_its_errors() -> None:
    file = read("python").files["broken.py"]
    assert file.status is FileStatus.PARTLY_PARSED
    assert {"good", "Later"} <= {symbol.name for symbol in file.symbols}


def test_an_enormous_or_deeply_nested_file_is_known_by_its_words() -> None:
    large = parse_file("large.py", b"x = 1  # zebra\n" * 200_000)
    assert large.status is FileStatus.TEXT_ONLY
    assert "zebra" in large.chunks[0].terms
    nested = parse_file("nested.py", b"(" * 20_000 + b")" * 20_000)
    assert nested.line_count == 1


def test_a_language_without_a_grammar_has_the_definitions_of_its_lines() -> None:
    file = parse_file("a.php", b"<?php\nfinal class Client {\n  public function send() {}\n}\n")
    assert [(symbol.name, symbol.kind) for symbol in file.symbols] == [
        ("Client", SymbolKind.CLASS),
        ("send", SymbolKind.FUNCTION),
    ]


def test_spec_3_11_the_parts_of_a_qualified_type_are_one_reference() -> None:
    """Captures come in any order: the whole of it was sometimes left out for its last part."""
    source = b"package p\n\nfunc TestAll(t *testing.T, b *testing.B) {}\n"
    found = [{(one.qualifier, one.name) for one in parse_file("a_test.go", source).references} for _ in range(20)]
    assert all(names == {("testing", "T"), ("testing", "B")} for names in found)

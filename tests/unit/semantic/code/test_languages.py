"""Each language's golden repository: what is defined, imported and resolved."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.semantic.code.graph import CodeGraph
from services.semantic.code.model import FileStatus, RelationKind, SymbolKind
from services.semantic.code.parser import parse_file

DATA = Path(__file__).resolve().parents[3] / "data" / "code"

SYMBOLS = {
    "python": "Base Base.kind Base.save Base.validate LIMIT Order Order.Line Order.Line.price Order.ship Order.total"
    " Order.total.inner square tax good bad Later Later.method",
    "typescript": "Animal Animal.constructor Animal.count Animal.label Animal.speak Color Dog Dog.speak Named"
    " Named.label Pair helper run shout",
    "javascript": "Box Box.size LIMIT close later main numbers open",
    "go": "Base Base.Name NewSquare Shape Shape.Area Sides Square Square.Area Total",
    "java": "Animal Animal.LEGS Animal.Mood Animal.Mood.CALM Animal.sound Animal.speak Dog Dog.Dog Dog.make Dog.name"
    " Dog.sound Dog.tricks Pet Pet.name",
    "rust": "Area Area.area Circle Circle.area Circle.new Kind SCALE square total unit",
    "c": "LIST_MAX color color.GREEN color.RED counter list list_name list_size point_t",
    "cpp": "Number geo geo.Shape geo.Shape.area geo.Shape.twice geo.Square geo.Square.area largest main",
    "csharp": "Cart Cart.Add Customer IPriced IPriced.Price Item Item.Item Item.Name Item.Price Item.Round Item.money"
    " Money Size Money.Cents Size.Small",
    "ruby": "Base Base.greet Zoo Zoo.Dog Zoo.Dog.initialize Zoo.Dog.make Zoo.Dog.speak Zoo.LEGS",
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

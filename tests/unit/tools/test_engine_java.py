"""Which Java runs Neo4j."""

from pathlib import Path

import pytest

from tools.engines.java import Java, find_java


def installed(home: Path, version: str, modules: str = "java.base") -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").touch()
    (home / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return home


@pytest.fixture
def jvm(tmp_path: Path) -> Path:
    folder = tmp_path / "jvm"
    installed(folder / "java-17", "17.0.15")
    installed(folder / "java-21", "21.0.2")
    installed(folder / "java-25", "25")
    (folder / "java-99").mkdir()
    return folder


def test_the_newest_is_taken(jvm: Path) -> None:
    found = find_java({}, jvm)
    assert found is not None
    assert (found.home, found.version) == (jvm / "java-25", 25)


def test_java_home_goes_first(jvm: Path) -> None:
    found = find_java({"JAVA_HOME": str(jvm / "java-21")}, jvm)
    assert found is not None
    assert found.version == 21


@pytest.mark.parametrize("name", ["java-17", "java-99", "absent"])
def test_a_java_home_that_is_too_old_or_none_is_passed_over(jvm: Path, name: str) -> None:
    found = find_java({"JAVA_HOME": str(jvm / name)}, jvm)
    assert found is not None
    assert found.version == 25


def test_an_old_one_is_none(tmp_path: Path) -> None:
    installed(tmp_path / "jvm" / "java-17", "17.0.15")
    assert find_java({}, tmp_path / "jvm", tmp_path / "absent") is None


def test_a_folder_may_be_a_java_itself(tmp_path: Path) -> None:
    home = installed(tmp_path / "runtime", "25.0.2")
    found = find_java({}, home)
    assert found is not None
    assert found.home == home


def test_the_vector_module_is_asked_for_only_where_it_is() -> None:
    assert "--add-modules=jdk.incubator.vector" in Java(Path(), 25, frozenset({"jdk.incubator.vector"})).options
    assert not any("vector" in option for option in Java(Path(), 25, frozenset({"java.base"})).options)

"""Modules import each other in one direction only."""

from __future__ import annotations

import graphlib

import grimp
import pytest


@pytest.mark.parametrize("package", ["services", "mneme_client"])
def test_no_module_imports_one_that_imports_it(package: str) -> None:
    graph = grimp.build_graph(package, exclude_type_checking_imports=False, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))

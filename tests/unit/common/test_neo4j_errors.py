"""Errors of the Neo4j driver print nothing of what users said."""

from __future__ import annotations

import traceback

import pytest
from neo4j import exceptions as neo4j_errors

from services.common.errors import Conflict
from services.common.neo4j.failure import translate_errors

SAID = " ".join(["I", "live", "in", "Ghent"])  # in pieces: a traceback quotes the source


def from_server(code: str, message: str) -> neo4j_errors.Neo4jError:
    cause = {"gql_status": "22N77", "description": f"error: {message}", "message": message, "diagnostic_record": {}}
    made: neo4j_errors.Neo4jError = neo4j_errors.Neo4jError._hydrate_gql(
        gql_status="50N42", description=message, message=message, neo4j_code=code, diagnostic_record={}, cause=cause
    )
    return made


@pytest.mark.parametrize(
    "code",
    [
        "Neo.ClientError.Schema.ConstraintValidationFailed",
        "Neo.ClientError.Statement.TypeError",
        "Neo.ClientError.Statement.ArgumentError",
        "Neo.DatabaseError.General.UnknownError",
    ],
)
def test_spec_8_1_an_error_of_neo4j_prints_its_code_and_nothing_of_what_was_said(code: str) -> None:
    with pytest.raises((neo4j_errors.Neo4jError, Conflict)) as caught, translate_errors():
        raise from_server(code, f"Node(12) already exists with property `text` = '{SAID}'")
    printed = "".join(traceback.format_exception(caught.value))
    assert code in printed
    assert "22N77" in printed, "the cause that the server names"
    assert SAID not in printed


def test_spec_8_1_what_neo4j_says_of_a_query_and_the_driver_of_its_use_stays() -> None:
    code = "Neo.ClientError.Statement.SyntaxError"
    assert "Invalid input 'RETRUN'" in str(from_server(code, "Invalid input 'RETRUN'"))
    assert str(neo4j_errors.ClientError("of the driver itself")) == "of the driver itself"
    assert str(neo4j_errors.DriverError("closed")) == "closed"

"""Errors of Redis quote nothing of what users said."""

from __future__ import annotations

import traceback

import pytest
from redis.exceptions import ResponseError

from services.common.errors import StoreUnavailable
from services.session.stores.redis_client import translate_errors

SECRET = "My PIN is 4321"


@pytest.mark.parametrize(
    "text",
    [
        f"unknown command 'EVALSHA', with args beginning with: 'c0ffee' '1' '{SECRET}' ",
        f"unknown command `EVAL`, with args beginning with: `return 1\n`, `{SECRET}`, ",
    ],
)
def test_spec_8_1_an_error_of_redis_prints_no_arguments(text: str) -> None:
    with pytest.raises(ResponseError) as caught, translate_errors():
        raise ResponseError(text)
    printed = "".join(traceback.format_exception(caught.value))
    assert "unknown command" in printed
    assert SECRET not in printed


def test_spec_1_6_a_server_that_is_there_but_cannot_take_a_call_is_unavailable() -> None:
    with pytest.raises(StoreUnavailable) as caught, translate_errors():
        raise ResponseError("LOADING Redis is loading the dataset in memory")
    assert str(caught.value.__cause__) == "LOADING Redis is loading the dataset in memory"

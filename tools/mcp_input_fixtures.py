"""Tools and a prompt that first need input of the client, as the protocol's revision of 2026-07-28 defines it."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.shared.exceptions import MCPError

_STATE: Final = "waiting"  # the SDK seals it on the wire

Response = TypeVar("Response", bound=types.Result)


def add_to(server: MCPServer[Any]) -> None:
    """Adds the tools and the prompt."""
    for tool in _TOOLS:
        server.add_tool(tool, structured_output=False)
    server.prompt()(test_input_required_result_prompt)


def test_input_required_result_elicitation(context: Context[Any, Any]) -> str | types.InputRequiredResult:
    """Asks the user for a name."""
    name = _field(context, "user_name", "name")
    if name is None:
        return _required({"user_name": _question("What is your name?", "name")})
    return f"Hello, {name}!"


def test_input_required_result_sampling(context: Context[Any, Any]) -> str | types.InputRequiredResult:
    """Asks the client's model."""
    sampled = _response(context, "capital_question", types.CreateMessageResult)
    if sampled is None:
        return _required({"capital_question": _sampling("What is the capital of France?", tokens_max=100)})
    return sampled.content.text if isinstance(sampled.content, types.TextContent) else ""


def test_input_required_result_list_roots(context: Context[Any, Any]) -> str | types.InputRequiredResult:
    """Asks for the client's roots."""
    listed = _response(context, "client_roots", types.ListRootsResult)
    if listed is None:
        return _required({"client_roots": types.ListRootsRequest()})
    return "Roots: " + ", ".join(str(root.uri) for root in listed.roots)


def test_input_required_result_request_state(context: Context[Any, Any]) -> str | types.InputRequiredResult:
    """Asks the user to confirm, with a state that comes back."""
    if context.request_state != _STATE or _field(context, "confirm", "ok") is None:
        return _required({"confirm": _question("Please confirm", "ok", "boolean")}, _STATE)
    return "state-ok"


def test_input_required_result_tampered_state(context: Context[Any, Any]) -> str | types.InputRequiredResult:
    """As the one above: the SDK rejects a changed state."""
    return test_input_required_result_request_state(context)


def test_input_required_result_multiple_inputs(context: Context[Any, Any]) -> str | types.InputRequiredResult:
    """Asks the user, the client's model and for its roots at once."""
    name = _field(context, "user_name", "name")
    greeting = _response(context, "greeting", types.CreateMessageResult)
    roots = _response(context, "client_roots", types.ListRootsResult)
    if context.request_state != _STATE or name is None or greeting is None or roots is None:
        requests: types.InputRequests = {
            "user_name": _question("What is your name?", "name"),
            "greeting": _sampling("Generate a greeting", tokens_max=50),
            "client_roots": types.ListRootsRequest(),
        }
        return _required(requests, _STATE)
    return f"{name} has {len(roots.roots)} roots."


def test_input_required_result_multi_round(context: Context[Any, Any]) -> str | types.InputRequiredResult:
    """Asks the user twice; the first response returns as the state of the second."""
    name = _field(context, "step1", "name")
    if context.request_state == _STATE and name is not None:
        return _required({"step2": _question("Step 2: What is your favorite color?", "color")}, f"named {name}")
    color = _field(context, "step2", "color")
    if context.request_state and context.request_state.startswith("named ") and color is not None:
        return f"{context.request_state.removeprefix('named ')} likes {color}."
    return _required({"step1": _question("Step 1: What is your name?", "name")}, _STATE)


def test_input_required_result_capabilities(context: Context[Any, Any]) -> types.InputRequiredResult:
    """Asks only for what the client declared that it can do."""
    can = context.client_capabilities or types.ClientCapabilities()
    requests: types.InputRequests = {}
    if can.sampling is not None:
        requests["sampled"] = _sampling("Generate a greeting", tokens_max=50)
    if can.elicitation is not None:
        requests["asked"] = _question("What is your name?", "name")
    return _required(requests, _STATE)


def test_streaming_elicitation(context: Context[Any, Any]) -> str | types.InputRequiredResult:
    """Asks the user in its result, never by a request on the stream."""
    return test_input_required_result_elicitation(context)


def test_missing_capability(context: Context[Any, Any]) -> str:
    """Needs a client that can ask its model."""
    if context.client_capabilities is None or context.client_capabilities.sampling is None:
        needed = types.MissingRequiredClientCapabilityErrorData(
            required_capabilities=types.ClientCapabilities(sampling=types.SamplingCapability())
        )
        raise MCPError(
            code=types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="sampling is needed",
            data=needed.model_dump(by_alias=True, mode="json", exclude_none=True),
        )
    return "done"


async def test_trigger_tool_change(context: Context[Any, Any]) -> str:
    """Notifies of another list of tools."""
    await context.notify_tools_changed()
    return "done"


async def test_trigger_prompt_change(context: Context[Any, Any]) -> str:
    """Notifies of another list of prompts."""
    await context.notify_prompts_changed()
    return "done"


async def test_input_required_result_prompt(context: Context[Any, Any]) -> list[Message] | types.InputRequiredResult:
    """A prompt for a context that the user gives."""
    given = _field(context, "user_context", "context")
    if given is None:
        return _required({"user_context": _question("What context should the prompt use?", "context")})
    return [UserMessage(f"Context: {given}")]


_TOOLS: Final = (
    test_input_required_result_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_capabilities,
    test_streaming_elicitation,
    test_missing_capability,
    test_trigger_tool_change,
    test_trigger_prompt_change,
)


def _required(requests: types.InputRequests, state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def _question(message: str, field: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def _sampling(text: str, *, tokens_max: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=tokens_max)
    )


def _response(context: Context[Any, Any], key: str, kind: type[Response]) -> Response | None:
    given = (context.input_responses or {}).get(key)
    return given if isinstance(given, kind) else None


def _field(context: Context[Any, Any], key: str, field: str) -> object | None:
    """What the user filled in, or None where they did not."""
    answer = _response(context, key, types.ElicitResult)
    return answer.content.get(field) if answer and answer.action == "accept" and answer.content else None

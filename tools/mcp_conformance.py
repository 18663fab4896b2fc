"""The server that the protocol's conformance suite talks to: Mneme's MCP server with the fixtures that the suite names.

    python tools/mcp_conformance.py PORT

The server is that of `mneme mcp --http`, with what the suite covers and Mneme has no use for: log messages, completion,
subscriptions, resumption of streams. The suite calls tools, resources and prompts of given names. They stand here, in
`mcp_session_fixtures` and in `mcp_input_fixtures` beside Mneme's own, and need no gateway.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from enum import StrEnum
from typing import Annotated, Any, Final

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.server.subscriptions import InMemorySubscriptionBus
from pydantic import BaseModel, ConfigDict, Field

from mneme_client import Client, ContextResult, QueryReading, Scope
from services.cli.mcp.server import McpSettings, create_server
from services.cli.version import distribution_version
from tools import mcp_input_fixtures, mcp_session_fixtures

_PNG: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
_WAV: Final = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
_PAUSE_SECONDS: Final = 0.05  # between notifications, as the suite asks
_RETRY_MILLISECONDS: Final = 100  # that clients of a closed stream wait before they come back
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


class _OfNoGateway(Client):
    """A client for a suite that calls none of Mneme's tools and reads only the first of its resources."""

    async def build_context(self, *_arguments: Any, **_options: Any) -> ContextResult:
        """Nothing is remembered."""
        return ContextResult("", 0, "", (), (), degraded=False, reading=QueryReading("", (), ()), recall_id="")


async def main(port: int) -> None:
    """Serves until it is ended."""
    async with _OfNoGateway("127.0.0.1:1") as client:
        server = create_server(
            client,
            McpSettings("conformance", "conformance", Scope()),
            version=distribution_version(),
            subscriptions=InMemorySubscriptionBus(),
        )
        for tool in _TOOLS:
            server.add_tool(tool, structured_output=False)
        _add_schema_tool(server)
        _add_resources(server)
        _add_prompts(server)
        mcp_session_fixtures.add_to(server)
        mcp_input_fixtures.add_to(server)
        await server.run_streamable_http_async(
            host="127.0.0.1",
            port=port,
            event_store=mcp_session_fixtures.RecentEvents(),
            retry_interval=_RETRY_MILLISECONDS,
        )


# --------------------------------------------------------------------------------------------- tools


def test_simple_text() -> str:
    """Text."""
    return "This is a simple text response for testing."


def test_image_content() -> types.ImageContent:
    """An image."""
    return _image()


def test_audio_content() -> types.AudioContent:
    """A sound."""
    return types.AudioContent(type="audio", data=_WAV, mime_type="audio/wav")


def test_embedded_resource() -> types.EmbeddedResource:
    """A resource in the result."""
    return _embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")


def test_multiple_content_types() -> list[Any]:
    """Several kinds of content."""
    text = types.TextContent(type="text", text="Multiple content types test:")
    data = json.dumps({"test": "data", "value": 123})
    return [text, _image(), _embedded("test://mixed-content-resource", "application/json", data)]


async def test_tool_with_progress(context: Context[Any, Any]) -> str:
    """Reports progress."""
    for progress in (0, 50, 100):
        await context.report_progress(progress, 100)
        await asyncio.sleep(_PAUSE_SECONDS)
    return "done"


def test_error_handling() -> str:
    """Fails."""
    raise ValueError("This tool intentionally returns an error for testing")


async def test_sampling(prompt: str, context: Context[Any, Any]) -> str:
    """Asks the client's model."""
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=prompt))
    answer = await context.session.create_message([message], max_tokens=100, related_request_id=context.request_id)
    return f"LLM response: {answer.content.text if isinstance(answer.content, types.TextContent) else ''}"


class _Person(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


async def test_elicitation(message: str, context: Context[Any, Any]) -> str:
    """Asks the user."""
    answer = await context.elicit(message, _Person)
    return f"User response: action={answer.action}"


class _Status(StrEnum):
    ACTIVE = "active"
    INACTIVE = "inactive"
    PENDING = "pending"


class _Defaults(BaseModel):
    model_config = ConfigDict(use_enum_values=True)

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: str = Field(default="active", json_schema_extra={"enum": [status.value for status in _Status]})
    verified: bool = True


async def test_elicitation_sep1034_defaults(context: Context[Any, Any]) -> str:
    """Asks the user, with a default for each kind of value."""
    answer = await context.elicit("Please confirm.", _Defaults)
    return f"Elicitation completed: action={answer.action}"


async def test_elicitation_sep1330_enums(context: Context[Any, Any]) -> str:
    """Asks the user to choose, in the five forms of a choice."""
    plain = ["option1", "option2", "option3"]
    titled = [
        {"const": f"value{n}", "title": f"{word} Option"} for n, word in enumerate(("First", "Second", "Third"), 1)
    ]
    schema = {
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": plain},
            "titledSingle": {"type": "string", "oneOf": titled},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled}},
        },
        "required": [],
    }
    answer = await context.session.elicit_form("Please choose.", schema, related_request_id=context.request_id)
    return f"Elicitation completed: action={answer.action}"


def test_custom_header(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Has an argument that clients repeat in a header, which the SDK compares."""
    return region


_TOOLS: Final = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_tool_with_progress,
    test_error_handling,
    test_sampling,
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_custom_header,
)


def json_schema_2020_12_tool(
    name: str = "",
    address: dict[str, Any] | None = None,
    contactMethod: str = "",  # noqa: N803 - the suite's name
    phone: str = "",
    email: str = "",
) -> str:
    """Has a schema with the keywords of its dialect."""
    return json.dumps([name, address, contactMethod, phone, email])


def _add_schema_tool(server: MCPServer[Any]) -> None:
    """Adds the tool with the schema that the suite compares; the SDK derives others from the function's signature."""
    server.add_tool(json_schema_2020_12_tool, structured_output=False)
    tool = server._tool_manager.get_tool(json_schema_2020_12_tool.__name__)  # noqa: SLF001 - no public way
    assert tool is not None
    text = {"type": "string"}
    tool.parameters = {
        "$schema": _DIALECT,
        "type": "object",
        "$defs": {
            "address": {"$anchor": "addressDef", "type": "object", "properties": {"street": text, "city": text}},
        },
        "properties": {
            "name": text,
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": text,
            "email": text,
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }


# ------------------------------------------------------------------------------- resources, prompts


def _add_resources(server: MCPServer[Any]) -> None:
    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        """A text."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """An image."""
        return base64.b64decode(_PNG)

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002 - the suite's name
        """Depends on its address."""
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _add_prompts(server: MCPServer[Any]) -> None:
    @server.prompt()
    def test_simple_prompt() -> str:
        """A prompt."""
        return "This is a simple prompt for testing."

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """A prompt with arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:  # noqa: N803 - the suite's name
        """A prompt with a resource."""
        resource = _embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
        return [UserMessage(resource), UserMessage("Please process the embedded resource above.")]

    @server.prompt()
    def test_prompt_with_image() -> list[Message]:
        """A prompt with an image."""
        return [UserMessage(_image()), UserMessage("Please analyze the image above.")]


def _image() -> types.ImageContent:
    return types.ImageContent(type="image", data=_PNG, mime_type="image/png")


def _embedded(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.EmbeddedResource(type="resource", resource=contents)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))

"""Describes the unary calls of the public services as OpenAPI 3.1, as HTTP clients send them: JSON POSTs.

Field names and forms are those of protobuf's JSON mapping. Comments of the protos become descriptions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
)

_FIELD: Final = FieldDescriptorProto

_SCALARS: Final[dict[int, dict[str, Any]]] = {
    _FIELD.TYPE_DOUBLE: {"type": "number", "format": "double"},
    _FIELD.TYPE_FLOAT: {"type": "number", "format": "float"},
    _FIELD.TYPE_INT32: {"type": "integer", "format": "int32"},
    _FIELD.TYPE_SINT32: {"type": "integer", "format": "int32"},
    _FIELD.TYPE_UINT32: {"type": "integer", "minimum": 0},
    _FIELD.TYPE_FIXED32: {"type": "integer", "minimum": 0},
    _FIELD.TYPE_INT64: {"type": "string", "format": "int64"},
    _FIELD.TYPE_UINT64: {"type": "string", "format": "uint64"},
    _FIELD.TYPE_FIXED64: {"type": "string", "format": "uint64"},
    _FIELD.TYPE_BOOL: {"type": "boolean"},
    _FIELD.TYPE_STRING: {"type": "string"},
    _FIELD.TYPE_BYTES: {"type": "string", "format": "byte"},
}
_WELL_KNOWN: Final[dict[str, dict[str, Any]]] = {
    ".google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    ".google.protobuf.Duration": {"type": "string", "examples": ["3.5s"]},
    ".google.protobuf.FieldMask": {"type": "string", "examples": ["text,importance"]},
    ".google.protobuf.Struct": {"type": "object"},
    ".google.protobuf.Value": {},
    ".google.protobuf.Empty": {"type": "object"},
    ".google.protobuf.Any": {
        "type": "object",
        "properties": {"@type": {"type": "string"}},
        "additionalProperties": True,
    },
}
_ERROR: Final = {
    "type": "object",
    "description": "What every failed call returns.",
    "properties": {
        "code": {"type": "string", "description": "gRPC's status in lower case.", "examples": ["invalid_argument"]},
        "message": {"type": "string"},
        "details": {
            "type": "array",
            "description": "google.rpc.ErrorInfo with the reason, BadRequest with field paths, RetryInfo.",
            "items": {
                "type": "object",
                "properties": {"type": {"type": "string"}, "value": {"type": "string", "format": "byte"}},
            },
        },
    },
}
# Places of a file's parts in a path of its source information; see descriptor.proto.
_MESSAGES, _ENUMS, _SERVICES, _MEMBERS, _NESTED, _NESTED_ENUMS = 4, 5, 6, 2, 3, 4


def openapi(protos: FileDescriptorSet, *, version: str = "v1") -> str:
    """The document, as JSON with a line for each value.

    Args:
        protos: All files with their imports and comments.
        version: Of the contracts.
    """
    described = _Described(protos)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Mneme",
            "version": version,
            "description": "Long-term memory for AI agents. Every call is a POST with a JSON body.",
        },
        "servers": [{"url": "/"}],  # where the document comes from, whatever the port
        "security": [{"apiKey": []}],
        "paths": dict(described.paths()),
        "components": {
            "securitySchemes": {"apiKey": {"type": "http", "scheme": "bearer"}},
            "schemas": {**described.schemas(), "Error": _ERROR},
        },
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


class _Described:
    """The parts of the protos by name."""

    def __init__(self, protos: FileDescriptorSet) -> None:
        self._messages: dict[str, tuple[DescriptorProto, Sequence[int], FileDescriptorProto]] = {}
        self._enums: dict[str, tuple[EnumDescriptorProto, Sequence[int], FileDescriptorProto]] = {}
        self._comments: dict[tuple[str, tuple[int, ...]], str] = {}
        self._files = [file for file in protos.file if _is_public(file.package)]
        self._used: set[str] = set()
        for file in protos.file:
            for place in file.source_code_info.location:
                self._comments[file.name, tuple(place.path)] = _prose(place.leading_comments or place.trailing_comments)
            for number, message in enumerate(file.message_type):
                self._collect(file, f".{file.package}", message, (_MESSAGES, number))
            for number, enum in enumerate(file.enum_type):
                self._enums[f".{file.package}.{enum.name}"] = (enum, (_ENUMS, number), file)

    def _collect(self, file: FileDescriptorProto, above: str, message: DescriptorProto, path: tuple[int, ...]) -> None:
        name = f"{above}.{message.name}"
        self._messages[name] = (message, path, file)
        for number, nested in enumerate(message.nested_type):
            self._collect(file, name, nested, (*path, _NESTED, number))
        for number, enum in enumerate(message.enum_type):
            self._enums[f"{name}.{enum.name}"] = (enum, (*path, _NESTED_ENUMS, number), file)

    def paths(self) -> Iterator[tuple[str, Any]]:
        """Every unary method of a public service."""
        for file in self._files:
            for number, service in enumerate(file.service):
                for place, method in enumerate(service.method):
                    if method.client_streaming or method.server_streaming:
                        continue
                    full_name = f"{file.package}.{service.name}"
                    comment = self._comments.get((file.name, (_SERVICES, number, _MEMBERS, place)), "")
                    yield f"/{full_name}/{method.name}", {"post": self._operation(full_name, method, comment)}

    def _operation(self, service: str, method: MethodDescriptorProto, comment: str) -> dict[str, Any]:
        def content(schema: Any) -> Any:
            return {"application/json": {"schema": schema}}

        return {
            "tags": [service],
            "operationId": f"{service.rpartition('.')[2]}_{method.name}",
            "summary": comment.split(". ", maxsplit=1)[0].split("\n", maxsplit=1)[0].rstrip("."),
            "description": comment,
            "requestBody": {"required": True, "content": content(self._reference(method.input_type))},
            "responses": {
                "200": {"description": "The response.", "content": content(self._reference(method.output_type))},
                "default": {
                    "description": "The error.",
                    "content": content({"$ref": "#/components/schemas/Error"}),
                },
            },
        }

    def schemas(self) -> dict[str, Any]:
        """Every message and enum that the calls use, sorted by name."""
        found: dict[str, Any] = {}
        while missing := sorted(self._used - found.keys()):
            for name in missing:
                found[name] = self._schema(f".{name}")
        return dict(sorted(found.items()))

    def _schema(self, name: str) -> dict[str, Any]:
        if name in self._enums:
            enum, path, file = self._enums[name]
            return {
                "type": "string",
                "description": self._comments.get((file.name, tuple(path)), ""),
                "enum": [value.name for value in enum.value],
            }
        message, path, file = self._messages[name]
        properties = {
            field.json_name: {
                **self._field(field),
                "description": self._comments.get((file.name, (*path, _MEMBERS, number)), ""),
            }
            for number, field in enumerate(message.field)
        }
        described = self._comments.get((file.name, tuple(path)), "")
        return {"type": "object", "description": described, "properties": properties}

    def _field(self, field: FieldDescriptorProto) -> dict[str, Any]:
        if field.label != _FIELD.LABEL_REPEATED:
            return self._value(field)
        entry = self._messages.get(field.type_name)
        if entry is not None and entry[0].options.map_entry:
            return {"type": "object", "additionalProperties": self._value(entry[0].field[1])}
        return {"type": "array", "items": self._value(field)}

    def _value(self, field: FieldDescriptorProto) -> dict[str, Any]:
        if field.type in _SCALARS:
            return dict(_SCALARS[field.type])
        return self._reference(field.type_name)

    def _reference(self, name: str) -> dict[str, Any]:
        if name in _WELL_KNOWN:
            return dict(_WELL_KNOWN[name])
        self._used.add(name.lstrip("."))
        return {"$ref": f"#/components/schemas/{name.lstrip('.')}"}


def _is_public(package: str) -> bool:
    return package.startswith("mneme.") and ".internal." not in package


def _prose(comment: str) -> str:
    """A comment's paragraphs without its line breaks."""
    paragraphs = comment.strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)

"""Protobuf's JSON without line breaks and indentation.

The messages of this project belong to the library `protobuf`, which writes JSON in Python. `protobuf-py`, which Connect
is built on, writes it in native code: a response is handed to it as bytes, which takes a fifth of the time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from connectrpc.codec import Codec
from connectrpc.compat import google_protobuf_json_codec
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto
from google.protobuf.descriptor_pb2 import FileDescriptorProto as DescribedFile
from google.protobuf.message import Message
from protobuf import Registry
from protobuf.wkt import FileDescriptorProto, FileDescriptorSet


class CompactJsonCodec(Codec[Message, Message]):
    """Reads JSON as Connect's codec does, and writes it in one line.

    Args:
        files: Descriptors of the files whose messages are written, those inside an `Any` too.
            What they import is added.
    """

    def __init__(self, files: Iterable[FileDescriptor]) -> None:
        self._library: Codec[Any, Any] = google_protobuf_json_codec()
        self._registry = _registry(files)

    def name(self) -> str:
        """Of the codec in content types."""
        return self._library.name()

    def encode(self, message: Message) -> bytes:
        """One line of UTF-8.

        Raises:
            LookupError: The message is of a file that was not named.
        """
        described = self._registry.message(message.DESCRIPTOR.full_name)
        if described is None:
            raise LookupError(f"{message.DESCRIPTOR.full_name} is in none of the codec's files")
        same = described.type.from_binary(message.SerializeToString())
        return same.to_json(registry=self._registry).encode()

    def decode(self, data: bytes | bytearray, message_class: type[Message]) -> Message:
        """A message; fields that it does not have are left out."""
        return self._library.decode(data, message_class)  # type: ignore[no-any-return]


def _registry(files: Iterable[FileDescriptor]) -> Registry:
    found: dict[str, FileDescriptorProto] = {}

    def add(file: FileDescriptor) -> None:
        if file.name in found:
            return
        for imported in file.dependencies:  # they must stand before what imports them
            add(imported)
        found[file.name] = _with_json_names(file)

    for file in files:
        add(file)
    return FileDescriptorSet(file=list(found.values())).to_registry()


def _with_json_names(file: FileDescriptor) -> FileDescriptorProto:
    """The file as `protoc` hands it to plugins: generated code leaves out the names of fields in JSON."""
    described = DescribedFile()
    file.CopyToProto(described)
    for message in described.message_type:
        _name_fields(message, file.message_types_by_name[message.name])
    return FileDescriptorProto.from_binary(described.SerializeToString())


def _name_fields(described: DescriptorProto, message: Descriptor) -> None:
    for field in described.field:
        field.json_name = message.fields_by_name[field.name].json_name
    for nested in described.nested_type:
        _name_fields(nested, message.nested_types_by_name[nested.name])

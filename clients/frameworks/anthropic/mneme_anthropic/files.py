"""The commands of the memory tool on documents: files, and folders that stay when they are empty.

Each command is a generator that yields what it needs of the service and is sent the outcome, so that the synchronous
and the asynchronous tool share it. A file is a document `{"content": ...}` whose key is its path below the root; a
folder is a document whose key ends with a slash.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from anthropic.lib.tools import ToolError

from mneme_anthropic.paths import LINES_MAX, ROOT, folder_key, key_of, listing, numbered, parents
from mneme_client import DeleteDocument, Document, DocumentName, PutDocument

WRITES_MAX = 1_000
"""Writes that happen together or not at all."""
_CONTENT = "content"
_PAGE_SIZE = 200


@dataclass(frozen=True, slots=True)
class Get:
    """Asks for documents by key. Is sent a dict of those that are there, by key."""

    keys: Sequence[str]


@dataclass(frozen=True, slots=True)
class List:
    """Asks for all documents whose keys begin with a prefix. Is sent a list, by key."""

    prefix: str
    only_first: bool = False

    @property
    def page_size(self) -> int:
        """Documents that one call fetches."""
        return 1 if self.only_first else _PAGE_SIZE


@dataclass(frozen=True, slots=True)
class Write:
    """Asks for writes, all or none. Is sent None. Where a document is not as it was read, the command begins anew."""

    writes: Sequence[PutDocument | DeleteDocument]


class ChangedMeanwhileError(Exception):
    """A document was written by somebody else meanwhile: the command begins anew."""


Command: TypeAlias = Generator[Get | List | Write, Any, str]


class Files:
    """The commands on the documents of one namespace."""

    def __init__(self, namespace: tuple[str, ...]) -> None:
        """Nothing else may be stored in the namespace."""
        self._namespace = namespace

    def view(self, path: str, view_range: Sequence[int] | None) -> Command:
        """A folder's files, or a file's lines with their numbers."""
        key = key_of(path)
        found = yield Get([key] if key else [])
        if key in found:
            return _lines(path, _text(found[key]), view_range)
        documents = yield List(folder_key(key))
        if key and not documents:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        return listing(path, folder_key(key), [(one.name.key, _size(one)) for one in documents])

    def create(self, path: str, text: str) -> Command:
        """Creates a file, and the folders that it is in."""
        key = key_of(path)
        found = yield Get([key, folder_key(key), *_as_files(key)] if key else [])
        if not key or key in found or folder_key(key) in found or (yield List(folder_key(key), only_first=True)):
            raise ToolError(f"File {path} already exists")
        _check_folders(path, key, found)
        yield Write([*(yield from self._folders(key)), self._put(key, text, must_be_new=True)])
        return f"File created successfully at: {path}"

    def replace(self, path: str, old: str, new: str) -> Command:
        """Replaces the one occurrence of a text in a file."""
        document = yield from self._file(path)
        text = _text(document)
        count = text.count(old)
        if count == 0:
            raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
        if count > 1:
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{', '.join(map(str, _line_numbers(text, old)))}. Please ensure it is unique"
            )
        changed = text.replace(old, new)
        yield Write([self._put(document.name.key, changed, etag=document.etag)])
        line = text[: text.find(old)].count("\n")
        start = max(0, line - 2)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            + numbered(changed.split("\n")[start : line + 3], start + 1)
        )

    def insert(self, path: str, line: int, text: str) -> Command:
        """Inserts a text behind a line of a file; 0 is the beginning."""
        document = yield from self._file(path)
        lines = _text(document).split("\n")
        if not lines[-1]:
            lines.pop()
        if not 0 <= line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(line, text.rstrip("\n"))
        changed = "\n".join(lines)
        changed = changed if changed.endswith("\n") else f"{changed}\n"
        yield Write([self._put(document.name.key, changed, etag=document.etag)])
        return f"The file {path} has been edited."

    def delete(self, path: str) -> Command:
        """Deletes a file, or a folder with all that is in it."""
        key = key_of(path)
        if not key:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        documents = yield from self._all(key)
        if not documents:
            raise ToolError(f"The path {path} does not exist")
        deletions = [DeleteDocument(document.name) for document in documents]
        for start in range(0, len(deletions), WRITES_MAX):
            yield Write(deletions[start : start + WRITES_MAX])
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> Command:
        """Moves a file, or a folder with all that is in it, in one transaction."""
        old, new = key_of(old_path), key_of(new_path)
        if not old:
            raise ToolError(f"Cannot rename the {ROOT} directory itself")
        if not new or (yield from self._all(new)):
            raise ToolError(f"The destination {new_path} already exists")
        if new.startswith(folder_key(old)):
            raise ToolError(f"{old_path} cannot be moved into itself")
        documents = yield from self._all(old)
        if not documents:
            raise ToolError(f"The path {old_path} does not exist")
        _check_folders(new_path, new, (yield Get(_as_files(new))))
        writes: list[PutDocument | DeleteDocument] = list((yield from self._folders(new)))
        for document in documents:
            moved = f"{new}{document.name.key[len(old) :]}"
            writes.append(DeleteDocument(document.name, etag=document.etag))
            writes.append(PutDocument(self._name(moved), document.value, must_be_new=True))
        if len(writes) > WRITES_MAX:
            raise ToolError(f"{old_path} holds too many files to be moved at once; move them in parts")
        yield Write(writes)
        return f"Successfully renamed {old_path} to {new_path}"

    def clear(self) -> Command:
        """Deletes everything."""
        documents = yield List("")
        deletions = [DeleteDocument(document.name) for document in documents]
        for start in range(0, len(deletions), WRITES_MAX):
            yield Write(deletions[start : start + WRITES_MAX])
        return "All memory cleared"

    def _file(self, path: str) -> Generator[Get | List | Write, Any, Document]:
        key = key_of(path)
        found = yield Get([key] if key else [])
        if key in found:
            document: Document = found[key]
            return document
        if not key or (yield List(folder_key(key), only_first=True)):
            raise ToolError(f"The path {path} is not a file.")
        raise ToolError(f"The path {path} does not exist. Please provide a valid path.")

    def _all(self, key: str) -> Generator[Get | List | Write, Any, list[Document]]:
        """A file, or a folder with all that is in it."""
        found = yield Get([key])
        if key in found:
            return [found[key]]
        documents: list[Document] = yield List(folder_key(key))
        return documents

    def _folders(self, key: str) -> Generator[Get | List | Write, Any, list[PutDocument]]:
        """Writes of the folders that a file or folder is to be in, where they are missing."""
        wanted = parents(key)
        found = yield Get(wanted)
        return [PutDocument(self._name(folder), {}) for folder in wanted if folder not in found]

    def _put(self, key: str, text: str, *, etag: str = "", must_be_new: bool = False) -> PutDocument:
        return PutDocument(self._name(key), {_CONTENT: text}, etag=etag, must_be_new=must_be_new)

    def _name(self, key: str) -> DocumentName:
        return DocumentName(self._namespace, key)


def _as_files(key: str) -> list[str]:
    return [folder.rstrip("/") for folder in parents(key)]


def _check_folders(path: str, key: str, found: dict[str, Document]) -> None:
    for folder in _as_files(key):
        if folder in found:
            raise ToolError(f"{ROOT}/{folder} is a file, so {path} cannot be in it")


def _text(document: Document) -> str:
    content = document.value.get(_CONTENT, "") if isinstance(document.value, dict) else ""
    return str(content)


def _size(document: Document) -> int:
    return len(_text(document).encode("utf-8", "surrogatepass"))


def _lines(path: str, text: str, view_range: Sequence[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > LINES_MAX:
        raise ToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
    start, end = 0, len(lines)
    if view_range and len(view_range) == 2:
        start = max(1, view_range[0]) - 1
        end = len(lines) if view_range[1] == -1 else view_range[1]
    return f"Here's the content of {path} with line numbers:\n" + numbered(lines[start:end], start + 1)


def _line_numbers(text: str, wanted: str) -> list[int]:
    numbers: list[int] = []
    position = text.find(wanted)
    while position != -1:
        numbers.append(text[:position].count("\n") + 1)
        position = text.find(wanted, position + 1)
    return numbers

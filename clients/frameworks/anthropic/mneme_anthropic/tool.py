"""The memory tool: a subclass of the SDK's abstract tool, synchronous and asynchronous."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from mneme_anthropic.files import ChangedMeanwhileError, Command, Files, Get, List, Write
from mneme_client import Client, DocumentName, MnemeClientError, SyncClient

NAMESPACE = ("memories",)
_ATTEMPTS = 5
_CHANGED = (grpc.StatusCode.ABORTED, grpc.StatusCode.ALREADY_EXISTS)
_REFUSED = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED)


class MnemeMemoryTool(BetaAbstractMemoryTool):
    """Files in the documents of a user.

    A command that cannot be carried out fails with a message to the model. Edits of one file by several agents follow
    one another: none is lost.

    Args:
        client: Of the gateway; its owner closes it.
        user_id: Whose files.
        namespace: Where they are; nothing else may be stored in it.
        cache_control: See the SDK.
    """

    def __init__(
        self,
        client: SyncClient,
        user_id: str,
        *,
        namespace: tuple[str, ...] = NAMESPACE,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._client = client
        self._user_id = user_id
        self._namespace = namespace
        self._files = Files(namespace)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """A folder's files, or a file's lines."""
        return self._run(lambda: self._files.view(command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Creates a file."""
        return self._run(lambda: self._files.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replaces a text in a file."""
        return self._run(lambda: self._files.replace(command.path, command.old_str, command.new_str))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Inserts a text behind a line of a file."""
        return self._run(lambda: self._files.insert(command.path, command.insert_line, command.insert_text))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Deletes a file or a folder."""
        return self._run(lambda: self._files.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Moves a file or a folder."""
        return self._run(lambda: self._files.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        """Deletes all files."""
        return self._run(self._files.clear)

    def _run(self, begin: Callable[[], Command]) -> str:
        for _ in range(_ATTEMPTS):
            command = begin()
            outcome: Any = None
            try:
                while True:
                    outcome = self._serve(command.send(outcome))
            except StopIteration as end:
                return str(end.value)
            except ChangedMeanwhileError:
                continue
            except MnemeClientError as error:
                raise _refusal(error) from error
        raise ToolError("The files are being changed by somebody else. Try again.")

    def _serve(self, request: Get | List | Write) -> Any:
        if isinstance(request, Get):
            if not request.keys:
                return {}
            names = [DocumentName(self._namespace, key) for key in request.keys]
            return {one.name.key: one for one in self._client.batch_get_documents(self._user_id, names)}
        if isinstance(request, List):
            found = self._client.list_documents(
                self._user_id, namespace_prefix=self._namespace, key_prefix=request.prefix, page_size=request.page_size
            )
            own = (one for one in found if one.name.namespace == self._namespace)
            return [first for first in [next(own, None)] if first] if request.only_first else list(own)
        try:
            self._client.write_documents(self._user_id, request.writes)
        except MnemeClientError as error:
            raise _changed(error) from error
        return None


class AsyncMnemeMemoryTool(BetaAsyncAbstractMemoryTool):
    """`MnemeMemoryTool` for asyncio.

    Args:
        client: Of the gateway; its owner closes it.
        user_id: Whose files.
        namespace: Where they are; nothing else may be stored in it.
        cache_control: See the SDK.
    """

    def __init__(
        self,
        client: Client,
        user_id: str,
        *,
        namespace: tuple[str, ...] = NAMESPACE,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._client = client
        self._user_id = user_id
        self._namespace = namespace
        self._files = Files(namespace)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """A folder's files, or a file's lines."""
        return await self._run(lambda: self._files.view(command.path, command.view_range))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Creates a file."""
        return await self._run(lambda: self._files.create(command.path, command.file_text))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replaces a text in a file."""
        return await self._run(lambda: self._files.replace(command.path, command.old_str, command.new_str))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Inserts a text behind a line of a file."""
        return await self._run(lambda: self._files.insert(command.path, command.insert_line, command.insert_text))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Deletes a file or a folder."""
        return await self._run(lambda: self._files.delete(command.path))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Moves a file or a folder."""
        return await self._run(lambda: self._files.rename(command.old_path, command.new_path))

    async def clear_all_memory(self) -> str:
        """Deletes all files."""
        return await self._run(self._files.clear)

    async def _run(self, begin: Callable[[], Command]) -> str:
        for _ in range(_ATTEMPTS):
            command = begin()
            outcome: Any = None
            try:
                while True:
                    outcome = await self._serve(command.send(outcome))
            except StopIteration as end:
                return str(end.value)
            except ChangedMeanwhileError:
                continue
            except MnemeClientError as error:
                raise _refusal(error) from error
        raise ToolError("The files are being changed by somebody else. Try again.")

    async def _serve(self, request: Get | List | Write) -> Any:
        if isinstance(request, Get):
            if not request.keys:
                return {}
            names = [DocumentName(self._namespace, key) for key in request.keys]
            return {one.name.key: one for one in await self._client.batch_get_documents(self._user_id, names)}
        if isinstance(request, List):
            found = self._client.list_documents(
                self._user_id, namespace_prefix=self._namespace, key_prefix=request.prefix, page_size=request.page_size
            )
            own = []
            async for one in found:
                if one.name.namespace == self._namespace:
                    own.append(one)
                    if request.only_first:
                        break
            return own
        try:
            await self._client.write_documents(self._user_id, request.writes)
        except MnemeClientError as error:
            raise _changed(error) from error
        return None


def _changed(error: MnemeClientError) -> Exception:
    return ChangedMeanwhileError() if error.code in _CHANGED else error


def _refusal(error: MnemeClientError) -> Exception:
    """The error to raise: one that the model reads where the file cannot be stored, else the same error."""
    if error.code not in _REFUSED:
        return error
    wrong = "; ".join(f"{violation.field_path} {violation.description}" for violation in error.violations)
    return ToolError(f"{error.message}: {wrong}" if wrong else error.message)

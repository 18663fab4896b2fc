"""The gRPC edge of profiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.semantic.v1 import profile_pb2 as pb
from mneme.semantic.v1 import profile_pb2_grpc
from services.common.auth import Role, current_principal
from services.semantic.commands import profile_reader
from services.semantic.config import SemanticSettings
from services.semantic.profile import commands, convert
from services.semantic.profile.service import ProfileService

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["ProfileService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "GetProfile": Role.READER,
    "UpdateProfile": Role.WRITER,
    "DeleteProfile": Role.WRITER,
}
"""The role that each method needs, by its name."""


class ProfileServicer(profile_pb2_grpc.ProfileServiceServicer):
    """Handlers of ProfileService: in, work, out."""

    def __init__(self, profiles: ProfileService, settings: SemanticSettings) -> None:
        """Serve `profiles`; requests are checked against the limits of `settings`."""
        self._profiles = profiles
        self._limits = settings.facts
        self._profile_limits = settings.profile

    async def GetProfile(self, request: pb.GetProfileRequest, _context: Context) -> pb.GetProfileResponse:
        """See profile.proto."""
        owner, reader = profile_reader(request, current_principal(), limits=self._limits)
        return pb.GetProfileResponse(profile=convert.profile_to_proto(await self._profiles.get(owner, reader)))

    async def UpdateProfile(self, request: pb.UpdateProfileRequest, _context: Context) -> pb.UpdateProfileResponse:
        """See profile.proto."""
        command = commands.update_profile_command(
            request, current_principal(), limits=self._limits, profile_limits=self._profile_limits
        )
        return pb.UpdateProfileResponse(profile=convert.profile_to_proto(await self._profiles.update(command)))

    async def DeleteProfile(self, request: pb.DeleteProfileRequest, _context: Context) -> pb.DeleteProfileResponse:
        """See profile.proto."""
        await self._profiles.delete(commands.delete_profile_command(request, current_principal(), limits=self._limits))
        return pb.DeleteProfileResponse()

"""From requests of mneme.semantic.v1.ProfileService to commands. Pure functions; they check form, never state."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mneme.semantic.v1 import profile_pb2 as pb
from services.common.auth import Principal
from services.common.idempotency.requests import idempotency_key
from services.common.validation import Violations
from services.semantic.commands import owner_of
from services.semantic.config import FactLimits, ProfileLimits
from services.semantic.profile.model import PREFERENCE_NAMES, Preferences
from services.semantic.profile.service import DeleteProfile, UpdateProfile

_LANGUAGE: Final = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")


def update_profile_command(
    request: pb.UpdateProfileRequest, caller: Principal, *, limits: FactLimits, profile_limits: ProfileLimits
) -> UpdateProfile:
    """Which preferences to set.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit, or the mask names an unknown one.
    """
    v = Violations()
    v.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.text("etag", request.etag, chars_max=limits.id_chars_max, required=False)
    paths = list(dict.fromkeys(request.update_mask.paths))
    for i, path in enumerate(request.update_mask.paths):
        if path not in PREFERENCE_NAMES:
            v.add(f"update_mask.paths[{i}]", f"{path[:64]!r} is no preference")
    preferences = request.preferences
    for name in ("response_format", "detail_level", "citation_style"):
        v.text(
            f"preferences.{name}",
            getattr(preferences, name),
            chars_max=profile_limits.value_chars_max,
            required=False,
        )
    if v.text(
        "preferences.language", preferences.language, chars_max=profile_limits.language_chars_max, required=False
    ) and not (not preferences.language or _LANGUAGE.fullmatch(preferences.language)):
        v.add("preferences.language", "is not a BCP 47 tag")
    _check_sources(v, "preferences.preferred_sources", preferences.preferred_sources, profile_limits)
    _check_sources(v, "preferences.excluded_sources", preferences.excluded_sources, profile_limits)
    _check_other(v, preferences, profile_limits)
    v.raise_if_any()
    return UpdateProfile(
        owner=owner_of(request.user_id, caller),
        key=idempotency_key(request, caller),
        preferences=Preferences(
            response_format=preferences.response_format,
            detail_level=preferences.detail_level,
            citation_style=preferences.citation_style,
            language=preferences.language,
            preferred_sources=tuple(dict.fromkeys(preferences.preferred_sources)),
            excluded_sources=tuple(dict.fromkeys(preferences.excluded_sources)),
            other=dict(preferences.other),
        ),
        names=tuple(paths or (name for name in PREFERENCE_NAMES if getattr(preferences, name))),
        etag=request.etag,
    )


def delete_profile_command(request: pb.DeleteProfileRequest, caller: Principal, *, limits: FactLimits) -> DeleteProfile:
    """Whose profile to delete.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    v = Violations()
    v.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.text("etag", request.etag, chars_max=limits.id_chars_max, required=False)
    v.raise_if_any()
    return DeleteProfile(owner_of(request.user_id, caller), idempotency_key(request, caller), request.etag)


def _check_sources(v: Violations, path: str, sources: Sequence[str], limits: ProfileLimits) -> None:
    v.count(path, len(sources), count_max=limits.sources_max)
    for i, source in enumerate(sources[: limits.sources_max]):
        v.text(f"{path}[{i}]", source, chars_max=limits.source_chars_max)


def _check_other(v: Violations, preferences: pb.Preferences, limits: ProfileLimits) -> None:
    v.count("preferences.other", len(preferences.other), count_max=limits.other_entries_max)
    for key, value in list(preferences.other.items())[: limits.other_entries_max]:
        path = f"preferences.other[{key[:64]}]"
        v.text(path, key, chars_max=limits.other_key_chars_max)
        v.text(path, value, chars_max=limits.other_value_chars_max, required=False)

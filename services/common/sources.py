"""Which sources of turns a name or an address of a profile means. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

_SECOND_LEVEL: Final = frozenset({"ac", "co", "com", "edu", "gov", "net", "org"})
"""Labels that stand before a country's, as in bbc.co.uk."""
_COUNTRY_CHARS: Final = 2
_NO_LETTERS: Final = re.compile(r"[\W_]+")


def names_any(sources: Iterable[str], wanted: Sequence[str]) -> bool:
    """Whether one of the sources is meant by one of the names; see `Preferences` in profile.proto."""
    return any(is_meant(source, name) for source in sources for name in wanted)


def is_meant(source: str, name: str) -> bool:
    """Whether a source is meant by a name, whatever the case.

    "Wikipedia" means sources of that name and addresses of a domain that is called so, "wikipedia.org" all addresses of
    the domain and below it, with or without "https://" and "www.", an address with a path those below the path, and
    "pdf" all files of that extension.
    """
    source, name = source.casefold().strip(), name.casefold().strip()
    if source == name:
        return True
    address, wanted = _address(source), _address(name)
    if address is None or wanted is None:
        return False
    (host, path), (wanted_host, wanted_path) = address, wanted
    if "." in wanted_host.strip("."):
        is_below = not wanted_path or path == wanted_path or path.startswith(f"{wanted_path}/")
        if is_below and (host == wanted_host or host.endswith(f".{wanted_host}")):
            return True
    elif (called := _letters(name)) and called == _letters(_domain_name(host)):
        return True
    file = path if "//" in source else source
    return "/" not in name and file.endswith(f".{name.lstrip('.')}")


def _address(text: str) -> tuple[str, str] | None:
    """The host without "www." and the path; None where the text cannot be an address."""
    try:
        parts = urlsplit(text if "//" in text else f"//{text}")
        host = parts.hostname or ""
    except ValueError:
        return None
    return host.removeprefix("www."), parts.path.rstrip("/")


def _domain_name(host: str) -> str:
    """What the domain of a host is called: "wikipedia" for en.wikipedia.org, "bbc" for news.bbc.co.uk."""
    labels = host.split(".")
    if len(labels) > 2 and len(labels[-1]) == _COUNTRY_CHARS and labels[-2] in _SECOND_LEVEL:
        return labels[-3]
    return labels[-2] if len(labels) > 1 else ""


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text)

"""URLs of Redis: one server, a Cluster, or a master that Sentinels know."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

_SCHEMES: Final = ("redis", "rediss", "unix", "redis+cluster", "rediss+cluster", "redis+sentinel", "rediss+sentinel")
_PORT: Final = 6379
_SENTINEL_PORT: Final = 26379
_NODE: Final = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:@/]+))(?::(?P<port>[0-9]{1,5}))?")
_PORT_MAX: Final = 65_535


@dataclass(frozen=True, slots=True)
class RedisNode:
    """A server's address."""

    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisUrl:
    """What a URL says."""

    nodes: tuple[RedisNode, ...] = ()  # one server; nodes of a Cluster to ask first; or the Sentinels
    path: str = ""  # of a socket on this machine, instead of nodes
    is_cluster: bool = False
    master: str = ""  # the name that the Sentinels know the master by
    is_tls: bool = False
    database: int = 0
    user: str = ""
    password: str = field(default="", repr=False)


def parse_redis_url(url: str) -> RedisUrl:
    """What a URL says.

        redis://[user[:password]@]host[:port][/database]
        redis+cluster://[user[:password]@]host[:port][,host[:port]...]
        redis+sentinel://[user[:password]@]host[:port][,host[:port]...]/master[/database]
        unix://[user[:password]@]/path[?db=database]

    With rediss instead of redis, by TLS. In user, password, master and path a percent sign begins an encoded
    character; a colon in a user, and a slash in a master's name, must be encoded. User and password are those of the
    data, also with Sentinels.

    Raises:
        ValueError: It is of none of these forms. The message repeats nothing of it: it may hold a password.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in _SCHEMES:
        raise ValueError(f"the session store's URL must have one of the schemes {', '.join(_SCHEMES)}")
    credentials, _, location = rest.rpartition("@")
    location, _, query = location.partition("?")
    user, _, password = credentials.partition(":")
    if scheme == "unix":
        return _of_socket(location, query, unquote(user), unquote(password))
    if query or "#" in location:
        raise ValueError("the session store's URL takes no options: they are settings")
    plain, _, kind = scheme.partition("+")
    hosts, _, path = location.partition("/")
    nodes = tuple(_node(part, _SENTINEL_PORT if kind == "sentinel" else _PORT) for part in hosts.split(","))
    if not kind and len(nodes) > 1:
        raise ValueError("the session store's URL names several servers: say redis+cluster or redis+sentinel")
    path = path.rstrip("/")
    master = ""
    if kind == "sentinel":
        name, _, path = path.partition("/")
        master = unquote(name)
        if not master:
            raise ValueError("the session store's URL must name the master behind its Sentinels: .../master")
    elif kind == "cluster" and path not in {"", "0"}:
        raise ValueError("a Redis Cluster has database 0 alone")
    return RedisUrl(
        nodes=nodes,
        is_cluster=kind == "cluster",
        master=master,
        is_tls=plain == "rediss",
        database=_database(path),
        user=unquote(user),
        password=unquote(password),
    )


def _of_socket(path: str, query: str, user: str, password: str) -> RedisUrl:
    name, _, database = query.partition("=")
    if not path.startswith("/") or (query and name != "db"):
        raise ValueError("the session store's URL of a socket must be unix:///path or unix:///path?db=number")
    return RedisUrl(path=unquote(path), database=_database(database), user=user, password=password)


def _node(text: str, port: int) -> RedisNode:
    found = _NODE.fullmatch(text)
    if found is None or int(found["port"] or port) not in range(1, _PORT_MAX + 1):
        raise ValueError("the session store's URL must name servers as host or host:port")
    return RedisNode(found["v6"] or found["name"], int(found["port"] or port))


def _database(text: str) -> int:
    if text and not (text.isascii() and text.isdigit()):
        raise ValueError("the session store's URL must name its database by a number")
    return int(text or 0)

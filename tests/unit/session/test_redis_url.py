"""What URLs of Redis say, and what is refused."""

from __future__ import annotations

import pytest

from services.session.stores.redis_url import RedisNode, RedisUrl, parse_redis_url

SENTINELS = (RedisNode("s1", 26379), RedisNode("10.0.0.2", 5000), RedisNode("::1", 26379))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("redis://cache", RedisUrl(nodes=(RedisNode("cache", 6379),))),
        ("rediss://cache:6380/3/", RedisUrl(nodes=(RedisNode("cache", 6380),), is_tls=True, database=3)),
        ("redis://:p%40ss%2F@[::1]:7000", RedisUrl(nodes=(RedisNode("::1", 7000),), password="p@ss/")),
        ("redis://ada:p:w@cache", RedisUrl(nodes=(RedisNode("cache", 6379),), user="ada", password="p:w")),
        ("redis://:p/a?s@s#w@cache", RedisUrl(nodes=(RedisNode("cache", 6379),), password="p/a?s@s#w")),
        ("unix:///run/redis.sock?db=2", RedisUrl(path="/run/redis.sock", database=2)),
        ("unix://ada:pw@/run/redis.sock", RedisUrl(path="/run/redis.sock", user="ada", password="pw")),
        (
            "rediss+cluster://ada:pw@one:7001,two",
            RedisUrl(
                nodes=(RedisNode("one", 7001), RedisNode("two", 6379)),
                is_cluster=True,
                is_tls=True,
                user="ada",
                password="pw",
            ),
        ),
        ("redis+cluster://one/0", RedisUrl(nodes=(RedisNode("one", 6379),), is_cluster=True)),
        ("redis+sentinel://s1,10.0.0.2:5000,[::1]/main", RedisUrl(nodes=SENTINELS, master="main")),
        (
            "rediss+sentinel://ada:pw@s1,10.0.0.2:5000,[::1]/my%2Fmain/4",
            RedisUrl(nodes=SENTINELS, master="my/main", is_tls=True, database=4, user="ada", password="pw"),
        ),
    ],
)
def test_what_a_url_says(url: str, said: RedisUrl) -> None:
    assert parse_redis_url(url) == said


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "schemes"),
        ("redis:cache", "schemes"),
        ("http://secret@cache", "schemes"),
        ("redis+sentinels://secret@s1/main", "schemes"),
        ("redis://", "host or host:port"),
        ("redis://secret@cache:port", "host or host:port"),
        ("redis://secret@cache:70000", "host or host:port"),
        ("redis://secret@cache:0", "host or host:port"),
        ("redis://secret@cache/main", "by a number"),
        ("redis://secret@one,two", "several servers"),
        ("redis://secret@cache?socket_timeout=60", "takes no options"),
        ("redis+cluster://secret@one,", "host or host:port"),
        ("redis+cluster://secret@one/1", "database 0"),
        ("redis+sentinel://secret@s1", "name the master"),
        ("redis+sentinel://secret@s1//1", "name the master"),
        ("redis+sentinel://secret@s1/main/x", "by a number"),
        ("redis+sentinel:///main", "host or host:port"),
        ("unix://secret@run/redis.sock", "socket"),
        ("unix:///run/redis.sock?timeout=60", "socket"),
    ],
)
def test_other_urls_are_refused_without_a_word_of_them(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        parse_redis_url(url)
    assert "sec" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_passwords_are_not_shown() -> None:
    assert "pw" not in repr(parse_redis_url("redis+sentinel://ada:pw@s1/main"))

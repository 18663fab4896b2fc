"""Tokens of an identity provider: what is accepted, what never is, and rotation without a restart."""

from __future__ import annotations

import base64
import gc
import hashlib
import hmac
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from services.common.auth import (
    ApiKeyRing,
    Authenticator,
    JwksError,
    JwksKeys,
    JwtRules,
    JwtVerifier,
    Principal,
    Role,
    file_source,
    url_source,
)
from services.common.auth import create_api_key as make_key
from services.common.errors import Unauthenticated
from tests.support.clock import FakeClock

NOW = datetime(2026, 5, 8, 12, 0, tzinfo=UTC)
RULES = JwtRules(issuer="https://idp.example", audience="mneme")
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
ED_KEY = ed25519.Ed25519PrivateKey.generate()
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def jwk(key: Any, kid: str, algorithm: str) -> dict[str, Any]:
    made = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
    return {**made, "kid": kid, "use": "sig"}


KEY_SET = [jwk(RSA_KEY, "rsa", "RS256"), jwk(EC_KEY, "ec", "ES256"), jwk(ED_KEY, "ed", "EdDSA")]


def claims(**changes: Any) -> dict[str, Any]:
    return {
        "iss": RULES.issuer,
        "aud": ["other", "mneme"],
        "sub": "ada",
        "tenant": "acme",
        "role": "writer",
        "exp": int((NOW + timedelta(minutes=5)).timestamp()),
        "iat": int(NOW.timestamp()),
        **changes,
    }


def signed(key: Any = RSA_KEY, kid: str = "rsa", algorithm: str = "RS256", **changes: Any) -> str:
    kept = {name: value for name, value in claims(**changes).items() if value is not None}
    return jwt.encode(kept, key, algorithm=algorithm, headers={"kid": kid})


class Provider:
    """A key set that changes, read at once."""

    def __init__(self) -> None:
        self.entries = list(KEY_SET)
        self.seconds = 0.0
        self.is_down = False
        self.timers: list[tuple[float, Callable[[], bool]]] = []

    def fetch(self) -> bytes:
        if self.is_down:
            raise JwksError("down")
        return json.dumps({"keys": self.entries}).encode()

    def keys(self) -> JwksKeys:
        return JwksKeys(
            self.fetch,
            monotonic=lambda: self.seconds,
            defer=lambda read: read(),
            repeat=lambda seconds, work: self.timers.append((seconds, work)),
        )


def verifier(provider: Provider | None = None, clock: FakeClock | None = None, rules: JwtRules = RULES) -> JwtVerifier:
    return JwtVerifier((provider or Provider()).keys(), rules, clock=clock or FakeClock(NOW))


def encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def unsigned(algorithm: str) -> str:
    header = {"alg": algorithm, "kid": "rsa", "typ": "JWT"}
    return f"{encoded(json.dumps(header).encode())}.{encoded(json.dumps(claims()).encode())}"


def none_token() -> str:
    return f"{unsigned('none')}."


def public_key_as_secret() -> str:
    """The classic confusion: HS256 with the public key as the secret."""
    secret = RSA_KEY.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    content = unsigned("HS256")
    return f"{content}.{encoded(hmac.new(secret, content.encode(), hashlib.sha256).digest())}"


def without_kid() -> str:
    return jwt.encode(claims(), RSA_KEY, algorithm="RS256")


def altered() -> str:
    header, _, signature = signed().split(".")
    body = base64.urlsafe_b64encode(json.dumps(claims(role="admin")).encode()).decode().rstrip("=")
    return f"{header}.{body}.{signature}"


@pytest.mark.parametrize(
    ("key", "kid", "algorithm"),
    [(RSA_KEY, "rsa", "RS256"), (RSA_KEY, "rsa", "PS512"), (EC_KEY, "ec", "ES256"), (ED_KEY, "ed", "EdDSA")],
)
def test_spec_7_1_a_token_names_tenant_principal_and_role(key: Any, kid: str, algorithm: str) -> None:
    assert verifier().verify(signed(key, kid, algorithm)) == Principal("acme", "ada", Role.WRITER)


@pytest.mark.parametrize(
    "make",
    [
        none_token,
        public_key_as_secret,
        without_kid,
        altered,
        lambda: signed(OTHER_KEY),
        lambda: signed(kid="unknown"),
        lambda: signed(RSA_KEY, "ec", "RS256"),
        lambda: signed(iss="https://other.example"),
        lambda: signed(iss=None),
        lambda: signed(aud="other"),
        lambda: signed(aud=None),
        lambda: signed(sub=None),
        lambda: signed(sub=""),
        lambda: signed(tenant=None),
        lambda: signed(tenant=["acme"]),
        lambda: signed(tenant="a" * 129),
        lambda: signed(role="owner"),
        lambda: signed(role="service"),
        lambda: signed(exp=None),
        lambda: signed(exp=float("inf")),
        lambda: signed(exp=float("nan")),
        lambda: signed(exp=int((NOW - timedelta(seconds=31)).timestamp())),
        lambda: signed(nbf=int((NOW + timedelta(seconds=31)).timestamp())),
        lambda: signed(iat=int((NOW + timedelta(seconds=31)).timestamp())),
        lambda: "not a token",
        lambda: signed(pad="x" * 20_000),
    ],
)
def test_spec_7_1_what_is_wrong_with_a_token_is_refused_without_a_reason(make: Callable[[], str]) -> None:
    with pytest.raises(Unauthenticated) as caught:
        verifier().verify(make())
    assert str(caught.value) == "the token is not accepted"


def test_spec_7_1_clocks_may_differ_by_the_leeway_and_a_known_token_expires() -> None:
    clock = FakeClock(NOW)
    checking = verifier(clock=clock)
    token = signed(
        exp=int((NOW - timedelta(seconds=29)).timestamp()), nbf=int((NOW + timedelta(seconds=29)).timestamp())
    )
    assert checking.verify(token).principal_id == "ada"
    clock.advance(timedelta(seconds=2))
    with pytest.raises(Unauthenticated):
        checking.verify(token)


def test_spec_7_1_keys_rotate_and_are_revoked_without_a_restart() -> None:
    provider = Provider()
    checking = verifier(provider)
    old, new = signed(), signed(OTHER_KEY, "next")
    assert checking.verify(old).tenant_id == "acme"
    provider.entries.append(jwk(OTHER_KEY, "next", "RS256"))
    provider.seconds += 6  # a key that is not known is looked for, at most every few seconds
    assert checking.verify(new).tenant_id == "acme"
    provider.entries.pop(0)
    provider.is_down = True
    provider.seconds += 61
    assert checking.verify(old).tenant_id == "acme"  # the keys read last stay in force
    provider.is_down = False
    provider.seconds += 61
    with pytest.raises(Unauthenticated):
        checking.verify(old)
    assert checking.verify(new).tenant_id == "acme"


def test_spec_7_1_a_key_that_is_taken_out_while_nobody_calls_is_refused_at_the_next_call() -> None:
    provider = Provider()
    checking = verifier(provider)
    assert checking.verify(signed()).tenant_id == "acme"
    provider.entries = [entry for entry in KEY_SET if entry["kid"] != "rsa"]
    ((seconds, refresh),) = provider.timers
    assert seconds == 60.0
    assert refresh()  # without a call in between
    with pytest.raises(Unauthenticated):
        checking.verify(signed())
    provider.is_down = True
    assert refresh(), "it goes on while the provider is away"
    assert checking.verify(signed(EC_KEY, "ec", "ES256")).tenant_id == "acme"


def test_spec_7_1_keys_that_nobody_holds_are_not_read_any_more() -> None:
    provider = Provider()
    keys = provider.keys()
    ((_, refresh),) = provider.timers
    assert refresh()
    del keys
    gc.collect()
    assert not refresh()


def test_spec_7_1_a_key_file_is_read_again_by_a_thread_of_its_own(tmp_path: Path) -> None:
    file, changed = tmp_path / "jwks.json", threading.Event()
    file.write_text(json.dumps({"keys": list(KEY_SET)}), "utf-8")
    read = file_source(file)

    def fetch() -> bytes:
        if threading.current_thread().name == "jwt-keys":
            changed.set()
        return read()

    keys = JwksKeys(fetch, refresh_seconds=0.01)
    assert changed.wait(30), "nobody called, and it was read again"
    assert keys.get("rsa") is not None


def test_spec_7_1_unfit_keys_are_never_taken() -> None:
    small = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505 - what is refused
    provider = Provider()
    provider.entries = [
        jwk(small, "small", "RS256"),
        {"kty": "oct", "kid": "secret", "k": base64.urlsafe_b64encode(b"0" * 32).decode()},
        {**jwk(RSA_KEY, "enc", "RS256"), "use": "enc"},
    ]
    with pytest.raises(JwksError, match="no usable key"):
        provider.keys()
    for url in ("http://idp.example/keys", "http://localhost.idp.example/keys", "http://127.0.0.1@idp.example", "x"):
        with pytest.raises(JwksError, match="https"):
            url_source(url)
    with pytest.raises(ValueError, match="ISSUER"):
        verifier(rules=JwtRules(issuer="", audience="mneme"))


def test_spec_7_1_a_key_set_that_leads_elsewhere_or_is_no_http_is_not_taken() -> None:
    class Idp(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/moved":
                self.send_response(302)
                self.send_header("location", "http://idp.example/keys")
                self.end_headers()
            else:
                self.wfile.write(b"this is no HTTP\r\n\r\n")

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Idp) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        try:
            with pytest.raises(JwksError, match="redirects to an address without https"):
                url_source(f"{address}/moved")()
            with pytest.raises(JwksError, match="cannot read"):
                JwksKeys(url_source(f"{address}/garbled"))
        finally:
            server.shutdown()


def test_spec_7_1_tokens_and_api_keys_stand_side_by_side(tmp_path: Path) -> None:
    file, keys_file = tmp_path / "jwks.json", tmp_path / "keys.json"
    file.write_bytes(Provider().fetch())
    api_key, _ = make_key(keys_file, tenant_id="globex", principal_id="bob", role=Role.READER, now=NOW)
    rules = JwtRules(issuer=RULES.issuer, audience="mneme", tenant_claim="org.id", role_claim="realm.roles")
    checking = JwtVerifier(JwksKeys(file_source(file)), rules, clock=FakeClock(NOW))
    both = Authenticator(api_keys=ApiKeyRing(keys_file), tokens=checking)
    token = signed(tenant=None, role=None, org={"id": "acme"}, realm={"roles": ["offline", "reader", "admin"]})
    assert both.authenticate({"authorization": f"Bearer {token}"}) == Principal("acme", "ada", Role.ADMIN)
    assert both.authenticate({"authorization": f"bearer {api_key}"}) == Principal("globex", "bob", Role.READER)
    for wrong in (f"Bearer {api_key}x", f"Basic {token}", "Bearer "):
        with pytest.raises(Unauthenticated):
            both.authenticate({"authorization": wrong})

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import timedelta

import jwt
import pytest

from services.common.auth import IdentitySigner, IdentityVerifier, Principal, Role
from services.common.errors import LimitExceeded, Reason, Unauthenticated
from services.common.scope import Scope, ScopeLevel
from tests.support.clock import FakeClock

SECRET = b"a secret of at least thirty-two bytes"
ALICE = Principal("acme", "alice", Role.WRITER)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def signer(clock: FakeClock) -> IdentitySigner:
    return IdentitySigner(SECRET, clock=clock)


@pytest.fixture
def verifier(clock: FakeClock) -> IdentityVerifier:
    return IdentityVerifier(SECRET, leeway=timedelta(seconds=10), clock=clock)


def claims(clock: FakeClock) -> dict[str, object]:
    return {
        "tenant": "acme",
        "principal": "alice",
        "role": "admin",
        "aud": "mneme-tier",
        "exp": int(clock.now().timestamp()) + 60,
    }


def test_a_tier_learns_who_calls(signer: IdentitySigner, verifier: IdentityVerifier) -> None:
    assert verifier.verify(signer.sign(ALICE)) == ALICE


def test_tokens_are_reused_for_half_their_life(signer: IdentitySigner, clock: FakeClock) -> None:
    first = signer.sign(ALICE)
    clock.advance(seconds=59)
    assert signer.sign(ALICE) == first
    clock.advance(seconds=2)
    assert signer.sign(ALICE) != first


def test_a_principal_with_another_role_gets_another_token(signer: IdentitySigner) -> None:
    assert signer.sign(ALICE) != signer.sign(Principal("acme", "alice", Role.READER))


def test_an_expired_identity_is_refused_even_when_it_was_seen(
    signer: IdentitySigner, verifier: IdentityVerifier, clock: FakeClock
) -> None:
    token = signer.sign(ALICE)
    verifier.verify(token)
    clock.advance(seconds=129)
    assert verifier.verify(token) == ALICE  # within the leeway
    clock.advance(seconds=2)

    with pytest.raises(Unauthenticated, match="expired"):
        verifier.verify(token)
    with pytest.raises(Unauthenticated, match="expired"):
        verifier.verify(token)


def test_an_identity_signed_by_somebody_else_is_refused(verifier: IdentityVerifier, clock: FakeClock) -> None:
    forged = IdentitySigner(b"another secret of thirty-two bytes!", clock=clock).sign(ALICE)

    with pytest.raises(Unauthenticated) as caught:
        verifier.verify(forged)
    assert caught.value.reason is Reason.CREDENTIAL_INVALID


def test_an_unsigned_identity_is_refused(verifier: IdentityVerifier, clock: FakeClock) -> None:
    with pytest.raises(Unauthenticated):
        verifier.verify(jwt.encode(claims(clock), "", algorithm="none"))


def test_a_changed_claim_breaks_the_signature(signer: IdentitySigner, verifier: IdentityVerifier) -> None:
    mine, theirs = signer.sign(ALICE).split("."), signer.sign(Principal("other", "alice", Role.ADMIN)).split(".")

    with pytest.raises(Unauthenticated):
        verifier.verify(".".join([mine[0], theirs[1], mine[2]]))


@pytest.mark.parametrize(
    "change",
    [
        {"aud": "somebody-else"},
        {"role": "emperor"},
        {"tenant": ""},
        {"tenant": 7},
        {"exp": None},
        {"exp": "soon"},
        {"exp": 10**30},
        {"principal": None},
    ],
)
def test_a_malformed_identity_is_refused(
    verifier: IdentityVerifier, clock: FakeClock, change: dict[str, object]
) -> None:
    token = jwt.encode({**claims(clock), **change}, SECRET, algorithm="HS256")

    with pytest.raises(Unauthenticated):
        verifier.verify(token)


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é" * 40])
def test_noise_is_refused(verifier: IdentityVerifier, token: str) -> None:
    with pytest.raises(Unauthenticated):
        verifier.verify(token)


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="32"):
        IdentitySigner(b"short")
    with pytest.raises(ValueError, match="32"):
        IdentityVerifier(b"short")


def test_caches_are_bounded(clock: FakeClock) -> None:
    signer = IdentitySigner(SECRET, cached_max=2, clock=clock)
    verifier = IdentityVerifier(SECRET, cached_max=2, clock=clock)
    for number in range(5):
        verifier.verify(signer.sign(Principal("acme", f"user-{number}", Role.READER)))

    assert len(signer._tokens) == len(verifier._known) == 2


def granted(count: int, *, chars: int = 36) -> tuple[str, ...]:
    def identifier(kind: int, number: int) -> str:
        digest = hashlib.sha512(f"{kind}/{number}".encode()).hexdigest()
        return digest[:chars]

    ids = [(identifier(1, n), identifier(2, n), identifier(3, n)) for n in range(count)]
    return tuple(Scope(ScopeLevel.TASK, project, session, task).key for project, session, task in ids)


@pytest.mark.parametrize("count", [1, 256, 1_024])
def test_spec_5_3_granted_scopes_travel_in_the_identity(
    signer: IdentitySigner, verifier: IdentityVerifier, count: int
) -> None:
    reader = replace(ALICE, granted_scopes=granted(count))
    assert verifier.verify(signer.sign(reader)) == reader
    assert verifier.verify(signer.sign(ALICE)).granted_scopes == ()


def test_ids_of_any_language_are_granted(signer: IdentitySigner, verifier: IdentityVerifier) -> None:
    reader = replace(ALICE, granted_scopes=(Scope(ScopeLevel.PROJECT, "проект 東京 🚀").key,))
    assert verifier.verify(signer.sign(reader)) == reader


def test_an_identity_has_a_bounded_number_of_grants(signer: IdentitySigner) -> None:
    with pytest.raises(LimitExceeded):
        signer.sign(replace(ALICE, granted_scopes=granted(1_025)))


def test_spec_7_1_no_principal_has_the_role_of_a_service(
    signer: IdentitySigner, verifier: IdentityVerifier, clock: FakeClock
) -> None:
    with pytest.raises(ValueError, match="unknown role"):
        Role.parse("service")
    with pytest.raises(Unauthenticated):
        verifier.verify(jwt.encode({**claims(clock), "role": "service"}, SECRET, algorithm="HS256"))
    assert not replace(ALICE, role=Role.ADMIN).may(Role.SERVICE)
    assert verifier.verify(signer.sign(replace(ALICE, role=Role.READER))).may(Role.SERVICE)

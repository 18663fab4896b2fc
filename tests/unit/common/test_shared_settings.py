"""Settings of what several services use."""

from __future__ import annotations

from pathlib import Path

from services.common.embedding.encoder import EncoderSettings
from services.common.encryption.hosted import hosted_key_management
from services.common.encryption.key_file import add_key
from services.common.hosting import HostSettings
from services.common.settings_file import SettingsSource
from services.common.shared_settings import create_carried_keys, create_key_ring, encoder_settings


def test_the_environment_sets_the_models_threads_where_it_names_them() -> None:
    tuning = EncoderSettings(intra_op_threads=3, batch_size=8)

    assert encoder_settings(HostSettings(), tuning) is tuning
    assert encoder_settings(HostSettings(embedding_threads=1), tuning) == EncoderSettings(
        intra_op_threads=1, batch_size=8
    )


async def test_spec_7_3_a_key_file_switches_encryption_on_with_neo4j_as_without(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    add_key(file)
    source = SettingsSource({})
    for neo4j_url in ("", "bolt://graph"):
        on = HostSettings(encryption_key_file=file, neo4j_url=neo4j_url)
        for host, is_on in ((on, True), (HostSettings(neo4j_url=neo4j_url), False)):
            async with hosted_key_management(host, source) as management:
                assert (create_key_ring(source, management) is not None) is is_on
                assert (create_carried_keys(source, management) is not None) is is_on

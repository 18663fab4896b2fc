"""Settings of what several services use."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.common.embedding.encoder import EncoderSettings
from services.common.encryption.key_file import add_key
from services.common.hosting import HostSettings
from services.common.settings_file import SettingsError, SettingsSource
from services.common.shared_settings import create_carried_keys, create_key_ring, encoder_settings


def test_the_environment_sets_the_models_threads_where_it_names_them() -> None:
    tuning = EncoderSettings(intra_op_threads=3, batch_size=8)

    assert encoder_settings(HostSettings(), tuning) is tuning
    assert encoder_settings(HostSettings(embedding_threads=1), tuning) == EncoderSettings(
        intra_op_threads=1, batch_size=8
    )


def test_spec_7_3_a_key_file_with_neo4j_is_refused_unless_plain_content_there_is_accepted(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    add_key(file)
    source = SettingsSource({})
    host = HostSettings(encryption_key_file=file, neo4j_url="bolt://graph")
    for create in (create_key_ring, create_carried_keys):
        with pytest.raises(SettingsError, match="Neo4j stores facts"):
            create(source, host)
        assert create(source, host.model_copy(update={"encryption_plain_graph": True})) is not None
        assert create(source, HostSettings(neo4j_url="bolt://graph")) is None

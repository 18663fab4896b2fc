"""Settings of what several services use."""

from __future__ import annotations

from services.common.embedding.encoder import EncoderSettings
from services.common.hosting import HostSettings
from services.common.shared_settings import encoder_settings


def test_the_environment_sets_the_models_threads_where_it_names_them() -> None:
    tuning = EncoderSettings(intra_op_threads=3, batch_size=8)

    assert encoder_settings(HostSettings(), tuning) is tuning
    assert encoder_settings(HostSettings(embedding_threads=1), tuning) == EncoderSettings(
        intra_op_threads=1, batch_size=8
    )

"""The page about the pipeline says what the code does."""

from __future__ import annotations

from pathlib import Path

from services.gateway.recall.describe import describe_pipeline
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.stages.catalog import STAGES

PAGE = Path(__file__).parents[4] / "docs" / "pipeline.md"


def test_the_page_about_the_pipeline_is_up_to_date() -> None:
    hint = "run: python -m services.gateway.recall.describe > docs/pipeline.md"
    assert PAGE.read_text(encoding="utf-8") == describe_pipeline(), hint


def test_the_page_names_every_stage_in_order() -> None:
    page = describe_pipeline()
    places = [page.index(f"`{stage.name}`") for stage in STAGES]
    assert places == sorted(places)


def test_the_page_follows_the_settings() -> None:
    assert "at most 25%" in describe_pipeline(RecallSettings(consistency_time_share=0.25))

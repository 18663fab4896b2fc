from pathlib import Path

import pytest

from services.cli.copying.places import read_place, read_variables
from services.common.copying.model import CopyError
from services.common.datadir import DataDir
from services.episodic.config import EpisodicSettings

VARIABLES = """
# engines of production
export MNEME_POSTGRES_URL="postgresql://mneme_app@db:5432/mneme?sslmode=require"
MNEME_POSTGRES_ADMIN_URL='postgresql://mneme_admin:s3cret@db:5432/mneme'

MNEME_QDRANT_URL=http://qdrant:6334
MNEME_EPISODIC__QDRANT__COLLECTION_PREFIX="acme"
MNEME_NEO4J_URL = neo4j://graph:7687
MNEME_NEO4J_PASSWORD=
OTHER=1
"""


def written(folder: Path, text: str) -> str:
    file = folder / "engines.env"
    file.write_text(text, "utf-8")
    return str(file)


def test_a_file_of_variables_names_the_engines(tmp_path: Path) -> None:
    place = read_place(written(tmp_path, VARIABLES), is_target=False)

    assert place.settings.postgres_url == "postgresql://mneme_app@db:5432/mneme?sslmode=require"
    assert place.settings.postgres_admin_url.get_secret_value() == "postgresql://mneme_admin:s3cret@db:5432/mneme"
    assert place.settings.neo4j_url == "neo4j://graph:7687"
    assert place.settings.neo4j_user == "neo4j"
    assert place.source.load(EpisodicSettings, "episodic").qdrant.collection_prefix == "acme"
    assert place.data_dir is None


def test_the_environment_has_no_part_in_a_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEME_NEO4J_URL", "neo4j://elsewhere")
    monkeypatch.setenv("MNEME_POSTGRES_URL", "postgresql://elsewhere")

    place = read_place(written(tmp_path, f"MNEME_DATA_DIR={tmp_path / 'data'}"), is_target=True)

    assert not place.settings.neo4j_url
    assert not place.settings.postgres_url
    assert place.data_dir == tmp_path / "data"


def test_a_data_folder_is_a_place_by_itself(tmp_path: Path) -> None:
    with DataDir(tmp_path / "data"):
        pass

    assert read_place(str(tmp_path / "data"), is_target=False).data_dir == tmp_path / "data"


def test_a_target_may_be_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    assert read_place(str(tmp_path / "new"), is_target=True).data_dir == tmp_path / "new"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("name", "is_target"), [("missing", False), ("missing.env", True), ("missing.env", False)])
def test_a_place_that_is_not_there_is_told(tmp_path: Path, name: str, is_target: bool) -> None:
    with pytest.raises(CopyError, match="neither a data folder nor a file"):
        read_place(str(tmp_path / name), is_target=is_target)


def test_any_other_folder_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(CopyError, match="is no data folder"):
        read_place(str(tmp_path), is_target=False)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("MNEME_QDRANT_URL=http://q", "names neither MNEME_POSTGRES_URL nor MNEME_DATA_DIR"),
        ("MNEME_POSTGRES_URL=postgresql://db/m", "names none of MNEME_QDRANT_URL, MNEME_QDRANT_DIR"),
        ("MNEME_DATA_DIR /x", "line 1 of the file"),
        ("\nnot a name=1", "line 2 of the file"),
    ],
)
def test_a_file_that_does_not_name_the_engines_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(CopyError, match=problem):
        read_place(written(tmp_path, text), is_target=False)


def test_a_wrong_value_is_named_and_not_quoted(tmp_path: Path) -> None:
    with pytest.raises(CopyError, match="MNEME_POSTGRES_POOL_MAX") as caught:
        read_place(written(tmp_path, "MNEME_DATA_DIR=/x\nMNEME_POSTGRES_POOL_MAX=s3cret"), is_target=False)
    assert "s3cret" not in str(caught.value)


def test_values_keep_quotes_that_are_not_around_them() -> None:
    assert read_variables("A=it's\nB=\"\nC=''\nD=a=b") == {"A": "it's", "B": '"', "C": "", "D": "a=b"}

"""The folders specchat keeps its files in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import PlatformDirs

HOME_VARIABLE = "SPECCHAT_HOME"
"""Names a folder that holds everything, for portable use and for tests."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Absolute folders; none of them needs to exist yet."""

    config: Path
    data: Path
    cache: Path
    log: Path

    @property
    def settings_file(self) -> Path:
        """The file a person's settings are kept in."""
        return self.config / "settings.toml"

    @property
    def chats_file(self) -> Path:
        """The database that chats are kept in, and what was measured of models."""
        return self.data / "chats.sqlite3"


def find_paths(environ: Mapping[str, str]) -> Paths:
    """The platform's usual folders, or folders below the one `SPECCHAT_HOME` names."""
    if home := environ.get(HOME_VARIABLE):
        root = Path(home).absolute()
        return Paths(config=root / "config", data=root / "data", cache=root / "cache", log=root / "log")
    usual = PlatformDirs("specchat", appauthor=False)
    return Paths(
        config=usual.user_config_path,
        data=usual.user_data_path,
        cache=usual.user_cache_path,
        log=usual.user_log_path,
    )

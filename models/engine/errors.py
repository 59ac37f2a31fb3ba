"""How requests and the engine's process fail: a code and its parameters. The app has the words."""

from __future__ import annotations

from collections.abc import Mapping

from specchat.models.engine.messages import Params


class EngineFailure(Exception):
    """A request came to nothing. The engine's process, if there is one, goes on serving."""

    def __init__(self, code: str, params: Mapping[str, str | int | float] | None = None) -> None:
        super().__init__(code, params)
        self.code = code
        self.params: Params = dict(params or {})

    def __str__(self) -> str:
        return f"{self.code} {self.params}"


class EngineDied(EngineFailure):
    """The engine's process ended, or had to be ended. `params["log"]` holds the log's last useful lines."""

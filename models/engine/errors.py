"""How requests and the engine's process fail: a code and its parameters. The app has the words."""

from __future__ import annotations

from specchat.models.errors import CodedError


class EngineFailure(CodedError):
    """A request came to nothing. The engine's process, if there is one, goes on serving."""


class EngineDied(EngineFailure):
    """The engine's process ended, or had to be ended. `params["log"]` holds the log's last useful lines."""

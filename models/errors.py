"""How everything here fails that a person is told of: a code and its parameters. The app has the words."""

from __future__ import annotations

from collections.abc import Mapping

Params = dict[str, str | int | float]


class CodedError(Exception):
    """What went wrong, as a `code` and the `params` that its sentence (`specchat.app.words.sentence`) takes."""

    def __init__(self, code: str, params: Mapping[str, str | int | float] | None = None) -> None:
        super().__init__(code, params)
        self.code = code
        self.params: Params = dict(params or {})

    def __str__(self) -> str:
        return f"{self.code} {self.params}"

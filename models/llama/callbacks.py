"""Python functions that C calls while it works."""

from __future__ import annotations

from collections.abc import Callable

from specchat.models.decoding.model import Cancelled


class Question:
    """Asks a Python function from C whether to go on.

    An exception can't pass through C, so it counts as a no here and is raised by `raise_if_refused` afterwards.
    """

    def __init__(self, ask: Callable[..., bool]) -> None:
        self._ask = ask
        self._refused = False
        self._error: BaseException | None = None

    def go_on(self, *facts: float) -> bool:
        """Ask, giving it `facts`, unless the answer was no before."""
        if not self._refused:
            try:
                self._refused = not self._ask(*facts)
            except BaseException as error:
                self._refused, self._error = True, error
        return not self._refused

    def raise_if_refused(self) -> None:
        """Raise the function's own exception, or `Cancelled` if it said no."""
        if self._error is not None:
            raise self._error
        if self._refused:
            raise Cancelled

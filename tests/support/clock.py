"""A clock that moves when it is told to."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from specchat.models.decoding import loop, model_drafter, prefill


@dataclass
class Clock:
    """Seconds, as `time.perf_counter` and `time.monotonic` would give them."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def rule_decoding(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have everything that decoding measures measured by `clock`."""
    for module in (loop, prefill, model_drafter):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=clock))

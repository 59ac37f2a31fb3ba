from __future__ import annotations

from specchat.models.engine.control import Control
from specchat.models.engine.messages import Change
from specchat.settings.values import Speculation


def test_a_change_leaves_what_it_does_not_name() -> None:
    control = Control(Speculation(enabled=True, gamma=5, rule="token"), "model")
    control.change(Change(gamma=0))
    assert (control.speculation, control.drafter) == (Speculation(True, 0, "token"), "model")
    control.change(Change(enabled=False, rule="block", drafter="lookup"))
    assert (control.speculation, control.drafter) == (Speculation(False, 0, "block"), "lookup")


def test_a_stop_stays() -> None:
    control = Control(Speculation(), "none")
    assert not control.cancelled
    control.stop()
    control.change(Change(enabled=True))
    assert control.cancelled

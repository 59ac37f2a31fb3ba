from __future__ import annotations

from dataclasses import replace

from specchat.models.decoding.rounds import Round
from specchat.models.engine.messages import Loaded, ModelInfo, Progress, Ready, Written
from specchat.models.engine.silence import LATEST, Patience, Silence

READY = Ready(1, {}, "CPU", (), "")
INFO = ModelInfo("/m.gguf", "M", "llama 1B Q4_0", 1, 1, 1, 0, ("CPU",), 1, 1, True, True)
ROUND = Round((), 0, 1, False, "", 1, False, 0, 0, None, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, None, None)


def written(seconds: float) -> Written:
    return Written(1, replace(ROUND, seconds=seconds), (b"a",), "a")


def test_a_start_may_take_longer_than_work() -> None:
    silence = Silence(Patience(start=120, work=30))
    assert silence.limit == 120
    silence.broken(READY)
    assert silence.limit == 30


def test_loading_may_take_longer_than_work() -> None:
    silence = Silence(Patience(start=120, work=30))
    silence.broken(READY)
    silence.broken(Progress(1, "target", 0, 1000))
    assert silence.limit == 120
    silence.broken(Loaded(1, INFO))
    assert silence.limit == 30
    silence.broken(Progress(2, "prefill", 0, 1000))
    assert silence.limit == 30


def test_any_word_breaks_the_silence() -> None:
    silence = Silence(Patience())
    silence.lasted(10, is_busy=True)
    silence.lasted(15, is_busy=True)
    assert silence.seconds == 25
    silence.broken(READY)
    assert silence.seconds == 0


def test_only_a_busy_process_owes_words() -> None:
    silence = Silence(Patience())
    silence.lasted(10, is_busy=True)
    silence.lasted(10, is_busy=False)
    assert silence.seconds == 0


def test_slow_rounds_earn_patience_while_they_are_among_the_latest() -> None:
    silence = Silence(Patience(work=30))
    silence.broken(READY)
    silence.broken(written(0.1))
    assert silence.limit == 30
    silence.broken(written(5.0))
    silence.broken(written(2.0))
    assert silence.limit == 100
    for _ in range(LATEST):
        silence.broken(written(2.0))
    assert silence.limit == 40

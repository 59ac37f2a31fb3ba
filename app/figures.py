"""A reply's figures for people and for programs. The figures themselves are `specchat.models.decoding.counters`'."""

from __future__ import annotations

from specchat.app.words import _, plural
from specchat.models.decoding.counters import Counters

NAMES = (
    "target_passes",
    "draft_runs",
    "drafted",
    "accepted",
    "rejected",
    "unused",
    "acceptance_rate",
    "alpha",
    "c",
    "tokens",
    "tokens_per_pass",
    "tokens_per_second",
    "tokens_per_second_without",
    "speed_up",
    "seconds_draft",
    "seconds_verify",
    "seconds_sampling",
    "seconds_other",
)
"""The counters' names in JSON, which are their attributes' names."""


def as_json(counters: Counters) -> dict[str, int | float | None]:
    """Every counter by its name; None where there is nothing to divide by."""
    return {name: getattr(counters, name) for name in NAMES}


def brief(counters: Counters) -> str:
    """One line of less than 80 columns, for a counter that is still running."""
    parts = [_("{speed} tok/s").format(speed=number(counters.tokens_per_second))]
    if counters.drafted:
        if counters.speed_up is not None:
            parts.append(_("{speed_up}× est.").format(speed_up=number(counters.speed_up, 2)))
        parts.append(_accepted(counters))
    parts.append(_passes(counters))
    return " · ".join(parts)


def summary(counters: Counters, *, estimates: bool = True) -> list[str]:
    """What replies took, in a few lines of less than 80 columns; without `estimates` where the speed-up is measured."""
    guessing = [_guessing(counters)] if counters.drafted else []
    return [_work(counters), *guessing, _speed(counters, estimates=estimates), _time(counters)]


def number(value: float | None, digits: int = 1) -> str:
    """A figure with `digits` decimals; a dash while it is unknown."""
    return "–" if value is None else f"{value:.{digits}f}"


def _work(counters: Counters) -> str:
    tokens = plural("{count} token", "{count} tokens", counters.tokens).format(count=counters.tokens)
    each = _("{each} tokens per pass").format(each=number(counters.tokens_per_pass, 2))
    return " · ".join([tokens, _passes(counters), each])


def _passes(counters: Counters) -> str:
    count = counters.target_passes
    return plural("{count} target pass", "{count} target passes", count).format(count=count)


def _guessing(counters: Counters) -> str:
    parts = [_accepted(counters)]
    if runs := counters.draft_runs:
        parts.append(plural("{count} draft run", "{count} draft runs", runs).format(count=runs))
    parts.append(_("α {alpha}").format(alpha=number(counters.alpha, 2)))
    if counters.c is not None:
        parts.append(_("c {c}").format(c=number(counters.c, 2)))
    return " · ".join(parts)


def _accepted(counters: Counters) -> str:
    rate = counters.acceptance_rate or 0.0
    return _("{accepted} of {drafted} accepted ({rate:.0%})").format(
        accepted=counters.accepted, drafted=counters.drafted, rate=rate
    )


def _speed(counters: Counters, *, estimates: bool) -> str:
    parts = [_("{speed} tok/s").format(speed=number(counters.tokens_per_second))]
    if counters.drafted and estimates:
        parts.append(_("without a draft {speed}").format(speed=number(counters.tokens_per_second_without)))
        parts.append(_("speed-up {speed_up}× (estimated)").format(speed_up=number(counters.speed_up, 2)))
    return " · ".join(parts)


def _time(counters: Counters) -> str:
    seconds = counters.seconds or 1.0
    shares = (
        (_("draft"), counters.seconds_draft),
        (_("verify"), counters.seconds_verify),
        (_("sampling"), counters.seconds_sampling),
        (_("other"), counters.seconds_other),
    )
    return _("time: {shares}").format(shares=" · ".join(f"{name} {part / seconds:.0%}" for name, part in shares))

"""Speculative decoding (Leviathan et al. 2022, Alg. 1; Chen et al. 2023, Alg. 2), one target pass after another.

A round: a drafter guesses up to γ tokens; the target evaluates the text's last token and all guesses in one
pass; the rule keeps a beginning of the guesses and adds one token of the target's own. γ = 0 is plain decoding,
exactly one pass a token. The target's memory always holds the text but its last token. How many tokens are guessed,
and by whom, is the pace's choice (`pace`, `auto_pace`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from specchat.models.decoding.distribution import Distribution, join
from specchat.models.decoding.drafters import Proposal
from specchat.models.decoding.model import Cancelled, Logits, Model
from specchat.models.decoding.pace import Outcome, Pace
from specchat.models.decoding.positions import Positions
from specchat.models.decoding.round_cost import RoundCosts
from specchat.models.decoding.rounds import Reason, Round, StopReason
from specchat.models.decoding.sampling import SamplingChain
from specchat.models.decoding.stops import Step, StopFinder
from specchat.models.decoding.verification import Rule, acceptance, verify


@dataclass(frozen=True, slots=True)
class Plan:
    """How the next round is to speculate. Without a pace it decodes plainly, for the `reason` given."""

    pace: Pace | None
    rule: Rule
    reason: Reason = ""


@dataclass(frozen=True, slots=True)
class Ending:
    """Where a reply ends. `most_tokens` 0 means: when the context is full."""

    most_tokens: int
    is_end: Callable[[int], bool]
    stops: Sequence[bytes]
    cancelled: Callable[[], bool]


class SpeculativeDecoder:
    """Writes one reply after a text the target has read but for its last token (`prefill.read_prompt`)."""

    def __init__(
        self,
        target: Model,
        text: Sequence[int],
        chain: SamplingChain,
        rng: np.random.Generator,
        plan: Callable[[], Plan],
        piece: Callable[[int], bytes],
        ending: Ending,
        costs: RoundCosts,
    ) -> None:
        self.text = list(text)
        """The prompt's and the reply's tokens."""
        self.stop_reason: StopReason | None = None
        self.positions = Positions()
        """What was known at each of the reply's tokens, also of those that a stop string cuts off."""
        self._target = target
        self._chain = chain
        self._rng = rng
        self._plan = plan
        self._piece = piece
        self._ending = ending
        self._costs = costs
        self._prompt_length = len(self.text)
        self._plain_in_a_row = 0
        self._round_start = time.perf_counter()

    def steps(self) -> Iterator[Step]:
        """Write the reply, yielding each round with the bytes it wrote. Sets `stop_reason` before the last ones."""
        finder = StopFinder(self._ending.stops)
        self._round_start = time.perf_counter()
        while (reason := self._reason_to_stop()) is None:
            before = len(self.text)
            try:
                round = self._round()
            except Cancelled:  # while the draft caught up
                reason = "cancelled"
                break
            yield from finder.feed(round, [self._piece(token) for token in self.text[before:]])
            if finder.found:
                self.stop_reason = "stop"
                return
            if round.stopped:
                reason = "end"
                break
        self.stop_reason = reason
        yield from finder.flush()

    def _reason_to_stop(self) -> StopReason | None:
        if self._ending.cancelled():
            return "cancelled"
        if self._ending.most_tokens and len(self.text) - self._prompt_length >= self._ending.most_tokens:
            return "length"
        if len(self.text) > self._target.n_ctx:
            return "context"
        return None

    def _round(self) -> Round:
        plan = self._plan()
        known = len(self.text)
        times = [time.perf_counter()]
        proposal = self._propose(plan)
        times.append(time.perf_counter())
        unread = self.text[len(self._target.tokens) :]  # the last token, unless a rollback forgot more
        width = len(unread) + len(proposal.tokens)
        padding = self._padding(width, proposal)
        logits = self._target.evaluate([*unread, *proposal.tokens], len(proposal.tokens) + 1, padding=padding)
        times.append(time.perf_counter())
        verdict = self._judge(plan.rule, logits, proposal)
        times.append(time.perf_counter())
        accepted, token = self._write(proposal.tokens[: verdict.accepted], verdict.token)
        self.positions.add(logits, verdict.laws, proposal, verdict.overlaps, accepted, self.text[known:])
        self._target.roll_back(known + accepted)
        self._measure(width + padding, len(proposal.tokens), times)
        round = self._record(plan, proposal, verdict, _Written(accepted, token, width, padding), times)
        if plan.pace is not None:
            written = self.text[known:]
            chances = verdict.chances[: len(written)]
            outcome = Outcome(verdict.overlaps, verdict.reached, written, chances, round.seconds)
            plan.pace.learn(self.text, proposal, outcome)
        return round

    def _propose(self, plan: Plan) -> Proposal:
        """The pace's guesses: as many as have room in the context, the reply and one pass."""
        if plan.pace is None:
            return Proposal(reason=plan.reason)
        if not self._target.can_roll_back:
            return Proposal(reason="no_rollback")
        most = min(self._target.n_ctx - len(self.text), self._target.n_batch - 1)
        if self._ending.most_tokens:
            most = min(most, self._prompt_length + self._ending.most_tokens - len(self.text) - 1)
        return Proposal(reason="room") if most < 1 else plan.pace.propose(self.text, most)

    def _padding(self, width: int, proposal: Proposal) -> int:
        """How many tokens of no meaning widen the pass, as far as there is room."""
        room = min(self._target.n_ctx - len(self._target.tokens), self._target.n_batch)
        return max(min(proposal.width, room) - width, 0)

    def _judge(self, rule: Rule, logits: Logits, proposal: Proposal) -> _Verdict:
        """Accept or replace: the target's laws after each guess against the laws the guesses came from."""
        recent = self._chain.recent(self.text)
        laws = [self._chain.distribution(row, recent + list(proposal.tokens[:i])) for i, row in enumerate(logits)]
        if not proposal.tokens:
            token = laws[0].draw(self._rng.random())
            return _Verdict(laws, 0, token, (), (), (laws[0].probability(token),))
        joined = join(laws, proposal.laws, proposal.tokens)
        accepted, column = verify(rule, joined.p, joined.q, joined.draft, self._rng)
        token = joined.token(column)
        written = [*proposal.tokens[:accepted], token]
        chances = [law.probability(known) for law, known in zip(laws, written, strict=False)]
        return _Verdict(laws, accepted, token, *acceptance(joined.p, joined.q, joined.draft), chances)

    def _write(self, accepted: Sequence[int], token: int) -> tuple[int, int | None]:
        """Append what the round wrote, up to an end-of-generation token, which is not written."""
        for count, guess in enumerate(accepted):
            if self._ending.is_end(guess):
                return count, None
            self.text.append(guess)
        if self._ending.is_end(token):
            return len(accepted), None
        self.text.append(token)
        return len(accepted), token

    def _measure(self, width: int, guesses: int, times: Sequence[float]) -> None:
        """Learn what the pass and the sampling took; not from the first of several plain rounds, which is dearer."""
        _, verify, sampling = (later - sooner for sooner, later in pairwise(times))
        self._plain_in_a_row = 0 if width > 1 else self._plain_in_a_row + 1
        if self._plain_in_a_row != 1:
            self._costs.target.add(width, len(self._target.tokens), verify)
            self._costs.add_rest(guesses + 1, sampling + time.perf_counter() - times[-1])

    def _record(
        self, plan: Plan, proposal: Proposal, verdict: _Verdict, written: _Written, times: Sequence[float]
    ) -> Round:
        """The round for the counters; `times` are those before drafting and after drafting, pass and sampling."""
        draft, verify, sampling = (later - sooner for sooner, later in pairwise(times))
        depth = len(self.text)
        cost, draft_costs = self._costs.plain(depth), self._costs.draft
        start, self._round_start = self._round_start, time.perf_counter()
        return Round(
            guesses=proposal.tokens,
            accepted=written.accepted,
            token=written.token,
            speculating=plan.pace is not None,
            drafter=proposal.drafter if proposal.tokens else "",
            width=written.width,
            stopped=written.token is None,
            draft_runs=proposal.draft_runs,
            caught_up=proposal.caught_up,
            run_seconds=draft_costs.seconds(1, depth) if proposal.draft_runs and draft_costs.count(1) else None,
            alpha_sum=sum(s * alpha for s, alpha in zip(verdict.reached, verdict.overlaps, strict=True)),
            alpha_weight=sum(verdict.reached),
            seconds_draft=draft,
            seconds_verify=verify,
            seconds_sampling=sampling,
            seconds=self._round_start - start,
            plain_seconds=cost.seconds if cost else None,
            pass_seconds=cost.pass_seconds if cost else None,
            reason=proposal.reason,
            padding=written.padding,
        )


@dataclass(frozen=True, slots=True)
class _Verdict:
    laws: Sequence[Distribution]
    accepted: int
    token: int
    overlaps: Sequence[float]
    reached: Sequence[float]
    chances: Sequence[float]


@dataclass(frozen=True, slots=True)
class _Written:
    accepted: int
    token: int | None
    width: int
    padding: int

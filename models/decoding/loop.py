"""Speculative decoding (Leviathan et al. 2022, Alg. 1; Chen et al. 2023, Alg. 2), one target pass after another.

A round: the drafter guesses up to γ tokens; the target evaluates the text's last token and all guesses in one
pass; the rule keeps a beginning of the guesses and adds one token of the target's own. γ = 0 is plain decoding,
exactly one pass a token. The target's memory always holds the text but its last token.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from specchat.models.decoding.cost import PlainCost, PlainCosts
from specchat.models.decoding.distribution import join
from specchat.models.decoding.drafters import Drafter, Proposal
from specchat.models.decoding.model import Cancelled, Logits, Model
from specchat.models.decoding.rounds import Round, StopReason
from specchat.models.decoding.sampling import SamplingChain
from specchat.models.decoding.stops import Step, StopFinder
from specchat.models.decoding.verification import Rule, acceptance, verify


@dataclass(frozen=True, slots=True)
class Plan:
    """How the next round is to speculate. `gamma` 0 or no drafter is plain decoding."""

    gamma: int
    drafter: Drafter | None
    rule: Rule


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
        pace: Callable[[], Plan],
        piece: Callable[[int], bytes],
        ending: Ending,
        costs: PlainCosts,
    ) -> None:
        self.text = list(text)
        """The prompt's and the reply's tokens."""
        self.stop_reason: StopReason | None = None
        self._target = target
        self._chain = chain
        self._rng = rng
        self._pace = pace
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
        plan = self._pace()
        known = len(self.text)
        times = [time.perf_counter()]
        proposal = self._propose(plan)
        times.append(time.perf_counter())
        unread = self.text[len(self._target.tokens) :]  # the last token, unless a rollback forgot more
        logits = self._target.evaluate([*unread, *proposal.tokens], len(proposal.tokens) + 1)
        times.append(time.perf_counter())
        verdict = self._judge(plan.rule, logits, proposal)
        times.append(time.perf_counter())
        accepted, token = self._write(proposal.tokens[: verdict.accepted], verdict.token)
        self._target.roll_back(known + accepted)
        if proposal.tokens and plan.drafter is not None:
            plan.drafter.learn(self.text)
        width = len(unread) + len(proposal.tokens)
        return self._record(plan, proposal, verdict, (accepted, token), width, times)

    def _record(
        self,
        plan: Plan,
        proposal: Proposal,
        verdict: _Verdict,
        written: tuple[int, int | None],
        width: int,
        times: Sequence[float],
    ) -> Round:
        """The round for the counters; `times` are those before drafting and after drafting, pass and sampling."""
        draft, verify, sampling = (later - sooner for sooner, later in pairwise(times))
        cost = self._plain_cost(bool(proposal.tokens), PlainCost(verify, sampling))
        start, self._round_start = self._round_start, time.perf_counter()
        return Round(
            guesses=proposal.tokens,
            accepted=written[0],
            token=written[1],
            speculating=plan.drafter is not None and plan.gamma > 0,
            drafter=plan.drafter.name if proposal.tokens and plan.drafter is not None else "",
            width=width,
            stopped=written[1] is None,
            draft_runs=proposal.draft_runs,
            caught_up=proposal.caught_up,
            run_seconds=proposal.run_seconds,
            alpha_sum=verdict.alpha_sum,
            alpha_weight=verdict.alpha_weight,
            seconds_draft=draft,
            seconds_verify=verify,
            seconds_sampling=sampling,
            seconds=self._round_start - start,
            plain_seconds=cost.seconds if cost else None,
            pass_seconds=cost.pass_seconds if cost else None,
        )

    def _propose(self, plan: Plan) -> Proposal:
        """Guesses, as many as were asked for and have room in the context, the reply and one pass."""
        most = min(plan.gamma, self._target.n_ctx - len(self.text), self._target.n_batch - 1)
        if self._ending.most_tokens:
            most = min(most, self._prompt_length + self._ending.most_tokens - len(self.text) - 1)
        if plan.drafter is None or most < 1 or not self._target.can_roll_back:
            return Proposal()
        return plan.drafter.propose(self.text, most)

    def _judge(self, rule: Rule, logits: Logits, proposal: Proposal) -> _Verdict:
        """Accept or replace: the target's laws after each guess against the laws the guesses came from."""
        recent = self._chain.recent(self.text)
        laws = [self._chain.distribution(row, recent + list(proposal.tokens[:i])) for i, row in enumerate(logits)]
        if not proposal.tokens:
            return _Verdict(0, laws[0].draw(self._rng.random()), 0.0, 0.0)
        joined = join(laws, proposal.laws, proposal.tokens)
        accepted, column = verify(rule, joined.p, joined.q, joined.draft, self._rng)
        return _Verdict(accepted, joined.token(column), *acceptance(joined.p, joined.q, joined.draft))

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

    def _plain_cost(self, speculated: bool, cost: PlainCost) -> PlainCost | None:
        """Learn from a plain round, unless it is the first of several; what plain decoding costs at this depth."""
        depth = len(self.text)
        self._plain_in_a_row = 0 if speculated else self._plain_in_a_row + 1
        if self._plain_in_a_row > 1:
            self._costs.add(depth, cost)
        return self._costs.at(depth)


@dataclass(frozen=True, slots=True)
class _Verdict:
    accepted: int
    token: int
    alpha_sum: float
    alpha_weight: float

"""Who guesses in a reply, and how much, as a person wants it from round to round."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from specchat.models.decoding.auto_pace import AutoPace
from specchat.models.decoding.lookup_drafter import LookupDrafter
from specchat.models.decoding.loop import Plan
from specchat.models.decoding.model import Progress
from specchat.models.decoding.model_drafter import ModelDrafter
from specchat.models.decoding.pace import FixedPace, Pace
from specchat.models.decoding.sampling import BadLogits, SamplingChain
from specchat.models.decoding.verification import Rule, block_rule, token_rule
from specchat.models.engine.control import Control
from specchat.models.engine.drafting import ForgivenDraft
from specchat.models.engine.messages import DrafterName, Event, Notice
from specchat.models.engine.pair import Pair
from specchat.models.llama.loading import Loaded
from specchat.settings.values import Gamma, RuleName

_RULES: dict[RuleName, Rule] = {"block": block_rule, "token": token_rule}


class Pacing:
    """The drafters of one reply, and the paces made of them."""

    def __init__(
        self,
        pair: Pair,
        control: Control,
        chain: SamplingChain,
        rng: np.random.Generator,
        send: Callable[[Event], None],
        progress: Progress,
    ) -> None:
        self._pair = pair
        self._control = control
        self._send = send
        self._lookup = LookupDrafter()
        self._model: ForgivenDraft | None = None
        self._paces: dict[tuple[Gamma, DrafterName], Pace] = {}
        if (draft := pair.draft) is not None:
            vocabulary = pair.target.context.n_vocab
            drafter = ModelDrafter(draft.context, chain, rng, vocabulary, pair.costs, progress)
            self._model = ForgivenDraft(drafter, lambda error: self._tell(draft, error))

    @property
    def is_guessing(self) -> bool:
        """Whether anything is to guess from the first round on."""
        return self.plan().pace is not None

    def catch_up(self, prompt: Sequence[int]) -> None:
        """Let the draft read the prompt, if it is to guess."""
        if self.is_guessing and self._model is not None and self._control.drafter in ("model", "both"):
            self._model.catch_up(prompt)

    def plan(self) -> Plan:
        """How the next round is to speculate."""
        speculation, drafter = self._control.speculation, self._control.drafter
        rule = _RULES[speculation.rule]
        if not speculation.enabled:
            return Plan(None, rule, "off")
        if drafter == "none" or (drafter == "model" and self._model is None):
            return Plan(None, rule, "no_drafter")
        if speculation.gamma == 0:
            return Plan(None, rule, "fixed")
        key = (speculation.gamma, drafter)
        if key not in self._paces:
            self._paces[key] = self._pace(*key)
        return Plan(self._paces[key], rule)

    def _pace(self, gamma: Gamma, drafter: DrafterName) -> Pace:
        lookup = None if drafter == "model" else self._lookup
        model = None if drafter == "lookup" else self._model
        if gamma == "auto":
            return AutoPace(self._pair.costs, self._pair.beliefs, lookup, model)
        return FixedPace(gamma, lookup, model)

    def _tell(self, draft: Loaded, error: Exception) -> None:
        path = str(draft.model.path)
        self._send(Notice("bad_logits" if isinstance(error, BadLogits) else "draft_failed", {"path": path}))
        self._send(Notice("draft_left_out", {"path": path}))

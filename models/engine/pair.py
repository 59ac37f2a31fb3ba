"""The models that are loaded, and what was measured and learnt of them."""

from __future__ import annotations

from specchat.models.decoding.auto_pace import Beliefs
from specchat.models.decoding.cost import CostTable
from specchat.models.decoding.positions import Positions
from specchat.models.decoding.round_cost import RoundCosts
from specchat.models.engine.messages import Measured
from specchat.models.llama.loading import Loaded
from specchat.models.llama.prompt import Guard


class Pair:
    """A loaded target, and the draft that fits it if there is one."""

    def __init__(self, target: Loaded, costs: CostTable | None = None) -> None:
        self.target = target
        self.draft: Loaded | None = None
        self.costs = RoundCosts()
        self.beliefs = Beliefs()
        self.positions = Positions()
        """What was known at each token of the last reply."""
        self.guard = Guard(target.tokenizer.control_texts())
        if costs is not None:
            self.costs.target.restore(costs)

    def take_draft(self, draft: Loaded, costs: CostTable | None = None) -> None:
        """Have another draft, of which nothing is known but what was kept."""
        self.draft = draft
        self.beliefs = Beliefs(lookup=self.beliefs.lookup)
        self.costs.forget_draft(draft.model.size / max(self.target.model.size, 1))
        if costs is not None:
            self.costs.draft.restore(costs)

    def forget(self) -> None:
        """Forget everything both models have read."""
        self.target.context.roll_back(0)
        if self.draft is not None:
            self.draft.context.roll_back(0)

    def measured(self) -> Measured:
        """What is known of the costs."""
        return Measured(self.costs.target.table(), self.costs.draft.table() if self.draft else None)

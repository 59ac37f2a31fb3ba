"""What was known at a token of the last reply, for those who look at it afterwards."""

from __future__ import annotations

import math

import numpy as np

from specchat.models.engine import messages
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.pair import Pair


def look(pair: Pair, request: messages.Look) -> messages.Position:
    """The answer to `request`. Raises `EngineFailure` (`position_unknown`) where nothing is kept of that token."""
    known = pair.positions.at(request.position)
    if known is None:
        raise EngineFailure("position_unknown", {"position": request.position + 1})
    piece, q = pair.target.tokenizer.piece, known.q
    order = np.lexsort((-known.logits, *(() if q is None else (-q,)), -known.p))
    words = [
        messages.Word(
            token=int(known.ids[i]),
            piece=piece(int(known.ids[i])),
            p=float(known.p[i]),
            q=None if q is None else float(q[i]),
            logit=float(known.logits[i]) if math.isfinite(known.logits[i]) else None,
        )
        for i in order
    ]
    return messages.Position(
        id=request.id,
        token=known.token,
        words=tuple(words),
        rest_p=max(0.0, 1 - float(known.p.sum())),
        rest_q=None if q is None else max(0.0, 1 - float(q.sum())),
        guess=known.guess,
        accepted=known.accepted,
        drafter=known.drafter,
        overlap=known.overlap,
    )

"""A llama_batch that is allocated once and refilled for every pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llama_cpp
import numpy as np

_as_array = np.ctypeslib.as_array


class Batch:
    """Up to `size` tokens of sequence 0, in one call of llama_decode."""

    def __init__(self, size: int) -> None:
        self._batch: Any = llama_cpp.llama_batch_init(size, 0, 1)
        self._tokens = _as_array(self._batch.token, (size,))
        self._positions = _as_array(self._batch.pos, (size,))
        self._outputs = _as_array(self._batch.logits, (size,))
        self._order = np.arange(size, dtype=np.int32)
        _as_array(self._batch.n_seq_id, (size,))[:] = 1
        for i in range(size):
            self._batch.seq_id[i][0] = 0

    def fill(self, tokens: Sequence[int], start: int, rows: int, padding: int = 0) -> Any:
        """The llama_batch of `tokens` at the positions from `start` on.

        It gives logits for the last `rows` of them, or of those before the last `padding` ones.
        """
        count = len(tokens)
        self._batch.n_tokens = count
        self._tokens[:count] = tokens
        np.add(self._order[:count], start, out=self._positions[:count])
        self._outputs[:count] = 0
        self._outputs[count - padding - rows : count - padding] = 1
        return self._batch

    def free(self) -> None:
        """Give back its memory; it can't be filled again."""
        llama_cpp.llama_batch_free(self._batch)

"""A model's memory in llama.cpp: the real `specchat.models.decoding.model.Model`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial

import llama_cpp
import numpy as np

from specchat.models.decoding.model import Cancelled, ContextFull, Logits, Progress
from specchat.models.llama.batch import Batch
from specchat.models.llama.callbacks import Question
from specchat.models.llama.errors import DecodeError, LoadError
from specchat.models.llama.library import log
from specchat.models.llama.model import LlamaModel
from specchat.models.llama.parameters import context_params
from specchat.settings.values import ModelOptions

_OK, _NO_ROOM, _ABORTED = 0, 1, 2
"""What llama_decode returns; below 0 are errors."""

ASK_SECONDS = 0.1
"""How often a running chunk asks whether to go on. llama.cpp offers the chance for every node of its graph."""


class Context:
    """One sequence of evaluated tokens, with logits on demand. Only one thread at a time may use it."""

    def __init__(self, model: LlamaModel, options: ModelOptions) -> None:
        """Reserve the memory and try it out. Raises `LoadError`, or `DecodeError` if two tokens can't be evaluated."""
        params = context_params(options, model.ctx_trained)
        mark = log.mark()
        handle = llama_cpp.llama_init_from_model(model.handle, params)
        if not handle:
            raise LoadError("context_failed", reason=log.cause(mark))
        self._handle: int | None = handle
        self._memory: int | None = llama_cpp.llama_get_memory(handle)
        self._tokens: list[int] = []
        self._n_ctx: int = params.n_ctx  # llama.cpp rounds its own up to a multiple of 256
        self._n_batch: int = llama_cpp.llama_n_batch(handle)
        self._n_vocab: int = llama_cpp.llama_vocab_n_tokens(model.vocab)
        self._batch = Batch(self._n_batch)
        try:
            self._refuse_encoder(model)
            self._can_roll_back = self._probe(model)
        except BaseException:
            self.free()
            raise

    def _refuse_encoder(self, model: LlamaModel) -> None:
        # Decoding without a memory could end the process; a model that pools its outputs makes embeddings.
        pooled = llama_cpp.llama_pooling_type(self._handle) != llama_cpp.LLAMA_POOLING_TYPE_NONE
        if self._memory is None or pooled:
            raise LoadError("model_is_encoder", architecture=model.architecture)

    def _probe(self, model: LlamaModel) -> bool:
        """Whether the memory lets the latest token go."""
        bos = llama_cpp.llama_vocab_bos(model.vocab)
        token = bos if 0 <= bos < self._n_vocab else 0
        self.evaluate([token, token], 0)
        removed: bool = llama_cpp.llama_memory_seq_rm(self._memory, 0, 1, -1)
        self._clear()
        # A recurrent or hybrid model fails here. It could roll back with `n_rs_seq` snapshots in its parameters (on
        # architectures that have them), or by restoring a state saved with llama_state_seq_get_data_ext
        # (LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY) and evaluating again what was kept after it: `roll_back` is the place.
        return removed

    @property
    def n_vocab(self) -> int:
        """Width of a row of logits."""
        return self._n_vocab

    @property
    def n_ctx(self) -> int:
        """Most tokens the memory can hold."""
        return self._n_ctx

    @property
    def n_batch(self) -> int:
        """Most tokens evaluated in one pass."""
        return self._n_batch

    @property
    def tokens(self) -> Sequence[int]:
        """The tokens held, oldest first; a live view."""
        return self._tokens

    @property
    def can_roll_back(self) -> bool:
        """Whether single tokens can be forgotten."""
        return self._can_roll_back

    def evaluate(
        self, tokens: Sequence[int], rows: int, progress: Progress | None = None, *, padding: int = 0
    ) -> Logits:
        """Evaluate `tokens` (at least one) and return the logits after each of the last `rows` of them.

        Shape (rows, n_vocab), 0 ≤ rows ≤ min(len(tokens), n_batch): a view that the next evaluation overwrites.
        With `padding` the pass (at most `n_batch` wide then) is widened by copies of the last token, which are
        forgotten again. `progress` is asked before each chunk of `n_batch` tokens and, on the CPU, also inside one.
        Raises `Cancelled`, `ContextFull` and `DecodeError`; `self.tokens` then says what is held.
        """
        if not 0 <= rows <= min(len(tokens), self._n_batch) or not tokens:
            raise ValueError(f"{rows} rows of {len(tokens)} tokens")
        if padding and len(tokens) + padding > self._n_batch:
            raise ValueError(f"{padding} more than {len(tokens)} tokens in a pass of {self._n_batch}")
        if len(self._tokens) + len(tokens) + padding > self._n_ctx:
            raise ContextFull
        if self._handle is None:
            raise RuntimeError("this context was freed")
        done = 0
        for size in _chunks(len(tokens), rows, self._n_batch):
            part = tokens[done : done + size]
            wanted = rows if done + size == len(tokens) else 0
            if progress is None:
                self._decode(part, wanted, padding)
            else:
                self._decode_asking(part, wanted, Question(partial(progress, done, len(tokens))))
            done += size
        return self._logits(rows)

    def roll_back(self, length: int) -> None:
        """Forget all but the first `length` tokens, or all of them where the memory can't do that."""
        if length < len(self._tokens):
            self._keep(length)

    def free(self) -> None:
        """Give back its memory; must come before the model's own `free`."""
        if self._handle is not None:
            self._batch.free()
            llama_cpp.llama_free(self._handle)
            self._handle = self._memory = None
            self._tokens.clear()

    def _decode(self, tokens: Sequence[int], rows: int, padding: int = 0) -> None:
        known = len(self._tokens)
        mark = log.mark()
        padded = [*tokens, *[tokens[-1]] * padding]
        status = llama_cpp.llama_decode(self._handle, self._batch.fill(padded, known, rows, padding))
        if status == _OK:
            self._tokens.extend(padded)
            if padding:
                self._keep(known + len(tokens))
            return
        self._keep(known)  # part of the chunk may have been evaluated
        if status == _NO_ROOM:
            raise ContextFull
        if status == _ABORTED:
            raise Cancelled
        raise DecodeError("decode_failed", status=status, reason=log.cause(mark))

    def _decode_asking(self, tokens: Sequence[int], rows: int, question: Question) -> None:
        """As `_decode`, asking before it and, where a CPU computes, now and then until it is done."""
        question.go_on()
        question.raise_if_refused()
        asked = time.monotonic()

        def abort(_data: object) -> bool:
            nonlocal asked
            if time.monotonic() - asked < ASK_SECONDS:
                return False
            go_on = question.go_on()
            asked = time.monotonic()
            return not go_on

        callback = llama_cpp.ggml_abort_callback(abort)
        llama_cpp.llama_set_abort_callback(self._handle, callback, None)
        try:
            self._decode(tokens, rows)
        finally:
            llama_cpp.llama_set_abort_callback(self._handle, llama_cpp.ggml_abort_callback(), None)
            question.raise_if_refused()

    def _keep(self, length: int) -> None:
        if length > 0 and llama_cpp.llama_memory_seq_rm(self._memory, 0, length, -1):
            del self._tokens[length:]
        else:
            self._clear()

    def _clear(self) -> None:
        llama_cpp.llama_memory_clear(self._memory, False)
        self._tokens.clear()

    def _logits(self, rows: int) -> Logits:
        if rows == 0:
            llama_cpp.llama_synchronize(self._handle)  # else a GPU's work would be timed as part of the next pass
            return np.empty((0, self._n_vocab), np.float32)
        pointer = llama_cpp.llama_get_logits(self._handle)
        if not pointer:
            raise DecodeError("decode_failed", status=_OK, reason="no logits")
        return np.ctypeslib.as_array(pointer, (rows, self._n_vocab))


def _chunks(count: int, rows: int, most: int) -> Iterator[int]:
    """Sizes of at most `most` that add up to `count`; the last is at least `rows`."""
    while count > most:
        size = min(most, count - rows)
        yield size
        count -= size
    yield count

"""What llama.cpp could not do, as a code with parameters; the app has the words."""

from __future__ import annotations

from specchat.models.decoding.model import EvaluationFailed
from specchat.models.errors import CodedError


class LlamaError(CodedError):
    """A model can't be loaded or evaluated; `code` says what happened and `params` fill its sentence."""

    def __init__(self, code: str, **params: str | int | float) -> None:
        super().__init__(code, params)


class LoadError(LlamaError):
    """A model can't be used.

    Codes: `load_failed` and `context_failed` (reason: llama.cpp's own words, possibly empty), `no_such_gpu` (gpu,
    count), `cache_needs_flash_attention` (cache_type), and for what `specchat.models.files.check` could not tell from
    the file alone `no_vocabulary`, `model_is_encoder`, `model_is_encoder_decoder` and `model_is_diffusion`
    (architecture).
    """


class DecodeError(LlamaError, EvaluationFailed):
    """An evaluation failed. Code: `decode_failed` (status: what llama_decode returned, reason)."""

"""What can be wrong with a model file, as a code with parameters; the app has the words."""

from __future__ import annotations

from pathlib import Path

from specchat.models.errors import CodedError


class ModelFileError(CodedError):
    """A model file can't be used, or can't be written.

    `params` holds the file's `path` and what the code adds to it. Codes raised while reading a file's head:
    `file_missing`, `file_is_folder`, `file_unreadable` (reason: the system's own words), `file_empty`,
    `file_lfs_pointer`, `file_not_gguf` (looks_like: see `sniff.looks_like`), `file_big_endian`,
    `file_version` and `file_version_newer` (version), `file_truncated` (have, need: bytes, `need` at least) and
    `file_damaged` (what: `header`, `tensors`, `layers`, `numbers`, `vocabulary`, `vocabulary_size` or `merges`).
    `check` and `standin` name those they add.
    """

    def __init__(self, code: str, path: Path, **params: str | int | float) -> None:
        super().__init__(code, {"path": str(path), **params})

"""What a file that should be a GGUF is instead, told from its first bytes."""

from __future__ import annotations

from typing import Literal

SNIFFED = 1024
"""How many bytes from the start of a file are enough to tell."""

Look = Literal["lfs_pointer", "web_page", "archive", "safetensors", "old_ggml", "zeros", "text", "data"]

_STARTS: tuple[tuple[bytes, Look], ...] = (
    (b"version https://git-lfs.github.com/spec/", "lfs_pointer"),
    (b"PK\x03\x04", "archive"),  # zip, and PyTorch's .bin and .pt, which are zip files
    (b"\x1f\x8b", "archive"),  # gzip
    (b"7z\xbc\xaf\x27\x1c", "archive"),
    (b"\x28\xb5\x2f\xfd", "archive"),  # zstd
    # GGUF's predecessors ggml, ggmf, ggjt and ggla are 32-bit numbers, so their letters lie backwards in the file.
    (b"lmgg", "old_ggml"),
    (b"fmgg", "old_ggml"),
    (b"tjgg", "old_ggml"),
    (b"algg", "old_ggml"),
)
_PAGES = (b"<!doctype", b"<html", b"<?xml")
_NOT_TEXT = bytes(set(range(32)) - set(b"\t\n\r\f"))


def looks_like(head: bytes) -> Look:
    """What the first `SNIFFED` bytes of a file (at least one) belong to, if not to a GGUF."""
    for start, look in _STARTS:
        if head.startswith(start):
            return look
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(_PAGES):
        return "web_page"
    if head[8:9] == b"{" and head[4:8] == b"\0\0\0\0":  # a 64-bit length below 4 GiB, then JSON
        return "safetensors"
    if not head.strip(b"\0"):
        return "zeros"  # a download that reserved its space and never filled it
    return "text" if _is_text(head) else "data"


def _is_text(head: bytes) -> bool:
    if len(head.translate(None, _NOT_TEXT)) < len(head):
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4  # the last character may be cut off
    return True

"""Text from the bytes of tokens, whose edges needn't be those of characters."""

from __future__ import annotations

import codecs


class Detokenizer:
    """Decodes UTF-8 as it comes: an unfinished character waits for its other bytes, an invalid byte is U+FFFD."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def feed(self, piece: bytes) -> str:
        """The text that is complete with `piece`."""
        return self._decoder.decode(piece)

    def flush(self) -> str:
        """U+FFFD for a character that was still unfinished, else nothing. The next text starts afresh."""
        return self._decoder.decode(b"", final=True)

"""Shows the screens in a language: `speaking.py LANGUAGE COLUMNS ROWS`, in an empty folder.

As with `support.shouting`, a line `== NAME` begins each text on standard output.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from specchat.app.words import speak

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from support.shouting import show_screens

    language, columns, rows = sys.argv[1:]
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    speak(language)
    asyncio.run(show_screens((int(columns), int(rows))))

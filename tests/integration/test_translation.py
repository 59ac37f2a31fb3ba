"""All that the screens and the command line's help say can be translated: a made-up language shows it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from specchat.app.bench.choices import CHOICES
from specchat.app.command_line.options import COMMANDS
from specchat.app.command_line.small_commands import ACTIONS, SHELLS
from specchat.app.lab.choices import LAB_CHOICES
from specchat.settings.values import SCHEMA
from support import shouting

KEYS = {"Esc", "Enter", "Space", "Tab", "PgUp", "PgDn", "ctrl", "shift"}
TYPED = {"specchat", "Markdown", *COMMANDS, *ACTIONS, *SHELLS}
SETTINGS = {word for item in (*SCHEMA, *CHOICES, *LAB_CHOICES) for word in (item.name, *item.choices, *item.words)}


def test_what_is_shown_is_translated(tmp_path: Path) -> None:
    command = [sys.executable, "-P", shouting.__file__]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=100)
    assert done.returncode == 0, done.stderr
    shown = re.sub(r"--[a-z][a-z-]*|no\d", "", done.stdout)  # options, and the fake engine's refused guesses
    texts = dict(text.split("\n", 1) for text in shown.split("\n== "))
    assert {"== specchat", "ask", "chat screen", "f1", "f8 look", "lab 3", "lab 1 mine"} <= set(texts)
    untranslated = {
        (name, word)
        for name, text in texts.items()
        for word in re.findall(r"\w*[a-z]{2}\w*", text)
        if word not in KEYS | TYPED | SETTINGS
    }
    assert untranslated == set()

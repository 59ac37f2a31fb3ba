"""What holds for all tests."""

from __future__ import annotations

import os
import signal
import sys

# Tests read English, whoever runs them.
os.environ["LANGUAGE"] = "en"

# Shells start background jobs deaf to ctrl+C, and `nohup` deaf to a hang-up. The programs that tests start must hear.
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform != "win32":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

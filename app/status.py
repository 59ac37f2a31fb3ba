"""Exit statuses of the `specchat` command."""

from __future__ import annotations

FAILED = 1
USAGE = 2
INTERRUPTED = 130
PIPE_CLOSED = 141
"""What a shell reports for a program that SIGPIPE ended."""

"""The `specchat` command. Nothing heavy is imported before it is known to be needed."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from specchat.app import options
from specchat.app.words import sentence
from specchat.settings.paths import find_paths

USAGE = 2
INTERRUPTED = 130
PIPE_CLOSED = 141
"""What a shell reports for a program that SIGPIPE ended."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (the process's own by default); returns the exit status."""
    _speak_utf8()
    try:
        try:
            status = _run(sys.argv[1:] if argv is None else argv)
        except KeyboardInterrupt:
            status = INTERRUPTED
        sys.stdout.flush()
    except OSError as error:
        if not _pipe_closed(error):
            raise
        _discard_output()
        return PIPE_CLOSED
    return status


def _run(argv: Sequence[str]) -> int:
    try:
        parsed = options.parse(argv)
        if parsed.version:
            print(f"specchat {version('specchat')}")
            return 0
        if parsed.command == "ask":
            wanted = options.ask_arguments(parsed, find_paths(os.environ).settings_file, os.environ)
    except options.UsageError as error:
        print(f"specchat: {sentence(error.code, error.params)}", file=sys.stderr)
        return USAGE
    except SystemExit:  # argparse has printed the help
        return 0
    if parsed.command == "ask":
        from specchat.app import ask

        return ask.run(wanted)
    if parsed.command == "doctor":
        from specchat.app import doctor

        return doctor.run(as_json=parsed.json)
    options.build_parser().print_help()
    return 0


def _speak_utf8() -> None:
    """Read and write UTF-8 whatever the locale, and never fail over a character."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def _pipe_closed(error: OSError) -> bool:
    """Whether nobody reads our output any more. Windows says EINVAL (22) there."""
    return isinstance(error, BrokenPipeError) or (os.name == "nt" and error.errno == errno.EINVAL)


def _discard_output() -> None:
    """Send what is still buffered to nowhere, or the interpreter would complain of it on its way out."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


if __name__ == "__main__":
    sys.exit(main())

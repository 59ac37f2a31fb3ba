"""The `specchat` command. Nothing heavy is imported before it is known to be needed."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from specchat.app import streams
from specchat.app.command_line import arguments, options
from specchat.app.command_line.parser import UsageError
from specchat.app.languages import chosen_language
from specchat.app.status import FAILED, INTERRUPTED, PIPE_CLOSED, USAGE
from specchat.app.words import sentence, speak
from specchat.settings.paths import find_paths


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (the process's own by default); returns the exit status."""
    streams.prepare()
    try:
        try:
            status = _run(sys.argv[1:] if argv is None else argv)
        except KeyboardInterrupt:
            status = INTERRUPTED
        sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:  # a file's, so nothing that was foreseen
            raise
        streams.abandon(sys.stdout)
        if _pipe_closed(error):
            return PIPE_CLOSED
        streams.complain(sentence("output_unwritable", {"reason": error.strerror or str(error)}))
        return FAILED
    return status


def _run(argv: Sequence[str]) -> int:
    settings_file = find_paths(os.environ).settings_file
    speak(chosen_language(argv, settings_file, os.environ))
    try:
        parsed = options.parse(argv)
        if parsed.version:
            from importlib.metadata import version

            print(f"specchat {version('specchat')}")
            return 0
        judge = _JUDGES.get(parsed.command)
        wanted = judge(parsed, settings_file, os.environ) if judge else None
    except UsageError as error:
        streams.complain(sentence(error.code, error.params))
        return USAGE
    except SystemExit:  # argparse has printed the help
        return 0
    return _carry_out(parsed.command, parsed, wanted)


def _bench_arguments(*sources: Any) -> Any:
    from specchat.app.bench.arguments import bench_arguments

    return bench_arguments(*sources)


def _models_arguments(*sources: Any) -> Any:
    from specchat.app.library.command import models_arguments

    return models_arguments(*sources)


def _history_arguments(*sources: Any) -> Any:
    from specchat.app.history.command import judge

    return judge(*sources)


def _lab_arguments(*sources: Any) -> Any:
    from specchat.app.lab.arguments import lab_arguments

    return lab_arguments(*sources)


_JUDGES: dict[str, Callable[..., Any]] = {
    "ask": arguments.ask_arguments,
    "bench": _bench_arguments,
    "chat": arguments.chat_arguments,
    "demo": arguments.chat_arguments,
    "models": _models_arguments,
    "history": _history_arguments,
    "lab": _lab_arguments,
}


def _carry_out(command: str, parsed: argparse.Namespace, wanted: Any) -> int:
    """Run `command`, of which only now the modules are imported."""
    if command == "ask":
        from specchat.app import ask

        return ask.run(wanted)
    if command == "bench":
        from specchat.app.bench import command as bench

        return bench.run(wanted)
    if command in ("chat", "demo"):
        from specchat.app import chat

        return chat.run_demo(wanted) if command == "demo" else chat.run_chat(wanted)
    return _tell(command, parsed, wanted)


def _tell(command: str, parsed: argparse.Namespace, wanted: Any) -> int:
    """Run one of the commands that let no model write."""
    if command == "models":
        from specchat.app.library import command as models_command

        return models_command.run(wanted)
    if command == "history":
        from specchat.app.history import command as history

        return history.run(wanted)
    if command == "lab":
        from specchat.app.lab import command as lab

        return lab.run(wanted)
    if command == "doctor":
        from specchat.app import doctor

        return doctor.run(as_json=parsed.json)
    from specchat.app.command_line.completion import script

    print(script(parsed.shell), end="")
    return 0


def _pipe_closed(error: OSError) -> bool:
    """Whether nobody reads our output any more. Windows says EINVAL (22) there."""
    return isinstance(error, BrokenPipeError) or (os.name == "nt" and error.errno == errno.EINVAL)


if __name__ == "__main__":
    sys.exit(main())

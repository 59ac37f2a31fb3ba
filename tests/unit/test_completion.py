"""Completion: the scripts name every command and option, and bash completes with its one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from specchat.app.command_line.completion import commands, script
from specchat.app.command_line.options import COMMANDS, build_parser
from specchat.app.command_line.small_commands import ACTIONS, SHELLS
from specchat.app.main import main

BASH = shutil.which("bash")


def completed(tmp_path: Path, *words: str) -> set[str]:
    """What bash offers after these words, the last of which is being typed."""
    file = tmp_path / "specchat.bash"
    file.write_text(script("bash"), encoding="utf-8")
    typed = " ".join(f"'{word}'" for word in ("specchat", *words))
    code = (
        f"source '{file.as_posix()}'; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _specchat; "
        'printf "%s\\n" "${COMPREPLY[@]}"; complete -p specchat'
    )
    done = subprocess.run([BASH or "", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    *offered, how = done.stdout.splitlines()
    assert how == "complete -o default -F _specchat specchat"
    return {word for word in offered if word}


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("",), set(COMMANDS)),
        (("mo",), {"models"}),
        (("models", ""), set(ACTIONS)),
        (("models", "show", "--"), {"--json", "--help"}),
        (("models", "--j"), {"--json"}),
        (("completion", "z"), {"zsh"}),
        (("ask", "--rule", ""), {"block", "token"}),
        (("ask", "--rule", "=", "t"), {"token"}),
        (("ask", "--rule", "="), {"block", "token"}),
        (("--theme", "d"), {"dark"}),
        (("bench", "--temp"), {"--temperature"}),
        (("ask", "--draft-gpu"), {"--draft-gpu-layers"}),
        (("ask", "--target", ""), set()),  # for bash's own completion of paths
        (("lab", "--svg", ""), set()),
        (("models", "check", ""), set()),
        (("chat", "--spec"), {"--speculation"}),
        (("doctor", "--no"), set()),
    ],
)
def test_bash_completes(tmp_path: Path, words: tuple[str, ...], expected: set[str]) -> None:
    assert completed(tmp_path, *words) == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_name_every_command_and_option(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    said = capsys.readouterr().out
    for command in (*COMMANDS, *ACTIONS):
        assert command in said
    [below] = [action for action in build_parser()._actions if action.dest == "command"]
    assert isinstance(below.choices, dict)
    for option in below.choices["bench"]._option_string_actions:
        assert option.lstrip("-") in said
    assert "\x1b" not in said


def test_every_option_that_takes_a_path_is_completed_with_paths() -> None:
    takers = {
        name
        for command in commands(build_parser())
        for option in command.options
        if option.takes_path
        for name in option.names
    }
    assert takers == {"--target", "--draft", "--rounds", "--prompts", "--output", "--plot", "--svg"}
    assert "-l svg" in script("fish")
    assert all(" -r -F" in line for line in script("fish").splitlines() if "-l svg" in line)
    assert ":path:_files" in next(line for line in script("zsh").splitlines() if "--svg[" in line)


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "tcsh" in capsys.readouterr().err

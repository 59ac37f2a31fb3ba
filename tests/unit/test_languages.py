"""Which language is spoken, by the command line, the settings and what the system asks for."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from specchat.app.languages import chosen_language, system_language
from specchat.app.main import main
from specchat.app.words import _, plural, sentence, speak
from support.catalogues import Catalogue, Entry, compiled

NOWHERE = Path("none.toml")
TURKISH = {"LANG": "tr_TR.UTF-8"}


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    speak("en")


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        (TURKISH, "tr"),
        ({"LANG": "tr"}, "tr"),
        ({"LC_MESSAGES": "tr_CY.UTF-8@x", "LANG": "en_GB.UTF-8"}, "tr"),
        ({"LC_ALL": "en_GB.UTF-8", "LC_MESSAGES": "tr_TR"}, "en"),
        ({"LC_ALL": "", **TURKISH}, "tr"),
        ({"LANGUAGE": "tr:en", "LANG": "en_GB"}, "tr"),
        ({"LANGUAGE": "en_GB:tr", **TURKISH}, "en"),
        ({"LANGUAGE": "de:tr:en"}, "tr"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "trk"}, "en"),
        ({"LANG": ":/../..:"}, "en"),
    ],
)
def test_the_system_asks_for_a_language(environ: dict[str, str], language: str) -> None:
    assert system_language(environ) == language


def test_the_command_line_beats_the_environment_and_that_the_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[look]\nlanguage = "tr"\n')
    exported = {"SPECCHAT_LOOK_LANGUAGE": "en"}
    assert chosen_language([], file, {}) == "tr"
    assert chosen_language([], file, exported | TURKISH) == "en"
    assert chosen_language(["--language", "tr"], file, exported) == "tr"
    assert chosen_language(["chat", "--language=tr", "--help"], file, exported) == "tr"
    assert chosen_language(["--language=auto"], file, exported | TURKISH) == "tr"
    assert chosen_language(["--language", "en"], NOWHERE, TURKISH) == "en"


@pytest.mark.parametrize("words", [["--language", "xx"], ["--language"], ["--language="], ["--", "--language=en"]])
def test_a_language_that_there_is_not_is_none(words: list[str]) -> None:
    assert chosen_language(words, NOWHERE, TURKISH) == "tr"


def test_a_language_of_the_settings_that_there_is_not_is_left_out_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPECCHAT_HOME", str(tmp_path))
    monkeypatch.setenv("SPECCHAT_LOOK_LANGUAGE", "xx")
    assert main(["ask", "--target", "none.gguf", "Hello"]) == 1
    said = capsys.readouterr().err
    assert 'SPECCHAT_LOOK_LANGUAGE takes one of auto, en, tr, not "xx". It is left out.' in said


def test_all_is_said_in_the_language() -> None:
    assert (_("Settings"), plural("{count} token", "{count} tokens", 2)) == ("Settings", "{count} tokens")
    speak("tr")
    assert (_("Settings"), plural("{count} token", "{count} tokens", 2)) == ("Ayarlar", "{count} token")
    assert sentence("no_such_gpu", {"gpu": 3, "count": 1}).startswith("3 numaralı GPU yok")
    assert sentence("load_failed", {"reason": ""}) == "Model yüklenemiyor: neden belirtilmedi"
    speak("en")
    assert _("Settings") == "Settings"


def test_what_a_catalogue_lacks_is_said_in_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tr" / "LC_MESSAGES" / "specchat.mo"
    file.parent.mkdir(parents=True)
    head = Entry(said=("Content-Type: text/plain; charset=UTF-8\n",))
    file.write_bytes(compiled(Catalogue({"": head, "Settings": Entry(said=("Ayarlar",)), "Quit": Entry()})))
    monkeypatch.setattr("specchat.app.words.LOCALE", tmp_path)
    speak("tr")
    assert (_("Settings"), _("Quit"), _("Never marked")) == ("Ayarlar", "Quit", "Never marked")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ask", "--json=5"], "--json değer almaz."),
        (["ask", "--ctx"], "--ctx bir değer ister."),
        (["ask", "-hx"], "Burada -hx diye bir seçenek yok"),
        (["chat", "--theme", "pink"], '--theme için şunlardan birini verin: dark, light, terminal; "pink" olmaz.'),
        (["--language", "en", "ask"], "ask is one argument too many"),
    ],
)
def test_mistakes_on_the_command_line_are_told_in_the_language(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANGUAGE", "tr")
    assert main(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("command", ["chat", "demo", "ask", "bench", "doctor"])
def test_every_help_is_in_the_language(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANGUAGE", "tr")
    assert main([command, "--help"]) == 0
    output = capsys.readouterr().out
    assert output.startswith(f"kullanım: specchat {'[chat]' if command == 'chat' else command}")
    assert "Bu yardımı gösterir." in output
    assert not {"usage:", "options:", "Show", "the", "is"} & set(output.split())


def test_the_systems_reasons_are_told_in_the_language() -> None:
    params = {"path": "x.gguf", "reason": os.strerror(errno.EACCES)}
    assert sentence("file_unreadable", params) == "x.gguf can't be read: Permission denied."
    speak("tr")
    assert sentence("file_unreadable", params) == "x.gguf okunamıyor: izin verilmedi."

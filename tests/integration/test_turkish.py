"""specchat in Turkish, as a process of its own: what it says, and whether there is room for it on the screen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import speaking
from support.cli import SECONDS, SPECCHAT, environment
from support.fake_engine import fake_engine
from support.specchat_with_engine import specchat_with


def output_of(home: Path, *command: str) -> str:
    """What it writes where the system asks for Turkish."""
    environ = environment(home) | {"LANGUAGE": "", "LC_ALL": "", "LC_MESSAGES": "", "LANG": "tr_TR.UTF-8"}
    done = subprocess.run(command, cwd=home, env=environ, capture_output=True, timeout=SECONDS, check=True)
    return done.stdout.decode().replace(os.linesep, "\n")


def test_the_help_speaks_the_language_of_the_system(tmp_path: Path) -> None:
    assert output_of(tmp_path, *SPECCHAT, "--help").startswith("kullanım: specchat [KOMUT] [SEÇENEK …]\n")
    assert output_of(tmp_path, *SPECCHAT, "--language", "en", "--help").startswith("usage: specchat")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")
def test_the_chat_knows_the_language_before_its_keys_get_their_names(tmp_path: Path) -> None:
    from support.pseudo_terminal import Program

    settings = tmp_path / "config" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text('[look]\nlanguage = "tr"\n')
    words = [*specchat_with(fake_engine()), "--target", "target.gguf", "--draft", "draft.gguf"]
    with Program(words, tmp_path) as program:
        program.shows("Bir şey sorun", "^q çık")
        program.send("\x11")
        assert program.end() == 0


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=str)
def test_the_screens_have_room_for_it(size: tuple[int, int], tmp_path: Path) -> None:
    words = (sys.executable, "-P", speaking.__file__, "tr", *map(str, size))
    texts = dict(text.split("\n", 1) for text in output_of(tmp_path, *words).removeprefix("== ").split("\n== "))
    chat = texts["chat screen"]
    assert "F1 yardım  F2 aç/kapa  F3 Röntgen  F4 kıyas  F5 model  F6 lab  Esc dur  ^q çık" in chat
    assert all(said in chat for said in ("Siz", "Bir şey sorun", "2/3 kabul · 1 geçiş", "TASLAK açık", "taslaksız"))
    assert "3 tahmin: fazlası kazandırmazdı" in chat
    assert [line for line in chat.splitlines() if line.endswith("…")] == []
    assert "diğer 5.0" in texts["f3"]
    assert "kabul edilen  ✗reddedilen  →yerine gelen  +ek  yalın  │ tur sonu" in texts["f3"]
    assert "Enter seç  Esc kapat  F5 hedef veya taslak  F6 sırala  F7 göz at  F9 yükle" in texts["f5"]
    assert "Örnekleme  Spekülasyon  Yanıt  Hedef  Taslak  Modeller  Görünüm" in texts["f8 look"]
    assert "F8 sonraki bölüm" in texts["f8 look"]
    assert "ne yapmak istediğinizi yazın" in texts["ctrl+p"]
    assert "Eşleşen yok" in texts["nothing found"]

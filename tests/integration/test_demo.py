"""`specchat demo`'s stand-in: made once, made anew when it must be, and never half-made."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
import psutil
import pytest

from specchat.app import demo, demo_child
from specchat.app.demo import (
    EDITION,
    STANDIN_SENTENCE,
    DemoError,
    is_current,
    prepare_standin,
    record_path,
    standin_path,
)
from specchat.app.words import sentence
from specchat.models.files.check import check_model_file
from specchat.models.files.header import read_header
from specchat.models.files.standin import WIDENED, Recipe
from support.screen import Screen
from support.tiny_gguf import write_tiny_llama

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("source") / "tiny.gguf")


@pytest.fixture(scope="module")
def made(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with a stand-in."""
    cache = tmp_path_factory.mktemp("made")
    prepare_standin(cache, source)
    return cache


@pytest.fixture
def cache(made: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may spoil."""
    shutil.copytree(made / "demo", tmp_path / "demo", copy_function=shutil.copy2)
    return tmp_path


def left_in(cache: Path) -> set[str]:
    return {path.name for path in (cache / "demo").iterdir()} - {"stand-in.lock"}


def test_it_is_a_model_and_calls_itself_a_stand_in(made: Path) -> None:
    check_model_file(standin_path(made))
    header = read_header(standin_path(made))
    assert header.text("general.name") == "tiny stand-in, widened"
    assert header.integer("llama.feed_forward_length") == WIDENED.units
    assert left_in(made) == {"stand-in.gguf", "stand-in.json"}


def test_making_it_says_what_it_is(source: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert prepare_standin(tmp_path, source) == standin_path(tmp_path)
    assert capfd.readouterr() == ("", f"{STANDIN_SENTENCE}\n")


def test_it_is_made_only_once(source: Path, made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = standin_path(made).stat()
    assert prepare_standin(made, source) == standin_path(made)
    assert standin_path(made).stat() == before
    assert capfd.readouterr() == ("", "")


def cut_off(out: Path) -> None:
    with out.open("r+b") as file:
        file.truncate(out.stat().st_size - 1)


def overwrite(out: Path) -> None:
    with out.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    os.utime(out, ns=(0, out.stat().st_mtime_ns + 1))  # file systems may tell times apart less finely than that


def forget(out: Path) -> None:
    record_path(out).unlink()


def spoil_record(out: Path) -> None:
    record_path(out).write_bytes(b"\0" * 10)


def age(out: Path) -> None:
    record = msgspec.json.decode(record_path(out).read_bytes(), type=demo.Record)
    record_path(out).write_bytes(msgspec.json.encode(msgspec.structs.replace(record, edition=EDITION - 1)))


@pytest.mark.parametrize("spoil", [Path.unlink, cut_off, overwrite, forget, spoil_record, age])
def test_it_is_made_anew_where_it_is_spoilt_or_old(
    source: Path, made: Path, cache: Path, spoil: Callable[[Path], None]
) -> None:
    assert is_current(standin_path(cache), source)
    spoil(standin_path(cache))
    assert not is_current(standin_path(cache), source)
    prepare_standin(cache, source)
    assert is_current(standin_path(cache), source)
    assert standin_path(cache).read_bytes() == standin_path(made).read_bytes()


def test_it_is_made_anew_for_another_model(cache: Path, tmp_path: Path) -> None:
    other = write_tiny_llama(tmp_path / "other.gguf", seed=1)
    prepare_standin(cache, other)
    assert read_header(standin_path(cache)).text("general.name") == "other stand-in, widened"


def test_another_recipe_is_another_edition() -> None:
    # Whoever changes the recipe raises the edition too, or the stand-ins of before would stay in use.
    assert (1, Recipe("stand-in, widened", units=24_576)) == (EDITION, WIDENED)


def test_a_source_that_will_not_do_is_told(tmp_path: Path) -> None:
    source = tmp_path / "text.gguf"
    source.write_text("no model\n" * 100)
    with pytest.raises(DemoError) as caught:
        prepare_standin(tmp_path, source)
    assert sentence(caught.value.code, caught.value.params) == f"{source} isn't a GGUF file; it looks like plain text."
    assert left_in(tmp_path) == set()


def test_a_cache_folder_that_cannot_be_is_told(source: Path, tmp_path: Path) -> None:
    (tmp_path / "demo").touch()
    with pytest.raises(DemoError) as caught:
        prepare_standin(tmp_path, source)
    assert caught.value.code == "file_unwritable"


def test_two_do_not_make_it_at_once(source: Path, tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    with demo_child.alone(tmp_path / "demo" / "stand-in.lock"), pytest.raises(DemoError) as caught:
        prepare_standin(tmp_path, source)
    assert caught.value.code == "standin_busy"
    prepare_standin(tmp_path, source)


def test_what_another_one_has_just_finished_is_kept(source: Path, made: Path) -> None:
    before = standin_path(made).stat()
    demo_child.make(source, standin_path(made), lambda: pytest.fail("nothing is made"))
    assert standin_path(made).stat() == before


@unix_only
def test_a_process_that_dies_is_told(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo.sys, "executable", shutil.which("false"))
    with pytest.raises(DemoError) as caught:
        prepare_standin(tmp_path, source)
    assert sentence(caught.value.code, caught.value.params) == ("The stand-in can't be made: its process ended with 1.")


# ------------------------------------------------------------------ being stopped

PREPARE = (
    "import sys; from pathlib import Path; from specchat.app.demo import *; prepare_standin(*map(Path, sys.argv[1:]))"
)


@pytest.fixture(scope="module")
def large_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose stand-in takes a second or two."""
    return write_tiny_llama(tmp_path_factory.mktemp("large") / "large.gguf", width=512, layers=8)


def wait_until_alone(cache: Path) -> None:
    """Wait until no process makes the stand-in any more."""
    while True:
        with suppress(demo_child.Busy), demo_child.alone(cache / "demo" / "stand-in.lock"):
            return


@unix_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_it_is_stopped_nothing_half_made_is_left(large_source: Path, tmp_path: Path, number: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PREPARE, str(tmp_path), str(large_source)], stderr=subprocess.DEVNULL
    )
    part = tmp_path / "demo" / "stand-in.gguf.part"
    while not part.exists():
        assert process.poll() is None
    process.send_signal(number)
    assert process.wait() != 0
    if number != signal.SIGINT:  # after ctrl+C the process itself waits for that
        wait_until_alone(tmp_path)
    assert left_in(tmp_path) == set()


STUBBORN = """#!{python}
import sys, time
print('{{"type": "Progress", "done": 1, "total": 2}}', flush=True)
open({part!r}, "w").close()
time.sleep(600)
"""


@unix_only
@pytest.mark.parametrize("is_impatient", [False, True])
def test_a_maker_that_does_not_stop_is_ended_and_leaves_nothing(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_impatient: bool
) -> None:
    out = standin_path(tmp_path)
    out.parent.mkdir()
    part = out.with_name(out.name + ".part")
    maker = tmp_path / "python"
    maker.write_text(STUBBORN.format(python=sys.executable, part=str(part)))
    maker.chmod(0o700)
    monkeypatch.setattr(demo.sys, "executable", str(maker))
    monkeypatch.setattr(demo, "STOP_SECONDS", 0.01)

    def interrupt(*_anything: object) -> None:
        while not part.exists():
            assert psutil.Process().children()
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "_follow", interrupt)
    if is_impatient:
        monkeypatch.setattr(subprocess.Popen, "wait", interrupted_once(subprocess.Popen.wait))
    with pytest.raises(KeyboardInterrupt):
        prepare_standin(tmp_path, source)
    assert psutil.Process().children() == []
    assert left_in(tmp_path) == set()


def interrupted_once(wait: Callable[..., int]) -> Callable[..., int]:
    """`wait`, but that ctrl+C comes while it is called for the first time."""
    calls = []

    def waiting(*arguments: object) -> int:
        calls.append(arguments)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return wait(*arguments)

    return waiting


@unix_only
def test_a_maker_that_is_killed_is_told_and_the_next_one_clears_up(
    large_source: Path, source: Path, tmp_path: Path
) -> None:
    out = standin_path(tmp_path)
    maker = subprocess.Popen(
        [sys.executable, "-m", "specchat.app.demo_child", str(large_source), str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert maker.stdin is not None
    assert maker.stdout is not None
    assert maker.stdout.readline().startswith(b'{"type":"Progress"')
    maker.kill()
    maker.communicate()
    assert left_in(tmp_path) == {"stand-in.gguf.part"}
    prepare_standin(tmp_path, source)
    assert left_in(tmp_path) == {"stand-in.gguf", "stand-in.json"}


@unix_only
def test_on_a_terminal_it_shows_how_far_it_is(large_source: Path, tmp_path: Path) -> None:
    import pty

    master, slave = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", PREPARE, str(tmp_path), str(large_source)], stderr=slave)
    os.close(slave)
    shown = b""
    with suppress(OSError):  # Linux says so at the end of a terminal
        while piece := os.read(master, 4096):
            shown += piece
    os.close(master)
    assert process.wait() == 0
    assert re.search(rb"making the stand-in: \d+% of \d+ MB \(ctrl\+C stops it\)", shown)
    screen = Screen(400, 10)
    screen.feed(shown.decode().replace("\r\n", "\n"))
    assert screen.lines == [STANDIN_SENTENCE]

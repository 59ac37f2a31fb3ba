"""The tail of llama.cpp's log."""

from __future__ import annotations

from specchat.models.llama.log import Level, LogTail


def test_a_line_is_joined_over_its_fragments() -> None:
    tail = LogTail()
    tail.write(Level.WARN, b"load: gr\xc3")
    tail.write(Level.CONT, b"\xbc\xc3\x9fe")
    tail.write(Level.CONT, b"\nload: more\n")
    assert tail.lines() == ("load: grüße", "load: more")


def test_a_line_ends_where_another_begins() -> None:
    tail = LogTail()
    tail.write(Level.WARN, b"no newline")
    tail.write(Level.ERROR, b"next\n")
    assert tail.lines() == ("no newline", "next")
    assert tail.lines(Level.ERROR) == ("next",)


def test_bytes_that_are_no_text_do_not_hurt() -> None:
    tail = LogTail()
    tail.write(Level.ERROR, b"name \xff\xfe\n")
    assert tail.lines() == ("name \ufffd\ufffd",)


def test_only_the_last_lines_are_kept_and_marks_outlive_the_others() -> None:
    tail = LogTail(kept=3)
    tail.write(Level.ERROR, b"0\n1\n2\n")
    mark = tail.mark()
    tail.write(Level.ERROR, b"3\n")
    assert tail.lines() == ("1", "2", "3")
    assert tail.lines(since=mark) == ("3",)
    tail.write(Level.ERROR, b"4\n5\n6\n7\n")
    assert tail.lines(since=mark) == ("5", "6", "7")


def test_the_cause_is_the_first_error_without_its_function() -> None:
    tail = LogTail()
    tail.write(Level.ERROR, b"earlier: trouble\n")
    mark = tail.mark()
    tail.write(Level.WARN, b"load: odd\n")
    tail.write(Level.ERROR, b"llama_model_load: error loading model: tensor 'x' not found\n")
    tail.write(Level.ERROR, b"llama_model_load_from_file_impl: failed to load model\n")
    assert tail.cause(mark) == "tensor 'x' not found"
    assert tail.cause(tail.mark()) == ""


def test_buffers_add_up_from_the_mark_on() -> None:
    tail = LogTail()
    tail.write(Level.INFO, b"load_tensors: CPU_Mapped model buffer size =    92.50 MiB\n")
    mark = tail.mark()
    tail.write(Level.INFO, b"load_tensors: CPU_Mapped model buffer size =    100.00 MiB\n")
    tail.write(Level.INFO, b"llama_kv_cache:        CPU KV buffer size =   20.25 MiB\n")
    tail.write(Level.INFO, b"llama_kv_cache: size =  20.25 MiB (  8192 cells)\n")
    assert tail.buffers(mark) == 120.25 * 2**20
    assert tail.buffers(tail.mark()) == 0


def test_debug_lines_push_nothing_out() -> None:
    tail = LogTail(kept=2)
    tail.write(Level.ERROR, b"reason\n")
    tail.write(Level.DEBUG, b"a\nb\nc\n")
    assert tail.lines() == ("reason",)

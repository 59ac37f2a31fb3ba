from __future__ import annotations

import pytest

from specchat.models.engine.death import MOST_CHARACTERS, died, useful_lines

ABORT_LOG = """\
llama_model_loader: loaded meta data with 23 key-value pairs
llama_context: n_ctx = 4096
/src/ggml/src/ggml.c:5432: GGML_ASSERT(tensor->ne[0] == 4096) failed
Fatal Python error: Aborted

Current thread 0x00007f0123456789 [python] (most recent call first):
  File "/lib/python3.11/site-packages/llama_cpp/_error.py", line 12 in decode

Extension modules: numpy._core._exceptions, numpy.linalg (total: 2)
"""


@pytest.mark.parametrize(
    ("exit_code", "platform", "code", "name"),
    [
        (-6, "linux", "engine_aborted", "SIGABRT"),
        (-11, "linux", "engine_crashed", "SIGSEGV"),
        (-8, "linux", "engine_crashed", "SIGFPE"),
        (-4, "linux", "engine_illegal_instruction", "SIGILL"),
        (-9, "linux", "engine_killed", "SIGKILL"),
        (-15, "linux", "engine_killed", "SIGTERM"),
        (-99, "linux", "engine_killed", "signal 99"),
        (0, "linux", "engine_ended", "0"),
        (3, "linux", "engine_ended", "3"),
        (3, "win32", "engine_aborted", "3"),
        (1, "win32", "engine_ended", "1"),
        (0xC0000005, "win32", "engine_crashed", "0xC0000005"),
        (0xC0000005 - 2**32, "win32", "engine_crashed", "0xC0000005"),
        (0xC000001D, "win32", "engine_illegal_instruction", "0xC000001D"),
        (0xC0000409, "win32", "engine_aborted", "0xC0000409"),
        (0xC0000017, "win32", "engine_out_of_memory", "0xC0000017"),
        (0xC0000999, "win32", "engine_ended", "0xC0000999"),
        (None, "linux", "engine_stuck", ""),
    ],
)
def test_an_exit_is_decoded(exit_code: int | None, platform: str, code: str, name: str) -> None:
    death = died(exit_code, "", platform)
    assert (death.code, death.params) == (code, {"exit": name, "log": ""})


@pytest.mark.parametrize(
    "line",
    [
        "CUDA error: out of memory",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 8589934592",
        "vk::Device::allocateMemory: ErrorOutOfDeviceMemory",
    ],
)
def test_an_abort_for_want_of_memory_says_so(line: str) -> None:
    assert died(-6, f"{line}\n", "linux").code == "engine_out_of_memory"
    assert died(-9, f"{line}\n", "linux").code == "engine_killed"


def test_the_reason_is_found_among_what_only_says_where() -> None:
    assert useful_lines(ABORT_LOG) == ["/src/ggml/src/ggml.c:5432: GGML_ASSERT(tensor->ne[0] == 4096) failed"]


def test_of_a_python_error_only_the_error_is_kept() -> None:
    log = 'Traceback (most recent call last):\n  File "error.py", line 1, in f\n    fail()\n    ^^^^\nOSError: no\n'
    assert useful_lines(log) == ["OSError: no"]


def test_the_last_different_lines_are_kept_in_order() -> None:
    log = "".join(f"error {n % 7}\n" for n in range(30)) + "error 1\n" * 50
    assert useful_lines(log, most=3) == ["error 6", "error 0", "error 1"]


def test_what_was_being_done_is_no_reason() -> None:
    log = "loading\nsched_reserve: reserve took 4.92 ms\n\n"
    assert useful_lines(log) == []
    assert [died(code, log, "linux").params["log"] for code in (-9, -11, -6, None)] == [""] * 4


def test_of_one_that_ended_by_itself_the_last_line_may_tell_why() -> None:
    assert died(1, "loading\nno such device\n\n", "linux").params["log"] == "no such device"
    assert died(1, "error: no\nbye\n", "linux").params["log"] == "error: no"


def test_what_a_models_file_says_is_no_reason() -> None:
    kv = "llama_model_loader: - kv  31: tokenizer.chat_template str = {{ raise_exception('No!') }}\n"
    assert useful_lines(f"{kv}print_info: rope_finetuned = unknown\nload_tensors: loading\n") == []


def test_a_long_line_is_cut() -> None:
    assert useful_lines("error " + "x" * 10_000) == ["error " + "x" * (MOST_CHARACTERS - 6)]

"""What the renderer does with conversations a template won't take, and with templates that mean harm."""

import sys
import threading
from contextlib import suppress

import pytest

from specchat.models.llama.template import Rendered, TemplateError, render
from support.templates import CHATML, QWEN_3, USER, USER_ASSISTANT_USER, Messages

SHOW = "{{ messages[0].content }}"


def rendered(template: str | None, messages: Messages = USER, seconds: float = 10) -> Rendered:
    return render(template, messages, bos="<s>", eos="</s>", seconds=seconds)


def error(template: str | None, messages: Messages = USER, seconds: float = 10) -> TemplateError:
    with pytest.raises(TemplateError) as caught:
        rendered(template, messages, seconds)
    return caught.value


class TestBending:
    ALONE = "{% if messages | length > 1 %}{{ raise_exception('One only') }}{% endif %}" + SHOW

    def test_what_no_bend_helps_becomes_chatml(self) -> None:
        assert rendered(self.ALONE, USER_ASSISTANT_USER) == Rendered(
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n"
            "<|im_start|>assistant\n",
            ("chatml",),
        )

    def test_a_system_message_alone_is_folded_into_a_message_of_its_own(self) -> None:
        template = "{% if messages[0].role == 'system' %}{{ raise_exception('No') }}{% endif %}" + SHOW
        assert rendered(template, [("system", "Be brief.")]) == Rendered("Be brief.", ("system_folded",))

    def test_a_template_that_shows_no_message_is_not_used(self) -> None:
        assert rendered("Hello!").bent == ("chatml",)

    def test_a_message_said_twice_must_be_shown_twice(self) -> None:
        twice = [("user", "Hi"), ("assistant", "Hello."), ("user", "Hi")]
        assert rendered("{{ messages[0].content }} {{ messages[1].content }}", twice).bent == ("chatml",)

    def test_a_past_reply_may_lose_its_thinking_but_not_its_answer(self) -> None:
        thought = [("assistant", "<think>Hm.</think> Hello.")]
        assert rendered("{{ messages[0].content.split('</think>')[-1] }}", thought).text == " Hello."
        assert rendered("{{ messages[0].content.split('</think>')[0] }}", thought).bent == ("chatml",)

    def test_a_message_of_spaces_needn_t_be_shown(self) -> None:
        assert rendered("{{ messages[0].content | trim }}!", [("user", " \n")]) == Rendered("!", ())


class TestDialect:
    def test_names_that_nobody_gives_are_undefined(self) -> None:
        assert rendered("[{{ tools }}{{ tools is defined }}]" + SHOW).text == "[False]Hi"

    def test_json_is_not_escaped_for_html(self) -> None:
        assert rendered("{{ messages | tojson }}", [("user", "<é'>")]).text == '[{"role": "user", "content": "<é\'>"}]'

    def test_json_can_be_indented(self) -> None:
        assert rendered("{{ {'b': 1, 'a': 2} | tojson(indent=1, sort_keys=true) }}" + SHOW).text == (
            '{\n "a": 2,\n "b": 1\n}Hi'
        )

    def test_loops_can_be_left(self) -> None:
        template = "{% for i in range(9) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}" + SHOW
        assert rendered(template).text == "01Hi"

    @pytest.mark.parametrize(
        ("expression", "text"),
        [
            ("'a-b'.replace('-', '+') ~ ('a-b' | replace('-', '/'))", "a+ba/b"),
            ("'-'.join(['a', 'b']) ~ (messages | join(',', attribute='role'))", "a-buser"),
            ("'%s=%d' % ('a', 3) ~ '{}:{x}'.format(1, x=2) ~ ('%s' | format('b'))", "a=31:2b"),
            ("('a\nb' | indent(2)) ~ ('a\nb' | indent('>', true))", "a\n  b>a\n>b"),
            ("'ab' * 2 + 'c' ~ 7 % 4 ~ 2 ** 5 ~ 'abc'[1:]", "ababc332bc"),
            ("('-' | center(3)) ~ '7'.zfill(2) ~ ([1, 2, 3] | batch(2) | first | length)", " - 072"),
        ],
    )
    def test_what_is_measured_works_as_usual(self, expression: str, text: str) -> None:
        assert rendered("{{ " + expression + " }}" + SHOW).text == text + "Hi"

    def test_a_long_conversation_is_no_harm(self) -> None:
        turns = [("user" if turn % 2 == 0 else "assistant", f"{turn} " + "word " * 400) for turn in range(301)]
        assert rendered(CHATML, turns).bent == ()
        assert rendered(QWEN_3, turns).bent == ()


class TestUnusable:
    @pytest.mark.parametrize("template", [None, "", " \n"])
    def test_no_template(self, template: str | None) -> None:
        assert (error(template).code, error(template).params) == ("no_template", {})

    def test_a_syntax_error_names_its_line(self) -> None:
        caught = error("{{ bos_token }}\n{% if %}")
        assert (caught.code, caught.params["line"]) == ("template_syntax", 2)
        assert "Expected an expression" in str(caught.params["reason"])

    def test_a_template_that_always_raises(self) -> None:
        caught = error("{{ raise_exception('Not today.') }}", USER_ASSISTANT_USER)
        assert (caught.code, caught.params) == ("template_failed", {"reason": "Not today."})

    def test_a_reason_is_cut(self) -> None:
        assert len(str(error("{{ raise_exception('no' * 1000) }}").params["reason"])) == 200

    @pytest.mark.parametrize(
        "template",
        [
            "{{ ''.__class__.__mro__ }}",
            "{{ '{0.__class__.__mro__}'.format(1) }}",
            "{{ messages.append(messages[0]) }}",
            "{{ messages[0].update(role='system') }}",
            "{{ 'x'.encode().hex() }}",
            "{% include '/etc/passwd' %}",
            "{{ lipsum(5) }}",
            "{{ namespace(a=1) }}",
            "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}",
            "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
            "{% for a in [1] %}" * 30 + "{% endfor %}" * 30,
        ],
    )
    def test_what_the_sandbox_forbids(self, template: str) -> None:
        assert error(template).code == "template_failed"

    @pytest.mark.parametrize("secret", ["raise_exception.__globals__", "''|attr('__class__')", "messages.__class__"])
    def test_python_s_internals_are_nothing(self, secret: str) -> None:
        assert rendered("[{{ " + secret + " }}]" + SHOW).text == "[]Hi"


DOUBLING = "{% set ns = namespace(x=START) %}{% for i in range(60) %}{% set ns.x = STEP %}{% endfor %}{{ END }}"


def doubling(start: str, step: str, end: str) -> str:
    return DOUBLING.replace("START", start).replace("STEP", step).replace("END", end)


class TestTooLarge:
    @pytest.mark.parametrize(
        "expression",
        [
            "'x' * 10 ** 9",
            "10 ** 9 * 'x'",
            "[0] * 10 ** 9",
            "([['x'] * 99999] * 99999) | string",
            "'x' ~ [['x'] * 99999] * 99999",
            "9 ** 9999999",
            "'x'.center(10 ** 9)",
            "'x' | center(1000000000)",
            "'x'.zfill(10 ** 9)",
            "'%999999999d' % 1",
            "'%*d' % (999999999, 1)",
            "'%(a)*d' % 1",
            "('%9999d' * 1000) % 1",
            "'%.999999999f' | format(1.5)",
            "'{:999999999}'.format(1)",
            "'{:{}}'.format(1, 999999999)",
            "('x' * 99999).replace('x', 'y' * 99999)",
            "('x' * 99999).replace('', 'y' * 99999)",
            "('x' * 99999) | replace('x', 'y' * 99999)",
            "('y' * 99999).join('x' * 99999)",
            "('x' * 99999) | list | join('y' * 99999)",
            "('x\n' * 99999) | indent(99999)",
            "1.5 | round(1000000000)",
            "[1] | batch(1000000000, 0) | list",
            "[1] | tojson(indent=1000000000)",
            "strftime_now('%999999999d')",
        ],
    )
    def test_a_single_step(self, expression: str) -> None:
        assert error("{{ (" + expression + ") | length }}").code == "template_large"

    @pytest.mark.parametrize(
        "template",
        [
            doubling("'xx'", "ns.x ~ ns.x", "1"),
            doubling("'xx'", "ns.x + ns.x", "1"),
            doubling("[1]", "ns.x + ns.x", "1"),
            doubling("3", "ns.x * ns.x", "1"),
            doubling("'x'", "[ns.x, ns.x]", "ns.x"),
            doubling("'x'", "{'a': ns.x, 'b': ns.x}", "ns.x"),
            doubling("'x'", "[ns.x, ns.x]", "ns.x | string"),
            doubling("'x'", "[ns.x, ns.x]", "'%s' % [ns.x]"),
            doubling("'x'", "[ns.x, ns.x]", "'{}'.format(ns.x)"),
            "{% set x = 'xx' %}" + "{% set x %}{{ x }}{{ x }}{% endset %}" * 60,
            "{% macro m(x, n) %}{{ m(x ~ x, n - 1) if n else x }}{% endmacro %}{{ m('xx', 60) }}",
            "{% for i in range(99999) %}{{ 'x' * 999 }}{% endfor %}",
        ],
    )
    def test_many_steps(self, template: str) -> None:
        assert error(template).code == "template_large"

    @pytest.mark.parametrize("hoard", ["s[1:]", "s.split('x')", "s | list", "s | upper", "s ~ i"])
    def test_pieces_within_the_limit_that_add_up(self, hoard: str) -> None:
        template = (
            "{% set ns = namespace(all=[]) %}{% set s = 'x' * 99999 %}"
            "{% for i in range(99999) %}{% set ns.all = [ns.all, HOARD] %}{% endfor %}"
        )
        assert error(template.replace("HOARD", hoard), seconds=60).code == "template_large"

    def test_the_limit_grows_with_the_conversation(self) -> None:
        assert error("{{ 'x' * 10 ** 9 }}").params["limit"] == 1_000_008
        assert error("{{ 'x' * 10 ** 9 }}", [("user", "x" * 1000)]).params["limit"] == 1_004_000
        assert rendered(SHOW, [("user", "x" * 2_000_000)]).bent == ()

    def test_the_template_itself(self) -> None:
        assert error("x" * 300_000).code == "template_large"


class TestTooSlow:
    LOOPS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"

    @pytest.mark.parametrize(
        "template",
        [
            LOOPS,
            "{% set x %}" + LOOPS + "{% endset %}",
            "{% macro m() %}" + LOOPS + "{% endmacro %}{{ m() }}",
            doubling("'x'", "[ns.x, ns.x]", "ns.x | tojson | length"),
        ],
    )
    def test_it_is_stopped(self, template: str) -> None:
        caught = error(template, seconds=0.05)
        assert (caught.code, caught.params) == ("template_slow", {"seconds": 0.05})

    def test_it_is_stopped_in_any_thread(self) -> None:
        codes: list[str] = []
        thread = threading.Thread(target=lambda: codes.append(error(self.LOOPS, seconds=0.05).code))
        thread.start()
        thread.join()
        assert codes == ["template_slow"]

    @pytest.mark.parametrize("template", [SHOW, LOOPS, "{{ raise_exception('no') }}"])
    def test_a_tracer_that_was_there_is_there_again(self, template: str) -> None:
        def tracer(*_event: object) -> None:
            return None

        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            with suppress(TemplateError):
                rendered(template, seconds=0.05)
            assert sys.gettrace() is tracer
        finally:
            sys.settrace(before)

"""The exact prompt of each family of chat templates, for the usual conversations."""

from dataclasses import dataclass
from datetime import datetime

import pytest

from specchat.models.llama.template import Rendered, render
from support.templates import (
    CHATML,
    COMMAND_R,
    DEEPSEEK_R1,
    FORGETFUL,
    GEMMA,
    GPT_OSS,
    LLAMA_2,
    LLAMA_3,
    MISTRAL_NEW,
    MISTRAL_OLD,
    PHI_3,
    QWEN_3,
    SMOLLM_3,
    SYSTEM_USER,
    SYSTEM_USER_USER,
    THINKING,
    USER,
    USER_ASSISTANT_USER,
    USER_USER,
    Messages,
)


@dataclass(frozen=True)
class Case:
    """`template` on `messages` makes `text`, after these bends."""

    family: str
    template: str
    messages: Messages
    text: str
    bent: tuple[str, ...] = ()


def _cases(
    family: str, template: str, *expected: tuple[Messages, str] | tuple[Messages, str, tuple[str, ...]]
) -> list[Case]:
    return [Case(family, template, *case) for case in expected]


CASES = [
    *_cases(
        "ChatML",
        CHATML,
        (USER, "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"),
        (
            SYSTEM_USER,
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
        ),
        (
            USER_ASSISTANT_USER,
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n"
            "<|im_start|>assistant\n",
        ),
        (
            USER_USER,
            "<|im_start|>user\nOne<|im_end|>\n<|im_start|>user\nTwo<|im_end|>\n<|im_start|>assistant\n",
        ),
    ),
    *_cases(
        "Llama 2",
        LLAMA_2,
        (USER, "<s>[INST] Hi [/INST]"),
        (SYSTEM_USER, "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST]"),
        (USER_ASSISTANT_USER, "<s>[INST] Hi [/INST] Hello. </s><s>[INST] Bye [/INST]"),
        (USER_USER, "<s>[INST] One\n\nTwo [/INST]", ("merged",)),
        (SYSTEM_USER_USER, "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nOne\n\nTwo [/INST]", ("merged",)),
    ),
    *_cases(
        "Llama 3",
        LLAMA_3,
        (
            USER,
            "<s><|start_header_id|>system<|end_header_id|>\n\nToday Date: 09 Feb 2026\n\n<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
        ),
        (
            SYSTEM_USER,
            "<s><|start_header_id|>system<|end_header_id|>\n\nToday Date: 09 Feb 2026\n\nBe brief.<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
        ),
        (
            USER_ASSISTANT_USER,
            "<s><|start_header_id|>system<|end_header_id|>\n\nToday Date: 09 Feb 2026\n\n<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\nHello.<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
        ),
        (
            USER_USER,
            "<s><|start_header_id|>system<|end_header_id|>\n\nToday Date: 09 Feb 2026\n\n<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nOne<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nTwo<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
        ),
    ),
    *_cases(
        "Mistral, old",
        MISTRAL_OLD,
        (USER, "<s>[INST] Hi [/INST]"),
        (SYSTEM_USER, "<s>[INST] Be brief.\n\nHi [/INST]", ("system_folded",)),
        (USER_ASSISTANT_USER, "<s>[INST] Hi [/INST]Hello.</s>[INST] Bye [/INST]"),
        (USER_USER, "<s>[INST] One\n\nTwo [/INST]", ("merged",)),
        (SYSTEM_USER_USER, "<s>[INST] Be brief.\n\nOne\n\nTwo [/INST]", ("merged", "system_folded")),
    ),
    *_cases(
        "Mistral, new",
        MISTRAL_NEW,
        (USER, "<s>[INST]Hi[/INST]"),
        (SYSTEM_USER, "<s>[SYSTEM_PROMPT]Be brief.[/SYSTEM_PROMPT][INST]Hi[/INST]"),
        (USER_ASSISTANT_USER, "<s>[INST]Hi[/INST]Hello.</s>[INST]Bye[/INST]"),
        (USER_USER, "<s>[INST]One\n\nTwo[/INST]", ("merged",)),
    ),
    *_cases(
        "Gemma",
        GEMMA,
        (USER, "<s><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n"),
        (
            SYSTEM_USER,
            "<s><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\n",
            ("system_folded",),
        ),
        (
            USER_ASSISTANT_USER,
            "<s><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\nHello.<end_of_turn>\n"
            "<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n",
        ),
        (USER_USER, "<s><start_of_turn>user\nOne\n\nTwo<end_of_turn>\n<start_of_turn>model\n", ("merged",)),
    ),
    *_cases(
        "Phi-3",
        PHI_3,
        (USER, "<|user|>\nHi<|end|>\n<|assistant|>\n"),
        (SYSTEM_USER, "<|system|>\nBe brief.<|end|>\n<|user|>\nHi<|end|>\n<|assistant|>\n"),
        (
            USER_ASSISTANT_USER,
            "<|user|>\nHi<|end|>\n<|assistant|>\nHello.<|end|>\n<|user|>\nBye<|end|>\n<|assistant|>\n",
        ),
        (USER_USER, "<|user|>\nOne<|end|>\n<|user|>\nTwo<|end|>\n<|assistant|>\n"),
    ),
    *_cases(
        "DeepSeek R1",
        DEEPSEEK_R1,
        (USER, "<s><｜User｜>Hi<｜Assistant｜><think>\n"),
        (SYSTEM_USER, "<s>Be brief.<｜User｜>Hi<｜Assistant｜><think>\n"),
        (
            USER_ASSISTANT_USER,
            "<s><｜User｜>Hi<｜Assistant｜>Hello.<｜end▁of▁sentence｜><｜User｜>Bye<｜Assistant｜><think>\n",
        ),
        (THINKING, "<s><｜User｜>Hi<｜Assistant｜>Hello.<｜end▁of▁sentence｜><｜User｜>Bye<｜Assistant｜><think>\n"),
        (USER_USER, "<s><｜User｜>One<｜User｜>Two<｜Assistant｜><think>\n"),
    ),
    *_cases(
        "Command R",
        COMMAND_R,
        (
            USER,
            "<s><|START_OF_TURN_TOKEN|><|USER_TOKEN|>Hi<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        ),
        (
            SYSTEM_USER,
            "<s><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>Be brief.<|END_OF_TURN_TOKEN|>"
            "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>Hi<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        ),
        (
            USER_ASSISTANT_USER,
            "<s><|START_OF_TURN_TOKEN|><|USER_TOKEN|>Hi<|END_OF_TURN_TOKEN|>"
            "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>Hello.<|END_OF_TURN_TOKEN|>"
            "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>Bye<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        ),
        (
            USER_USER,
            "<s><|START_OF_TURN_TOKEN|><|USER_TOKEN|>One\n\nTwo<|END_OF_TURN_TOKEN|>"
            "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
            ("merged",),
        ),
    ),
    *_cases(
        "GPT-OSS",
        GPT_OSS,
        (
            USER,
            "<|start|>system<|message|>You are ChatGPT.\nCurrent date: 2026-02-09\n\nReasoning: medium<|end|>"
            "<|start|>user<|message|>Hi<|end|><|start|>assistant",
        ),
        (
            SYSTEM_USER,
            "<|start|>system<|message|>You are ChatGPT.\nCurrent date: 2026-02-09\n\nReasoning: medium<|end|>"
            "<|start|>developer<|message|># Instructions\n\nBe brief.<|end|>"
            "<|start|>user<|message|>Hi<|end|><|start|>assistant",
        ),
        (
            USER_ASSISTANT_USER,
            "<|start|>system<|message|>You are ChatGPT.\nCurrent date: 2026-02-09\n\nReasoning: medium<|end|>"
            "<|start|>user<|message|>Hi<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|end|>"
            "<|start|>user<|message|>Bye<|end|><|start|>assistant",
        ),
        (
            USER_USER,
            "<|start|>system<|message|>You are ChatGPT.\nCurrent date: 2026-02-09\n\nReasoning: medium<|end|>"
            "<|start|>user<|message|>One<|end|><|start|>user<|message|>Two<|end|><|start|>assistant",
        ),
    ),
    *_cases(
        "Qwen 3",
        QWEN_3,
        (USER, "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"),
        (
            SYSTEM_USER,
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
        ),
        (
            USER_ASSISTANT_USER,
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n"
            "<|im_start|>assistant\n",
        ),
        (
            THINKING,
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n"
            "<|im_start|>assistant\n",
        ),
        (
            USER_USER,
            "<|im_start|>user\nOne<|im_end|>\n<|im_start|>user\nTwo<|im_end|>\n<|im_start|>assistant\n",
        ),
    ),
    *_cases(
        "SmolLM 3",
        SMOLLM_3,
        (
            USER_ASSISTANT_USER,
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n"
            "<|im_start|>assistant\n",
        ),
    ),
    *_cases(
        "forgetful",
        FORGETFUL,
        (USER, "USER: Hi\nASSISTANT:"),
        (SYSTEM_USER, "USER: Be brief.\n\nHi\nASSISTANT:", ("system_folded",)),
        (USER_USER, "USER: One\nUSER: Two\nASSISTANT:"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}-{'-'.join(role for role, _ in case.messages)}")
def test_the_prompt_is_exact(case: Case) -> None:
    rendered = render(case.template, case.messages, bos="<s>", eos="</s>", now=datetime(2026, 2, 9))
    assert rendered == Rendered(case.text, case.bent)

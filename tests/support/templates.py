"""Chat templates in the manner of the known families, and conversations to try them on."""

from __future__ import annotations

Messages = list[tuple[str, str]]

USER: Messages = [("user", "Hi")]
SYSTEM_USER: Messages = [("system", "Be brief."), ("user", "Hi")]
USER_ASSISTANT_USER: Messages = [("user", "Hi"), ("assistant", "Hello."), ("user", "Bye")]
USER_USER: Messages = [("user", "One"), ("user", "Two")]
SYSTEM_USER_USER: Messages = [("system", "Be brief."), *USER_USER]
THINKING: Messages = [("user", "Hi"), ("assistant", "<think>\nHm.\n</think>\n\nHello."), ("user", "Bye")]

CHATML = """\
{%- for message in messages %}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

LLAMA_2 = """\
{%- set system = '' %}
{%- set rest = messages %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system = '<<SYS>>\\n' + messages[0]['content'].strip() + '\\n<</SYS>>\\n\\n' %}
    {%- set rest = messages[1:] %}
{%- endif %}
{%- for message in rest %}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('Roles must alternate user/assistant/user/assistant/...') }}
    {%- endif %}
    {%- if message['role'] == 'user' %}
        {{- bos_token + '[INST] ' + (system if loop.first else '') + message['content'].strip() + ' [/INST]' }}
    {%- else %}
        {{- ' ' + message['content'].strip() + ' ' + eos_token }}
    {%- endif %}
{%- endfor %}"""

LLAMA_3 = """\
{{- bos_token }}
{%- if not date_string is defined %}
    {%- set date_string = strftime_now('%d %b %Y') if strftime_now is defined else '26 Jul 2024' %}
{%- endif %}
{%- if messages[0].role == 'system' %}
    {%- set system = messages[0].content | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system = '' %}
{%- endif %}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\n' }}
{%- if tools is not none and tools %}{{- 'Environment: ipython\\n' }}{% endif %}
{{- 'Today Date: ' + date_string + '\\n\\n' + system + '<|eot_id|>' }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n' + message.content | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}"""

MISTRAL_OLD = """\
{{ bos_token }}{% for message in messages %}
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
{% endif %}
{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}
{%- elif message['role'] == 'assistant' %}{{ message['content'] + eos_token }}
{%- else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}
{% endfor %}"""

MISTRAL_NEW = """\
{%- if messages[0].role == 'system' %}
    {%- set system_message = messages[0].content %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- set ns = namespace(users=0) %}
{{- bos_token }}
{%- if system_message is defined %}{{- '[SYSTEM_PROMPT]' ~ system_message ~ '[/SYSTEM_PROMPT]' }}{% endif %}
{%- for message in loop_messages | rejectattr('role', 'equalto', 'tool') %}
    {%- if (message.role == 'user') != (ns.users is divisibleby 2) %}
        {{- raise_exception('After the optional system message, roles must alternate') }}
    {%- endif %}
    {%- set ns.users = ns.users + 1 %}
    {%- if message.role == 'user' %}{{- '[INST]' ~ message.content ~ '[/INST]' }}
    {%- else %}{{- message.content ~ eos_token }}{% endif %}
{%- endfor %}"""

GEMMA = """\
{{ bos_token }}
{%- if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{%- for message in messages %}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('Conversation roles must alternate') }}
    {%- endif %}
    {%- set role = 'model' if message['role'] == 'assistant' else message['role'] %}
    {{- '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"""

PHI_3 = """\
{% for message in messages %}
{% if message['role'] in ('user', 'system') %}
{{ '<|' + message['role'] + '|>\\n' + message['content'] + '<|end|>\\n' -}}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>\\n' + message['content'] + '<|end|>\\n' -}}
{% endif %}
{% endfor %}
{{- '<|assistant|>\\n' if add_generation_prompt else eos_token }}"""

DEEPSEEK_R1 = """\
{%- set ns = namespace(system='') %}
{%- for message in messages if message['role'] == 'system' %}
    {%- set ns.system = ns.system + message['content'] %}
{%- endfor %}
{{- bos_token + ns.system }}
{%- for message in messages %}
    {%- if message['role'] == 'user' %}{{- '<｜User｜>' + message['content'] }}
    {%- elif message['role'] == 'assistant' %}
        {%- set content = message['content'] %}
        {%- if '</think>' in content %}{% set content = content.split('</think>')[-1].lstrip() %}{% endif %}
        {{- '<｜Assistant｜>' + content + '<｜end▁of▁sentence｜>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<｜Assistant｜><think>\\n' }}{% endif %}"""

COMMAND_R = """\
{{ bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- set loop_messages = messages[1:] %}
    {{- '<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>' + messages[0]['content'] + '<|END_OF_TURN_TOKEN|>' }}
{%- else %}{% set loop_messages = messages %}{% endif %}
{%- for message in loop_messages %}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
    {%- endif %}
    {%- set token = 'USER' if message['role'] == 'user' else 'CHATBOT' %}
    {{- '<|START_OF_TURN_TOKEN|><|' ~ token ~ '_TOKEN|>' ~ message['content'].strip() ~ '<|END_OF_TURN_TOKEN|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' }}{% endif %}"""

GPT_OSS = """\
{%- macro system_message(effort) %}
    {{- 'You are ChatGPT.\\nCurrent date: ' + strftime_now('%Y-%m-%d') + '\\n\\nReasoning: ' + effort }}
{%- endmacro %}
{{- '<|start|>system<|message|>' }}
{{- system_message(reasoning_effort | default('medium')) }}
{{- '<|end|>' }}
{%- if messages[0].role in ['developer', 'system'] %}
    {{- '<|start|>developer<|message|># Instructions\\n\\n' + messages[0].content + '<|end|>' }}
    {%- set messages = messages[1:] %}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'assistant' %}
        {%- if '<|channel|>' in message.content %}{{ raise_exception('Pass the final channel only.') }}{% endif %}
        {{- '<|start|>assistant<|channel|>final<|message|>' + message.content + '<|end|>' }}
    {%- else %}{{- '<|start|>user<|message|>' + message.content + '<|end|>' }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|start|>assistant' }}{% endif %}"""

QWEN_3 = """\
{%- if tools %}{{- '<|im_start|>system\\n# Tools\\n' ~ (tools | tojson) ~ '<|im_end|>\\n' }}{% endif %}
{%- set ns = namespace(last=messages | length - 1, searching=true) %}
{%- for message in messages[::-1] %}
    {%- if ns.searching and message.role == 'user' %}
        {%- set ns.searching = false %}
        {%- set ns.last = messages | length - 1 - loop.index0 %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.role != 'assistant' %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- else %}
        {%- set content = message.content.split('</think>')[-1].lstrip('\\n') %}
        {%- if loop.index0 > ns.last %}{% set content = message.content %}{% endif %}
        {{- '<|im_start|>assistant\\n' + content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and not enable_thinking %}{{- '<think>\\n\\n</think>\\n\\n' }}{% endif %}
{%- endif %}"""

SMOLLM_3 = """\
{%- for message in messages %}
    {%- if message.role == 'assistant' %}
        {%- generation %}{{- '<|im_start|>assistant\\n' ~ message.content ~ '<|im_end|>\\n' }}{% endgeneration %}
    {%- else %}{{- '<|im_start|>%s\\n%s<|im_end|>\\n' | format(message.role, message.content) }}{% endif %}
{%- endfor %}
{{- '<|im_start|>{}\\n'.format('assistant') }}"""

FORGETFUL = """\
{%- for message in messages if message.role != 'system' %}
    {{- message.role.upper() + ': ' + message.content + '\\n' }}
{%- endfor %}
{{- 'ASSISTANT:' }}"""
"""Leaves out the system message without a word."""

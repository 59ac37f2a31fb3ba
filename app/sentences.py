"""The sentences for the codes that the other rooms report: what is wrong, and what to do about it.

Kept apart from `specchat.app.words`, which looks them up and translates them.
"""

from __future__ import annotations

from collections.abc import Mapping


def N_(text: str) -> str:
    """Mark `text` for the translators where it is translated later."""
    return text


SETTINGS: Mapping[str, str] = {
    "setting_whole_number": N_("{name} takes a whole number from {minimum} to {maximum}, not {value}."),
    "setting_whole_number_or_word": N_(
        "{name} takes a whole number from {minimum} to {maximum}, or {words}, not {value}."
    ),
    "setting_number": N_("{name} takes a number from {minimum} to {maximum}, not {value}."),
    "setting_choice": N_("{name} takes one of {choices}, not {value}."),
    "setting_switch": N_("{name} takes true or false, not {value}."),
    "setting_text": N_("{name} takes text, not {value}."),
    "setting_unknown": N_("{name} is no setting."),
    "setting_unknown_near": N_("{name} is no setting; did you mean {nearest}?"),
    "setting_not_section": N_("{name} must be a section, with its settings below it."),
    "settings_unreadable": N_("The settings file {path} can't be read: {reason}."),
    "settings_is_folder": N_("{path} is a folder, not a settings file."),
    "settings_not_utf8": N_("The settings file {path} isn't UTF-8 text (line {line})."),
    "settings_not_toml": N_("The settings file {path} isn't valid TOML: {reason}."),
    "settings_unchangeable": N_("{path} is laid out in a way that specchat can't change; change it in an editor."),
}

COMMAND_LINE: Mapping[str, str] = {
    "usage": N_("{reason}."),
    "command_unknown": N_("There is no command {command}; the commands are {commands}."),
    "models_unknown": N_("There is no `specchat models {word}`; there are {words}."),
    "option_unknown": N_("There is no option {option} here; `{help}` lists those there are."),
    "option_unknown_near": N_("There is no option {option} here; did you mean {nearest}?"),
    "option_needs_value": N_("{option} needs a value."),
    "option_takes_no_value": N_("{option} takes no value."),
    "option_empty": N_("{option} can't be empty."),
    "argument_extra": N_("{argument} is one argument too many; put a prompt of several words in quotes."),
    "argument_stray": N_("{argument} is one argument too many: `specchat {command}` takes options alone."),
    "path_not_utf8": N_("{option} can't take {path}, since its name isn't valid Unicode; rename it."),
    "input_unreadable": N_("Standard input can't be read: {reason}."),
    "output_unwritable": N_("Standard output can't be written: {reason}."),
    "prompt_empty": N_("The prompt is empty; type one after the command, or pipe it in."),
    "lab_without_page": N_("--json, --svg and a figure's sliders need --print with the figure's number."),
    "lab_not_of_page": N_("{option} is no slider of figure {page}; `specchat lab --help` says whose it is."),
    "lab_no_page": N_("There is no figure {page}; they are numbered from 1 to {pages}."),
    "bundled_missing": N_(
        'The bundled model isn\'t installed; add it with `pip install "specchat[bundled]"`, '
        "or name a model with --target."
    ),
}

FILES: Mapping[str, str] = {
    "file_missing": N_("There is no file {path}."),
    "file_is_folder": N_("{path} is a folder, not a GGUF file."),
    "file_unreadable": N_("{path} can't be read: {reason}."),
    "file_unwritable": N_("{path} can't be written: {reason}."),
    "file_empty": N_("{path} is empty; download it again."),
    "file_lfs_pointer": N_(
        "{path} only points to the model's file in Git LFS; `git lfs pull` fetches the model itself."
    ),
    "file_not_gguf": N_("{path} isn't a GGUF file; it looks like {looks_like}."),
    "file_big_endian": N_("{path} was made for machines of the other byte order; choose another file of this model."),
    "file_version": N_("{path} is a GGUF of version {version}, which specchat doesn't read; choose a newer file."),
    "file_version_newer": N_("{path} is a GGUF of version {version}, newer than this specchat reads; update specchat."),
    "file_truncated": N_("{path} is cut short: it has {have:,} of at least {need:,} bytes. Download it again."),
    "file_damaged": N_("{path} is damaged: {what}. Download it again."),
    "file_number_format": N_(
        "{path} stores {tensor} in number format {format}, which llama.cpp can't use; choose another quantisation."
    ),
    "file_architecture": N_(
        "{path} is a model of the architecture {architecture}, which this llama.cpp doesn't know; a newer specchat may."
    ),
    "file_architecture_unsaid": N_("{path} doesn't say what kind of model it is; choose another file of this model."),
    "file_tokenizer": N_(
        "{path} needs the tokenizer {tokenizer}, which this llama.cpp doesn't know; a newer specchat may."
    ),
    "file_part_name": N_("{path} is a part of a split model, so its name must end in {ending}; rename it back."),
    "file_wrong_part": N_("{path} isn't the first part of its model; choose {first}."),
    "file_part_missing": N_("{path} is a part of a split model, and {missing} is missing; download that too."),
    "model_vocab_only": N_("{path} holds a vocabulary and no weights; choose the model itself."),
    "model_is_encoder": N_("{path} makes embeddings and writes no text; choose a chat model."),
    "model_is_encoder_decoder": N_(
        "{path} is an encoder-decoder model, which specchat can't run; choose a chat model."
    ),
    "model_is_diffusion": N_("{path} is a diffusion model, which specchat can't run; choose a chat model."),
    "model_is_draft_head": N_("{path} is a head for another model and can't write alone; choose a whole model."),
    "model_is_speech": N_("{path} is a speech model; choose a chat model."),
    "model_is_projector": N_("{path} is the part of a model that sees or hears; choose the part that writes."),
    "model_is_adapter": N_("{path} is an adapter for another model; choose a whole model."),
    "model_is_imatrix": N_("{path} is a measurement made for quantising; choose the model itself."),
    "disk_full": N_("There is no room for {path}: it needs {need:,} bytes and {free:,} are free."),
    "folder_unreadable": N_("The folder {path} can't be read: {reason}."),
    "file_name_not_unicode": N_("{path} can't be used, since its name isn't valid Unicode; rename it."),
    "folder_gone": N_("The folder {path} isn't there any more."),
    "folder_too_big": N_("{path} holds too many folders; only {count:,} of them were looked into."),
    "download_unfinished": N_("{path} is still being downloaded, or its download was broken off."),
    "models_alike": N_("{count} models are called {name}; give the path of one of them."),
    "cache_unwritable": N_("What is known of model files can't be kept in {path}."),
    "last_target_gone": N_("The target of last time, {path}, isn't there any more."),
    "last_draft_gone": N_("The draft of last time, {path}, isn't there any more."),
    "standin_without_bundled": N_(
        "The demo makes its target of the bundled model, which isn't installed; add it with `pip install "
        '"specchat[bundled]"`.'
    ),
    "standin_unfit": N_("No stand-in can be made of {path}: {what}."),
    "standin_busy": N_("Another specchat is making the stand-in right now; try again when it is done."),
    "standin_failed": N_("The stand-in can't be made: {reason}."),
}

LOADING: Mapping[str, str] = {
    "load_failed": N_("{path} can't be loaded: {reason}"),
    "context_failed": N_("{path} gets no context, perhaps for lack of memory: {reason}. A smaller --ctx may help."),
    "no_vocabulary": N_("{path} has no vocabulary, so it can't read or write text; choose another file."),
    "no_such_gpu": N_("There is no GPU {gpu}: llama.cpp sees {count} here, counted from 0."),
    "cache_needs_flash_attention": N_("A {cache_type} value cache needs flash attention, so don't turn that off."),
    "fewer_layers": N_("{path} didn't fit on the GPU with {asked} layers; {used} are there, the rest is on the CPU."),
    "ctx_capped": N_("{path} was trained for {trained} tokens of context, so it gets {used} and not {asked}."),
    "no_rollback": N_("{path} can't take back tokens it has read, so no draft can guess for it."),
    "draft_no_rollback": N_("{path} can't take back tokens it has read, so it can't be a draft."),
    "draft_ctx_smaller": N_("The draft {path} has a context of {used} tokens, and no guesses beyond it."),
    "draft_failed": N_("llama.cpp can't evaluate the draft {path}."),
    "draft_left_out": N_("Replies are written without the draft {path}."),
    "no_gpu": N_("No GPU is used: everything runs on the CPU. `specchat doctor` says whether one could be."),
    "not_loaded": N_("No model is loaded."),
    "position_unknown": N_(
        "Of token {position} nothing is known any more; only the last reply's latest can be looked at."
    ),
    "cancelled": N_("The loading was cancelled."),
}

PAIRING: Mapping[str, str] = {
    "pair_kind_differs": N_(
        "The draft's tokenizer is of another kind than the target's ({draft_kind}, {target_kind})."
    ),
    "pair_differs": N_(
        "The draft's tokens aren't the target's: the first that differs, {id}, is “{target_text}” for the target and "
        "“{draft_text}” for the draft (tokens that differ: {count})."
    ),
    "pair_control_differs": N_(
        "Control tokens differ: the first, {id}, is “{target_text}” for the target and “{draft_text}” for the draft "
        "(tokens that differ: {count})."
    ),
    "pair_attribute_differs": N_(
        "Token {id}, “{text}”, is {target_kind} for the target and {draft_kind} for the draft "
        "(tokens that differ: {count})."
    ),
    "pair_special_differs": N_("The {name} token is {target_id} for the target and {draft_id} for the draft."),
    "pair_adds_differs": N_("Only one of the two tokenizers adds {name} by itself."),
    "pair_size_differs": N_("The target has {target_size} tokens and the draft {draft_size}."),
}

PROMPTS: Mapping[str, str] = {
    "no_template": N_("{path} has no chat template; choose a model made for chat, or use `specchat ask --raw`."),
    "template_bent_merged": N_("The chat template refuses two messages in a row from one side; they were joined."),
    "template_bent_system_folded": N_("The chat template refuses a system text; it was put before the first message."),
    "template_bent_chatml": N_(
        "The chat template refuses this conversation; plain ChatML was used, which may do worse."
    ),
    "template_syntax": N_("The chat template of {path} isn't valid (line {line}): {reason}"),
    "template_failed": N_("The chat template of {path} fails: {reason}"),
    "template_slow": N_(
        "The chat template of {path} was stopped after {seconds} seconds; choose another model, or use "
        "`specchat ask --raw`."
    ),
    "template_large": N_(
        "The chat template of {path} is or writes far too much; choose another model, or use `specchat ask --raw`."
    ),
    "prompt_too_long": N_("The prompt takes {tokens} tokens, with room for {room}; shorten it or raise --ctx."),
    "prompt_beyond_model": N_("The prompt takes {tokens} tokens, and {path} was trained for {room}; shorten it."),
    "reply_cut_length": N_("The reply was cut at {tokens} tokens; --max-tokens allows more."),
    "reply_cut_context": N_("The reply was cut where its context of {ctx} tokens is full; a larger --ctx may help."),
    "context_full": N_("The context is full; raise --ctx or start a new conversation."),
    "decode_failed": N_("llama.cpp can't evaluate the text (status {status}): {reason}"),
    "bad_logits": N_("{path} gives numbers that make no sense; its file may be damaged, so download it again."),
}

ENGINE: Mapping[str, str] = {
    "engine_start": N_("The engine can't be started: {error}"),
    "engine_aborted": N_("The engine gave up over something it can't handle in a model."),
    "engine_crashed": N_("The engine crashed."),
    "engine_out_of_memory": N_("The engine ran out of memory; choose a smaller model or a smaller --ctx."),
    "engine_illegal_instruction": N_(
        "The engine uses an instruction that this CPU doesn't have; install llama-cpp-python anew on this machine."
    ),
    "engine_killed": N_("The engine was ended from outside ({exit}), perhaps because memory ran out."),
    "engine_ended": N_("The engine ended by itself ({exit})."),
    "engine_stuck": N_("The engine hangs in a driver and can't be ended; restarting the machine helps."),
    "engine_silent": N_("The engine said nothing for {seconds} seconds, so it was ended."),
    "engine_garbled": N_("The engine said something unintelligible, so it was ended: {line}"),
    "engine_closed": N_("The engine was closed before it had answered."),
    "log_unwritable": N_("The engine's log {path} can't be written: {error}"),
    "not_unicode": N_("Text with half a character can't be sent to the engine: {text}"),
    "protocol": N_("The engine was sent something it doesn't understand, which is a mistake in specchat: {error}"),
    "protocol_version": N_(
        "The engine speaks protocol {engine} and specchat {app}; install specchat anew, so that they fit."
    ),
    "internal": N_("Something went wrong inside the engine, which is a mistake in specchat: {error}"),
}

CHATS: Mapping[str, str] = {
    "store_damaged": N_(
        "The chats in {path} are damaged, so none is saved there; move that file away, and the next start makes a "
        "new one."
    ),
    "store_newer": N_("The chats in {path} are a newer specchat's, so none is saved there; update specchat."),
    "store_unwritable": N_("Chats can't be kept in {path}: {reason}. What isn't saved is lost when specchat ends."),
    "chat_missing": N_("This chat isn't there any more."),
    "engine_died_twice": N_(
        "The engine died twice over {path}, so it isn't started with it again unasked; another model or a smaller "
        "--ctx may help."
    ),
}

BENCH: Mapping[str, str] = {
    "prompts_unreadable": N_("The prompts in {path} can't be read: {reason}."),
    "prompts_not_utf8": N_("The prompts in {path} aren't UTF-8 text."),
    "prompts_not_toml": N_("{path} isn't valid TOML: {reason}."),
    "prompts_stray": N_("{path} may hold tables [[prompt]] only, but has {key} beside them."),
    "prompts_form": N_("Prompt {number} in {path} must have a kind and a text, and nothing else."),
    "prompts_kind_twice": N_('The kind "{kind}" comes twice in {path}; give each prompt one of its own.'),
    "prompts_none": N_("{path} holds no prompt."),
    "bench_draft_none": N_("--draft none has nothing to measure: plain replies are written anyway."),
    "bench_one_form": N_("Only one of --json, --csv and --markdown can be had at a time."),
    "history_one_form": N_("Only one of --json and --csv can be had at a time."),
    "bench_plot_ending": N_("--plot can't draw {path}: its name must end in one of {endings}."),
    "bench_output_folder": N_("{path} is a folder, so nothing can be written there."),
    "bench_output_denied": N_("{path} can't be written: permission denied."),
    "bench_no_folder": N_("{path} can't be written, since there is no folder {folder}."),
}

SENTENCES: Mapping[str, str] = {
    **SETTINGS,
    **COMMAND_LINE,
    **FILES,
    **LOADING,
    **PAIRING,
    **PROMPTS,
    **ENGINE,
    **CHATS,
    **BENCH,
}

_UNSAID = N_("no reason was given")

PHRASES: Mapping[tuple[str, str], str] = {
    ("file_not_gguf", "web_page"): N_("a web page, perhaps one that asks to sign in"),
    ("file_not_gguf", "archive"): N_("an archive, or a PyTorch file"),
    ("file_not_gguf", "safetensors"): N_("a safetensors file, which would have to be converted"),
    ("file_not_gguf", "old_ggml"): N_("a model in the format before GGUF, which would have to be converted"),
    ("file_not_gguf", "zeros"): N_("a download that was never filled"),
    ("file_not_gguf", "text"): N_("plain text"),
    ("file_not_gguf", "data"): N_("data of another kind"),
    ("file_damaged", "header"): N_("its header makes no sense"),
    ("file_damaged", "tensors"): N_("its list of tensors makes no sense"),
    ("file_damaged", "layers"): N_("its number of layers is impossible"),
    ("file_damaged", "numbers"): N_("its numbers don't fit together"),
    ("file_damaged", "vocabulary"): N_("a token comes twice in its vocabulary"),
    ("file_damaged", "vocabulary_size"): N_("its vocabulary and its weights are of different sizes"),
    ("file_damaged", "merges"): N_("its tokenizer lacks the list of merges"),
    ("standin_unfit", "parts"): N_("it is split over several files"),
    ("standin_unfit", "blocks"): N_("it lacks a layer that is to be kept"),
    ("standin_unfit", "layers"): N_("its layers are of a kind that can't be widened"),
    ("standin_unfit", "width"): N_("its width doesn't suit the number format"),
    ("load_failed", ""): _UNSAID,
    ("context_failed", ""): _UNSAID,
    ("decode_failed", ""): _UNSAID,
}
"""Values of parameters that are codes themselves, by the sentence's code and the value."""

REASONS = frozenset(
    {
        N_("No such file or directory"),
        N_("Permission denied"),
        N_("Operation not permitted"),
        N_("No space left on device"),
        N_("Disk quota exceeded"),
        N_("File too large"),
        N_("Read-only file system"),
        N_("Is a directory"),
        N_("Not a directory"),
        N_("File name too long"),
        N_("Too many levels of symbolic links"),
        N_("Too many open files"),
        N_("Input/output error"),
        N_("Device or resource busy"),
        N_("Stale file handle"),
        N_("Cannot allocate memory"),
    }
)
"""What Linux and macOS commonly say of a file, always in English; Windows says it in its own language."""

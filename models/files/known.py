"""What the llama.cpp that specchat pins knows by name. Anything else it refuses to load."""

from __future__ import annotations

_ARCHITECTURES = """
    clip llama llama4 deci falcon grok gpt2 gptj gptneox mpt baichuan starcoder refact bert modern-bert
    nomic-bert nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 eurobert bloom stablelm qwen qwen2 qwen2moe
    qwen2vl qwen3 qwen3moe qwen3next qwen3vl qwen3vlmoe qwen35 qwen35moe qwen4exp phi2 phi3 phimoe plamo plamo2
    plamo3 codeshell orion internlm2 minicpm minicpm3 gemma gemma2 gemma3 gemma3n gemma4 gemma4-assistant
    gemma-embedding starcoder2 mamba mamba2 maple jamba falcon-h1 xverse command-r cohere2 cohere2moe dbrx olmo
    olmo2 olmoe muse-glimmer openelm arctic deepseek deepseek2 deepseek2-ocr deepseek32 deepseek4 chatglm glm4
    glm4moe glm-dsa bitnet t5 t5encoder jais jais2 nemotron nemotron_h nemotron_h_moe exaone exaone4 exaone-moe
    rwkv6 rwkv6qwen2 rwkv7 arwkv7 granite granitemoe granitehybrid graniteswitch granite_swa chameleon
    wavtokenizer-dec plm bailingmoe bailingmoe2 bailingmoe3 dots1 dots3note arcee afmoe laguna ernie4_5
    ernie4_5-moe hunyuan-moe hunyuan-dense hunyuan_vl hy_v3 hy_v4 smollm3 gpt-oss lfm2 lfm2moe dream
    smallthinker llada llada-moe seed_oss grovemoe apertus minimax-01 hrm_text minimax-m2 minimax-m3 cogvlm rnd1
    pangu-embedded mistral3 eagle3 dflash mistral4 paddleocr mimo2 step35 spark2_5 llama-embed maincoder
    kimi-linear kimi-k3 glm5-next talkie mellum nanbeige qwen3tts pockettts
"""
ARCHITECTURES = frozenset(_ARCHITECTURES.split())
"""`LLM_ARCH_NAMES` in llama-arch.cpp."""

RECURRENT = frozenset({"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"})
"""Models whose memory is a state and no cache: what they have read can't be taken back."""
_HYBRID = """
    jamba falcon-h1 plamo2 granitehybrid lfm2 lfm2moe nemotron_h nemotron_h_moe qwen3next kimi-linear
    bailingmoe3 kimi-k3 glm5-next qwen35 qwen35moe qwen4exp deepseek4 minimax-01
"""
HYBRID = frozenset(_HYBRID.split())
"""Models some of whose layers are recurrent."""

TOKENIZERS = {
    "llama": "SPM",
    "gpt2": "BPE",
    "hybriddna": "BPE",
    "whitespace": "BPE",
    "gemma4": "BPE",
    "bert": "WPM",
    "t5": "UGM",
    "rwkv": "RWKV",
    "plamo2": "PLAMO2",
}
"""Tokenizers by their GGUF name, and their kind as `Vocabulary.kind` has it (`llama_vocab::impl::load`)."""

_PRE_TOKENIZERS = """
    default minicpm5 llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano deepseek-llm
    deepseek-coder deepseek-v3 spark2_5 youtu falcon mpt starcoder gpt-2 phi-2 jina-es jina-de gigachat
    jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert jais-2 gemma4 granite-embed-multi-311m sarvam-moe
    jina-v1-en jina-v2-code roberta-bpe whitespace refact command-r qwen2 deepseek-r1-qwen kormo f2llmv2 qwen35
    stablelm2 olmo dbrx smaug-bpe poro-chat chatglm-bpe glm4 glm5 viking jais tekken smollm codeshell bloom
    gpt3-finnish exaone exaone4 exaone-moe chameleon minerva-7b megrez gpt-4o llama4 kanana2 talkie
    granite-embed-multi-97m tiny_aya cohere2moe superbpe trillion granite-docling bailingmoe bailingmoe2
    llada-moe seed-coder hunyuan hunyuan-dense hy_v4 joyai-llm kimi-k2 ufakzeka grok-2 afmoe laguna minimax-m2
    solar-open mellum2
"""
PRE_TOKENIZERS = frozenset(_PRE_TOKENIZERS.split())
"""Ways to cut a text into words before BPE; "default" and an empty name are the same."""

_EQUAL_HEADS = """
    llama llama4 maincoder deci baichuan falcon grok starcoder refact bloom mpt stablelm mellum nanbeige qwen
    qwen2 qwen2vl qwen2moe qwen3 qwen3moe qwen3vl qwen3vlmoe phi2 phi3 plamo gpt2 codeshell orion internlm2
    starcoder2 xverse command-r cohere2 cohere2moe dbrx olmo olmo2 olmoe muse-glimmer openelm gptneox arctic
    deepseek chatglm glm4 glm4moe bitnet jais jais2 nemotron nemotron_h nemotron_h_moe exaone granite
    graniteswitch granitehybrid granite_swa chameleon bailingmoe2 seed_oss dots1 arcee afmoe laguna ernie4_5
    ernie4_5-moe paddleocr hunyuan-moe hunyuan_vl hy_v3 smollm3 smallthinker grovemoe apertus minimax-01
    minimax-m2 minimax-m3 cogvlm pangu-embedded qwen3next qwen35 qwen35moe qwen4exp mistral3 spark2_5
"""
EQUAL_HEADS = frozenset(_EQUAL_HEADS.split())
"""Chat models whose heads must have keys and values of one length: their graphs assert it."""

_WHOLE_ROPE = """
    llama llama4 maincoder talkie deci baichuan falcon grok mellum qwen2 qwen2vl qwen2moe qwen3 qwen3moe qwen3vl
    qwen3vlmoe plamo codeshell orion internlm2 starcoder2 xverse cohere2moe dbrx olmo olmo2 olmoe arctic
    deepseek jais2 exaone exaone4 exaone-moe granite graniteswitch granite_swa chameleon seed_oss dots1
    arcee ernie4_5 ernie4_5-moe paddleocr hunyuan-moe hunyuan_vl hy_v3 smollm3 smallthinker grovemoe apertus
    cogvlm pangu-embedded mistral3
"""
WHOLE_ROPE = frozenset(_WHOLE_ROPE.split())
"""Chat models whose rotary positions must turn whole heads: their graphs assert it, too."""

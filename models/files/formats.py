"""ggml's number formats: what they are called and how many bytes a tensor's weights take."""

from __future__ import annotations

from typing import NamedTuple


class Format(NamedTuple):
    """A number format: weights come in blocks of `weights` numbers and `size` bytes."""

    name: str
    weights: int
    size: int


FORMATS: dict[int, Format] = {
    0: Format("F32", 1, 4),
    1: Format("F16", 1, 2),
    2: Format("Q4_0", 32, 18),
    3: Format("Q4_1", 32, 20),
    6: Format("Q5_0", 32, 22),
    7: Format("Q5_1", 32, 24),
    8: Format("Q8_0", 32, 34),
    9: Format("Q8_1", 32, 40),
    10: Format("Q2_K", 256, 84),
    11: Format("Q3_K", 256, 110),
    12: Format("Q4_K", 256, 144),
    13: Format("Q5_K", 256, 176),
    14: Format("Q6_K", 256, 210),
    15: Format("Q8_K", 256, 292),
    16: Format("IQ2_XXS", 256, 66),
    17: Format("IQ2_XS", 256, 74),
    18: Format("IQ3_XXS", 256, 98),
    19: Format("IQ1_S", 256, 50),
    20: Format("IQ4_NL", 32, 18),
    21: Format("IQ3_S", 256, 110),
    22: Format("IQ2_S", 256, 82),
    23: Format("IQ4_XS", 256, 136),
    24: Format("I8", 1, 1),
    25: Format("I16", 1, 2),
    26: Format("I32", 1, 4),
    27: Format("I64", 1, 8),
    28: Format("F64", 1, 8),
    29: Format("IQ1_M", 256, 56),
    30: Format("BF16", 1, 2),
    34: Format("TQ1_0", 256, 54),
    35: Format("TQ2_0", 256, 66),
    39: Format("MXFP4", 32, 17),
    40: Format("NVFP4", 64, 36),
    41: Format("Q1_0", 128, 18),
    42: Format("Q2_0", 64, 18),
}
"""ggml's formats by its number for them: those of the llama.cpp that specchat pins.
They stand here because importing gguf, which has them too, takes longer than checking a file."""

_MIXES = """
    0:F32 1:F16 2:Q4_0 3:Q4_1 7:Q8_0 8:Q5_0 9:Q5_1 10:Q2_K 11:Q3_K_S 12:Q3_K_M 13:Q3_K_L 14:Q4_K_S 15:Q4_K_M 16:Q5_K_S
    17:Q5_K_M 18:Q6_K 19:IQ2_XXS 20:IQ2_XS 21:Q2_K_S 22:IQ3_XS 23:IQ3_XXS 24:IQ1_S 25:IQ4_NL 26:IQ3_S 27:IQ3_M 28:IQ2_S
    29:IQ2_M 30:IQ4_XS 31:IQ1_M 32:BF16 36:TQ1_0 37:TQ2_0 38:MXFP4 39:NVFP4 40:Q1_0 41:Q2_0
"""
MIXES = {int(number): name for number, name in (mix.split(":") for mix in _MIXES.split())}
"""Quantisations of whole models, which mix formats, by llama.cpp's number (`enum llama_ftype` in llama.h)."""

"""BERT's WordPiece tokenizer (uncased), as vocab.txt and tokenizer_config.json describe it."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np

MAX_WORD_CHARACTERS = 100

# Code blocks whose characters are words of their own, as BERT's tokenizer defines "Chinese character".
IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def is_punctuation(character: str) -> bool:
    """Unicode punctuation, and every ASCII sign that is neither letter, digit nor space."""
    if 33 <= ord(character) < 127 and not character.isalnum():
        return True
    return unicodedata.category(character).startswith("P")


def is_ideograph(character: str) -> bool:
    """Whether a character stands alone as a word."""
    return any(low <= ord(character) <= high for low, high in IDEOGRAPHS)


def clean(text: str) -> str:
    """Control characters dropped, every kind of white space made a space, ideographs spaced out."""
    out = []
    for character in text:
        category = unicodedata.category(character)
        if character in "\t\n\r" or category == "Zs":
            out.append(" ")
        elif character in "\0\ufffd" or category.startswith("C"):
            continue
        else:
            out.append(f" {character} " if is_ideograph(character) else character)
    return "".join(out)


def split_words(text: str) -> list[str]:
    """Lower-case words without accents; each punctuation sign a word.

    Lower case is made a character at a time: Python's own would look at neighbours (a Greek final sigma).
    """
    words = []
    for chunk in "".join(map(str.lower, clean(text))).split():
        bare = (c for c in unicodedata.normalize("NFD", chunk) if unicodedata.category(c) != "Mn")
        word = ""
        for character in bare:
            if is_punctuation(character):
                words += [word, character]
                word = ""
            else:
                word += character
        words.append(word)
    return [word for word in words if word]


class WordPiece:
    """Turns text into ids."""

    def __init__(self, vocab: Path) -> None:
        pieces = vocab.read_text(encoding="utf-8").split("\n")
        self.ids = {piece: i for i, piece in enumerate(pieces) if piece}

    def _pieces(self, word: str) -> list[int]:
        """Longest match first; one [UNK] when some part of the word is not in the vocabulary."""
        if len(word) > MAX_WORD_CHARACTERS:
            return [self.ids["[UNK]"]]
        pieces, start = [], 0
        while start < len(word):
            prefix = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((e for e in ends if prefix + word[start:e] in self.ids), None)
            if end is None:
                return [self.ids["[UNK]"]]
            pieces.append(self.ids[prefix + word[start:end]])
            start = end
        return pieces

    def encode(self, text: str, max_length: int = 256) -> list[int]:
        """[CLS] pieces [SEP], cut to `max_length` ids."""
        pieces = [i for word in split_words(text) for i in self._pieces(word)]
        return [self.ids["[CLS]"], *pieces[: max_length - 2], self.ids["[SEP]"]]

    def batch(self, texts: list[str]) -> dict[str, np.ndarray]:
        """The three int64 inputs of a BERT model, padded to the longest text."""
        rows = [self.encode(text) for text in texts]
        shape = (len(rows), max(map(len, rows)))
        ids = np.full(shape, self.ids["[PAD]"], np.int64)
        mask = np.zeros(shape, np.int64)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
            mask[i, : len(row)] = 1
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(shape, np.int64)}

"""Diagnostics and exceptions."""

from __future__ import annotations

import operator
from dataclasses import dataclass


@dataclass(frozen=True)
class Diagnostic:
    """An error, a warning or a remark of the compiler, or a line that a kernel printed on an emulator."""

    severity: str  #: "error", "warning", "remark" or "note"
    message: str
    file: str = ""  #: "" if unknown; with Triton's text the Python file
    line: int = 0  #: from 1; 0 if unknown
    column: int = 0
    text: str = ""  #: as the program `tessera` prints it: place, message, the line with a caret, notes
    version: str = ""  #: of a remark: the version of the kernel's body that it is about, if there are several

    def __str__(self) -> str:
        return self.text.rstrip("\n") or self.message


class Error(RuntimeError):
    """A call of the library that failed. The message is the text of all errors, with their places.

    Attributes:
        message: the first error in one sentence.
        diagnostics: everything that was reported during the call, a tuple of `Diagnostic`.
    """

    def __init__(self, text: str, message: str = "", diagnostics: tuple[Diagnostic, ...] = ()):
        super().__init__(text)
        self.message = message or text
        self.diagnostics = tuple(diagnostics)

    @property
    def place(self) -> str:
        """`file:line` of the first error that has one, else ""."""
        for d in self.diagnostics:
            if d.severity == "error" and d.line:
                return f"{d.file}:{d.line}"
        return ""


class InputError(Error, ValueError):
    """The kernel's text is wrong, or the target cannot run it."""


class UsageError(Error, ValueError):
    """An argument or an option is wrong."""


class FailedError(Error):
    """A tool, library, driver or device is missing or failed, or the kernel failed while it ran: a race, an access out
    of bounds, a deadlock, an assertion."""


def encoded(what: str, value: object) -> bytes:
    """A name for the library, which ends names at a NUL.

    Raises:
        UsageError: it is no text, or not one of Unicode's characters other than NUL.
    """
    data = encoded_text(what, value)
    if b"\0" in data:
        raise UsageError(f"{what} has a NUL character")
    return data


def encoded_text(what: str, value: object) -> bytes:
    """A text for the library, which is passed with its length.

    Raises:
        UsageError: it is no text, or has surrogates.
    """
    if not isinstance(value, str):
        raise UsageError(f"{what} must be a str, not {type(value).__name__}")
    try:
        return value.encode()
    except UnicodeEncodeError as e:
        raise UsageError(f"{what} is no text of Unicode: {e.reason} at character {e.start}") from None


def integer(what: str, value: object, low: int | None = None, high: int | None = None) -> int:
    """A number for the library, of an integer type.

    Raises:
        UsageError: it is none, or not from low to high, where these are given.
    """
    try:
        n = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise UsageError(f"{what} must be an integer, not {type(value).__name__}") from None
    if (low is not None and n < low) or (high is not None and n > high):
        raise UsageError(f"{what} must be from {low} to {high}, not {n}")
    return n

"""Fields of forms that hold numbers, read as inputs.py reads all numbers from outside."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from wtforms import IntegerField, StringField
from wtforms.validators import Optional

from ridedash.inputs import whole_number


class NumberField(IntegerField):  # type: ignore[misc] # WTForms ships no types
    """A whole number."""

    def process_formdata(self, valuelist: Sequence[Any]) -> None:
        typed = str(valuelist[0]) if valuelist else ""
        self.data = whole_number(typed)
        if typed.strip() and self.data is None:
            raise ValueError(self.gettext("Not a valid integer value."))


class CountField(NumberField):
    """How many people or things; None for an empty field. The message names both bounds."""

    def __init__(self, label: Any, least: int, most: int, message: Any, **kwargs: Any) -> None:
        super().__init__(label, validators=[Optional()], **kwargs)
        self.least = least
        self.most = most
        self.message = message

    def process_formdata(self, valuelist: Sequence[Any]) -> None:
        typed = str(valuelist[0]).strip() if valuelist else ""
        self.data = whole_number(typed, self.least, self.most)
        if typed and self.data is None:
            raise ValueError(self.message % {"least": self.least, "most": self.most})


class CoordinateField(StringField):  # type: ignore[misc] # WTForms ships no types
    """A latitude or a longitude in degrees. `degrees` is None for a text that is not a number."""

    degrees: float | None = None

    def process_formdata(self, valuelist: Sequence[Any]) -> None:
        self.data = str(valuelist[0]).strip()[:40] if valuelist else ""
        self.degrees = None
        if "_" not in self.data:
            with suppress(ValueError):  # also of an empty text
                self.degrees = float(self.data)

"""The sentences that a property may say in its own words (docs/languages.md 8). Pure.

They greet, explain, thank, and say whom to ask, who pays, and how many people fit into a car.
States of a ride, refusals and safety texts are not among them, because they mean the same in every
property.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from ridedash.wording.say import Text
from ridedash.wording.say import lazy as _

LONGEST: Final = 200  # characters of any sentence
_SLOT: Final = re.compile(r"\{(\w+)\}")
_NAME: Final = re.compile(r"%\((\w+)\)s")
_SIGN: Final = re.compile(r"[\[\]{}%]")


class Where(StrEnum):
    """Where guests read a sentence."""

    PAGE = "page"  # the page behind a guest's link, and the message with the link
    PAPER = "paper"  # the card and the receipt
    PAYMENT = "payment"
    HELP = "help"
    KIOSK = "kiosk"


@dataclass(frozen=True)
class Sentence:
    """A sentence of the list: its name in the database, and our English text.

    A sentence without an English text ("") is shown only if the property has written one; `about`
    then says what it is for.
    """

    name: str
    where: Where
    text: str
    about: Text = ""
    longest: int = LONGEST  # characters; fewer where there is little room

    @property
    def key(self) -> str:
        """The key by which the code asks for a sentence: the English text, else the name."""
        return self.text or self.name

    @property
    def english(self) -> str:
        """The English text with its facts as `{slots}`, as people write and read it."""
        return _NAME.sub(r"{\1}", self.text)

    @property
    def slots(self) -> tuple[str, ...]:
        """The facts that own words for it must contain, in the order of the English text."""
        return tuple(dict.fromkeys(_SLOT.findall(self.english)))


_ROWS: Final = (
    Sentence("greeting", Where.PAGE, "", _("A greeting, at the top of the page")),
    Sentence("meet_pickup", Where.PAGE, "Meet at {pickup}"),
    Sentence("thank_you", Where.PAGE, "Thank you for riding"),
    Sentence("message_meet", Where.PAGE, "Meet the car at {text}"),
    Sentence("message_link", Where.PAGE, "Your ride: {text}"),
    Sentence("card_meet", Where.PAPER, "Meet at", longest=24),
    Sentence("card_soon", Where.PAPER, "Your car is named soon.", longest=60),
    Sentence("card_follow", Where.PAPER, "Follow your ride on your phone", longest=60),
    Sentence("card_only", Where.PAPER, "For you only.", longest=60),
    Sentence("card_desk", Where.PAPER, "Desk: %(phone)s", longest=60),
    Sentence("card_foot", Where.PAPER, "", _("A line at the foot of the guest card"), 80),
    Sentence("receipt_foot", Where.PAPER, "", _("A line at the foot of the receipt")),
    Sentence("pay_cash", Where.PAYMENT, "Pay the driver {amount} in cash."),
    Sentence("pay_meter", Where.PAYMENT, "Pay the driver what the meter shows."),
    Sentence(
        "pay_house",
        Where.PAYMENT,
        "Paid from our ride wallet, not to the driver. If the driver asks for money, call our "
        "desk first.",
    ),
    Sentence("pay_ask", Where.PAYMENT, "Ask our desk how this ride is paid."),
    Sentence("pay_start", Where.PAYMENT, "You pay the driver in cash."),
    Sentence("ask_staff", Where.HELP, "Please ask our staff"),
    Sentence("ask_desk", Where.HELP, "Please ask at the desk"),
    Sentence("ask_or_try", Where.HELP, "Please try again or ask at the desk"),
    Sentence("ask_payment", Where.HELP, "Please ask our staff about payment"),
    Sentence("call_desk", Where.HELP, "Call the desk"),
    Sentence("kiosk_lead", Where.KIOSK, "A car to your door, without a phone.", longest=80),
    Sentence("kiosk_ask", Where.KIOSK, "Ask our staff", longest=24),
    Sentence("kiosk_desk", Where.KIOSK, "Our desk: {phone}", longest=80),
    Sentence("kiosk_name", Where.KIOSK, "Our staff use it to find you.", longest=80),
    Sentence("kiosk_coming", Where.KIOSK, "Somebody is coming to you.", longest=80),
    Sentence("kiosk_desk_helps", Where.KIOSK, "Our desk can help.", longest=80),
    # the service does not send numbers of seats: only the property knows how many people fit in
    Sentence("kiosk_size_auto", Where.KIOSK, "", _("Who fits into an auto: “Up to 3”"), 24),
    Sentence("kiosk_size_bike", Where.KIOSK, "", _("Who fits onto a bike: “1, no bags”"), 24),
    Sentence("kiosk_size_hatch", Where.KIOSK, "", _("Who fits into a small car"), 24),
    Sentence("kiosk_size_sedan", Where.KIOSK, "", _("Who fits into a sedan"), 24),
    Sentence("kiosk_size_lux", Where.KIOSK, "", _("Who fits into a premium car"), 24),
    Sentence("kiosk_size_suv", Where.KIOSK, "", _("Who fits into an SUV or a van"), 24),
)
SENTENCES: Final[dict[str, Sentence]] = {row.name: row for row in _ROWS}


class SentenceFault(StrEnum):
    """Why a sentence can't be used."""

    LONG = "long"
    MISSING = "missing"  # a fact of our sentence is missing
    UNKNOWN = "unknown"  # the own words have a slot for a fact that our sentence lacks
    SIGN = "sign"  # a bracket, brace or percent sign, which has a meaning in the program


class Wrong(NamedTuple):
    """A fault; `what` is the slot or sign that is wrong, "" for a text that is too long."""

    fault: SentenceFault
    what: str = ""


class Written(Protocol):
    """Own words of a property, as ridedash/store/wordings.py stores them."""

    language: str
    name: str  # the name of a Sentence
    text: str  # the property's own words
    english: str  # our English text when they were written


def wrong_with(sentence: Sentence, text: str) -> Wrong | None:
    """What is wrong with own words for a sentence; None for nothing.

    >>> wrong_with(SENTENCES["meet_pickup"], "Meet us at {pickup}, please")
    >>> wrong_with(SENTENCES["meet_pickup"], "Meet us outside")
    Wrong(fault=<SentenceFault.MISSING: 'missing'>, what='{pickup}')
    """
    if len(text) > sentence.longest:
        return Wrong(SentenceFault.LONG)
    used = _SLOT.findall(text)
    for name in used:
        if name not in sentence.slots:
            return Wrong(SentenceFault.UNKNOWN, f"{{{name}}}")
    for name in sentence.slots:
        if name not in used:
            return Wrong(SentenceFault.MISSING, f"{{{name}}}")
    sign = _SIGN.search(_SLOT.sub("", text))
    if not sign:
        return None
    return Wrong(SentenceFault.SIGN, sign[0])


def texts_of(written: Iterable[Written]) -> dict[str, dict[str, str]]:
    """The usable own words, by language and by Sentence.key, in the form of translations.

    Words for a sentence that is no longer in the list, or whose facts have changed, are not used.
    """
    found: dict[str, dict[str, str]] = {}
    for each in written:
        sentence = SENTENCES.get(each.name)
        if sentence is not None and wrong_with(sentence, each.text) is None:
            found.setdefault(each.language, {})[sentence.key] = as_translation(sentence, each.text)
    return found


def as_translation(sentence: Sentence, text: str) -> str:
    """Own words with slots in the notation of our text, which may be "%(phone)s" for "{phone}"."""
    for name in _NAME.findall(sentence.text):
        text = text.replace(f"{{{name}}}", f"%({name})s")
    return text


def filled(text: str, facts: Mapping[str, str]) -> str:
    """A sentence with its facts, for a preview; the slot of an unknown fact stays."""
    return _SLOT.sub(lambda match: facts.get(match[1]) or match[0], text)


def is_stale(each: Written) -> bool:
    """Whether our English text has changed since the own words were written."""
    sentence = SENTENCES.get(each.name)
    return sentence is not None and bool(sentence.text) and sentence.english != each.english

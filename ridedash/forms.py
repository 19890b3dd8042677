"""Forms of the pages: a trip that somebody asks for, and a booking of one of its products."""

import secrets
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any, Final
from zoneinfo import ZoneInfo

import phonenumbers
from flask_babel import lazy_gettext as _
from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    Field,
    Form,
    HiddenField,
    IntegerField,
    RadioField,
    SelectField,
    StringField,
    TextAreaField,
)
from wtforms.fields.choices import SelectChoice
from wtforms.validators import InputRequired, Length, NumberRange, Optional, Regexp, ValidationError

from ridedash import wire
from ridedash.geo import LatLng, is_valid
from ridedash.places import parse_coordinates, plain
from ridedash.rides.orders.schedule_times import LATEST, SOONEST, NoSuchTime, local_time

MAX_NAME: Final = 120
# two letters: whose numbers can be read without a code
COUNTRIES: Final = frozenset(phonenumbers.SUPPORTED_REGIONS)
MAX_NOTE: Final = 500
MAX_ID: Final = 2**53
UTC_ZONE: Final = ZoneInfo("UTC")
MOST_CARS: Final = 6
LANGUAGES: Final = (  # for the guest's own page, each by its own name
    ("en", "English"),
    ("hi", "हिन्दी"),
    ("ar", "العربية"),
    ("bn", "বাংলা"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fr", "Français"),
    ("ja", "日本語"),
    ("ru", "Русский"),
    ("ta", "தமிழ்"),
    ("te", "తెలుగు"),
    ("zh", "中文"),
)


class PhoneError(ValueError):
    """A phone number that can't be understood; the message says what to do."""


def read_phone(text: str, country: str | None) -> str | None:
    """A phone number in any notation as E.164; None for nothing. `country` (two letters) is for
    numbers without a code.

    >>> read_phone("(0)22 2778 3300", "IN")
    '+912227783300'
    """
    typed = text.strip()
    if not typed:
        return None
    if country is None and typed.startswith("00"):
        typed = "+" + typed[2:]
    try:
        number = phonenumbers.parse(typed, country)
    except phonenumbers.NumberParseException as error:
        raise PhoneError(
            _("Type the phone number with its country code, such as +91 22 2778 3300.")
        ) from error
    if not phonenumbers.is_valid_number(number):
        raise PhoneError(
            _(
                "No phone has this number. Check the digits; a number from abroad needs its country code."
            )
        )
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def new_form_token() -> str:
    """The mark of one rendered form: one order per token (docs/booking-protocol.md 1.3, T0)."""
    return secrets.token_urlsafe(24)


def _one_line(value: str | None) -> str:
    return plain(value or "", 1000)


def _stripped(value: str | None) -> str:
    return (value or "").strip()


def _lines(value: str | None) -> str:
    """Text of several lines, each of them plain; blank lines at the ends are left out."""
    return "\n".join(
        plain(line, MAX_NOTE + 1) for line in (value or "")[: MAX_NOTE * 4].splitlines()
    ).strip()


def _row_id(value: Any) -> int | str:
    """A row's id, or "" for none. Raises ValueError."""
    return int(value) if value not in (None, "") else ""


class CoordinateField(StringField):  # type: ignore[misc] # WTForms ships no types
    """Half of a point, in degrees. Anything that is no finite number is an empty half."""

    degrees: float | None = None

    def process_formdata(self, valuelist: Sequence[Any]) -> None:
        self.data = str(valuelist[0]).strip()[:40] if valuelist else ""
        try:
            self.degrees = float(self.data) if self.data and "_" not in self.data else None
        except ValueError:
            self.degrees = None


class TripForm(Form):  # type: ignore[misc]
    """From where to where, as a query string or a form says it; every part may be missing."""

    pickup = StringField(_("Pickup"), filters=[_one_line], validators=[Length(max=200)])
    pickup_lat = CoordinateField()
    pickup_lng = CoordinateField()
    pickup_for = StringField(filters=[_one_line])
    drop = StringField(_("Drop"), filters=[_one_line], validators=[Length(max=200)])
    drop_lat = CoordinateField()
    drop_lng = CoordinateField()
    drop_for = StringField(filters=[_one_line])
    category = StringField(filters=[_one_line], validators=[Length(max=64)])

    def point(self, end: str) -> LatLng | None:
        """Where an end is: its coordinates, else coordinates typed as text, else None.

        `<end>_for` is the name that the coordinates were found for; without scripts another name
        may stand there now.
        """
        lat, lng, named = (
            self[f"{end}_lat"].degrees,
            self[f"{end}_lng"].degrees,
            self[f"{end}_for"].data,
        )
        if (
            lat is not None
            and lng is not None
            and is_valid(lat, lng)
            and named in (None, "", self[end].data)
        ):
            return LatLng(lat, lng)
        return parse_coordinates(self[end].data or "")

    def name(self, end: str) -> str:
        """What an end is called; "" when nobody said."""
        return (self[end].data or "")[:200]


class BookingForm(FlaskForm):  # type: ignore[misc]
    """Whom the ride is for and how it is paid. Name, phone, room and note stay with us; the service
    gets none.
    """

    form_token = HiddenField(validators=[InputRequired(), Regexp(r"^[A-Za-z0-9_-]{16,60}$")])
    offer = IntegerField(
        validators=[InputRequired(message=_("Choose a car first.")), NumberRange(1, MAX_ID)],
    )
    seats = IntegerField(
        validators=[Optional(), NumberRange(1, 2, message=_("A shared ride is for 1 or 2 people."))]
    )
    guest_name = StringField(
        _("Guest name"),
        filters=[_one_line],
        validators=[
            InputRequired(message=_("Who is the ride for? Type the guest's name.")),
            Length(max=MAX_NAME, message=_("Keep the name under 120 characters.")),
        ],
    )
    guest_phone = StringField(_("Phone"), filters=[_stripped], validators=[Length(max=60)])
    guest_room = StringField(
        _("Room or ref."),
        filters=[_one_line],
        validators=[Length(max=32, message=_("Keep it under 32 characters."))],
    )
    note = TextAreaField(
        _("Note for the desk"),
        filters=[_lines],
        validators=[Length(max=MAX_NOTE, message=_("Keep the note under 500 characters."))],
    )
    payment = SelectField(
        _("Payment"),
        choices=[
            SelectChoice("", _("Default (wallet)")),
            SelectChoice(wire.SVC_MONEY, _("Wallet")),
            SelectChoice(wire.CASH, _("Cash")),
        ],
        default="",
    )
    coupon = StringField(
        _("Coupon"),
        filters=[_one_line],
        validators=[
            Optional(),
            Regexp(
                r"^[A-Za-z0-9_.-]{1,40}$",
                message=_("A coupon is letters and digits without spaces."),
            ),
        ],
    )
    account = SelectField(_("Account"), coerce=int)
    # who was found, of the desk's own guests
    guest_id = IntegerField(validators=[Optional(), NumberRange(1, MAX_ID)])
    guest_note = StringField(
        _("About the guest"),
        filters=[_one_line],
        validators=[Length(max=MAX_NOTE, message=_("Keep the note under 500 characters."))],
    )
    language = SelectField(
        _("Language"),
        choices=[
            SelectChoice("", _("Not said")),
            *(SelectChoice(code, name) for code, name in LANGUAGES),
        ],
        default="",
    )
    cost_centre = SelectField(
        _("Cost centre"), choices=[SelectChoice("", _("None"))], coerce=_row_id, default=""
    )
    cars = IntegerField(
        _("Cars"),
        default=1,
        validators=[
            Optional(),
            NumberRange(1, MOST_CARS, message=_("One press books 1 to 6 cars.")),
        ],
    )
    override_guard = BooleanField()
    supersedes = IntegerField(validators=[Optional(), NumberRange(1, MAX_ID)])
    when = RadioField(
        _("When"),
        choices=[SelectChoice("now", _("Now")), SelectChoice("later", _("Later"))],
        default="now",
    )
    pickup_date = StringField(_("Pickup day"), filters=[_one_line])
    pickup_time = StringField(_("Pickup time"), filters=[_one_line])
    # the planned ride that this form changes
    change = IntegerField(validators=[Optional(), NumberRange(1, MAX_ID)])
    # of that ride when the form was shown
    version = IntegerField(validators=[Optional(), NumberRange(0, MAX_ID)])

    def __init__(
        self,
        *args: Any,
        now: datetime | None = None,
        tz: ZoneInfo = UTC_ZONE,
        country: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.now, self.tz, self.country = now, tz, country
        self.phone_e164: str | None = None
        self.pickup_at: datetime | None = None  # of a planned ride, once the form was found good
        # the plan's own time: it may stay, however near it is
        self.kept_pickup: datetime | None = None

    def offer_accounts(self, accounts: Sequence[tuple[int, str]]) -> None:
        """The accounts to choose from, the default one first."""
        self.account.choices = [SelectChoice(str(id_), label) for id_, label in accounts]
        if self.account.data is None and accounts:
            self.account.data = accounts[0][0]

    def offer_centres(self, centres: Sequence[tuple[int, str]]) -> None:
        """The cost centres to choose from; none is the usual one."""
        self.cost_centre.choices = [SelectChoice("", _("None"))] + [
            SelectChoice(id_, name) for id_, name in centres
        ]

    def validate_guest_name(self, field: Field) -> None:
        """A name of blanks is no name."""
        if not field.data:
            raise ValidationError(_("Who is the ride for? Type the guest's name."))

    def validate_guest_phone(self, field: Field) -> None:
        """Keeps the number as E.164 in `phone_e164`; what was typed stays in the field."""
        try:
            self.phone_e164 = read_phone(field.data or "", self.country)
        except PhoneError as error:
            raise ValidationError(str(error)) from error

    def validate_pickup_date(self, field: Field) -> None:
        """A day of the calendar, when the ride is for later."""
        if self.when.data == "later":
            try:
                date.fromisoformat(field.data or "")
            except ValueError:
                raise ValidationError(_("On which day? Choose one, such as 2026-03-05.")) from None

    def validate_pickup_time(self, field: Field) -> None:
        """Keeps day and time as the instant `pickup_at`; what was typed stays in the fields."""
        if self.when.data != "later":
            return
        try:
            clock = time.fromisoformat(field.data or "")
        except ValueError:
            raise ValidationError(_("At what time? Choose one, such as 05:10.")) from None
        try:
            at = local_time(date.fromisoformat(self.pickup_date.data or ""), clock, self.tz).at
        except NoSuchTime as error:
            said = _(
                "Clocks go forward then: %(said)s does not exist on that day. The next time that does is %(next)s."
            )
            raise ValidationError(
                said % {"said": f"{clock:%H:%M}", "next": f"{error.after:%H:%M}"}
            ) from None
        except OverflowError:
            raise ValidationError(_("Choose a time from 15 minutes to 30 days from now.")) from None
        except ValueError:
            return  # the day says what is wrong with it
        self._check_distance(at)
        self.pickup_at = at

    def _check_distance(self, at: datetime) -> None:
        if self.now is None or at == self.kept_pickup:
            return
        if at - self.now < SOONEST:
            raise ValidationError(
                _("Too soon to plan: choose a time 15 minutes from now or later, or Now.")
            )
        if at - self.now > LATEST:
            raise ValidationError(_("Too far ahead: rides are planned up to 30 days from now."))

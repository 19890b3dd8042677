"""Forms of the pages: a trip to ask prices for, and a booking of one of its products."""

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

from ridedash.geo import LatLng, is_valid
from ridedash.places import parse_coordinates
from ridedash.rides.orders.fields import FIELDS, MAX_NOTE, MOST_CARS, ChoiceControl, TextControl
from ridedash.rides.orders.schedule_times import LATEST, SOONEST, NoSuchTime, local_time
from ridedash.store.database.database import MAX_ID
from ridedash.text import one_line

# Two letters each: numbers of these countries can be read without their country code.
COUNTRIES: Final = frozenset(phonenumbers.SUPPORTED_REGIONS)
UTC_ZONE: Final = ZoneInfo("UTC")


class PhoneError(ValueError):
    """A phone number that can't be understood; the message says what to do."""


def read_phone(text: str, country: str | None) -> str | None:
    """A phone number in any notation as E.164; None for an empty text. Raises PhoneError.

    `country` (two letters) is for numbers without a country code.

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
        message = _("Type the phone number with its country code, such as +91 22 2778 3300.")
        raise PhoneError(message) from error
    if not phonenumbers.is_valid_number(number):
        raise PhoneError(
            _(
                "No phone has this number. Check the digits; a number from abroad needs its "
                "country code."
            )
        )
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def new_form_token() -> str:
    """The token of one rendered form: one order per token (docs/booking-protocol.md 1.3, T0)."""
    return secrets.token_urlsafe(24)


def _cleaned(value: str | None) -> str:
    return one_line(value or "", 1000)


def _stripped(value: str | None) -> str:
    return (value or "").strip()


def _lines(value: str | None) -> str:
    """Text of several lines, each of them cleaned; blank lines at the ends are left out."""
    lines = (value or "")[: MAX_NOTE * 4].splitlines()
    return "\n".join(one_line(line, MAX_NOTE + 1) for line in lines).strip()


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
    """The two ends of a trip, as a query string or a form names them; every part may be missing."""

    pickup = StringField(_("Pickup"), filters=[_cleaned], validators=[Length(max=200)])
    pickup_lat = CoordinateField()
    pickup_lng = CoordinateField()
    pickup_for = StringField(filters=[_cleaned])
    drop = StringField(_("Drop"), filters=[_cleaned], validators=[Length(max=200)])
    drop_lat = CoordinateField()
    drop_lng = CoordinateField()
    drop_for = StringField(filters=[_cleaned])
    category = StringField(filters=[_cleaned], validators=[Length(max=64)])

    def point(self, end: str) -> LatLng | None:
        """Where an end is: its coordinates, else coordinates typed as text, else None.

        `<end>_for` is the name that the coordinates were found for. Without scripts the name may
        have been changed since; then the coordinates don't count.
        """
        lat, lng = self[f"{end}_lat"].degrees, self[f"{end}_lng"].degrees
        same_name = self[f"{end}_for"].data in (None, "", self[end].data)
        if lat is not None and lng is not None and is_valid(lat, lng) and same_name:
            return LatLng(lat, lng)
        return parse_coordinates(self[end].data or "")

    def name(self, end: str) -> str:
        """What an end is called; "" when it has no name."""
        return (self[end].data or "")[:200]


class BookingForm(FlaskForm):  # type: ignore[misc]
    """Whom the ride is for and how it is paid. The service gets no name, phone, room or note.

    Controls that `rides.orders.fields` describes are added below the class.
    """

    form_token = HiddenField(validators=[InputRequired(), Regexp(r"^[A-Za-z0-9_-]{16,60}$")])
    offer = IntegerField(
        validators=[InputRequired(message=_("Choose a car first.")), NumberRange(1, MAX_ID)],
    )
    seats = IntegerField(
        validators=[
            Optional(),
            NumberRange(1, 2, message=_("A shared ride is for 1 or 2 people.")),
        ]
    )
    guest_phone = StringField(_("Phone"), filters=[_stripped], validators=[Length(max=60)])
    account = SelectField(_("Account"), coerce=int)
    guest_id = IntegerField(validators=[Optional(), NumberRange(1, MAX_ID)])  # of a known guest
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
    pickup_date = StringField(_("Pickup day"), filters=[_cleaned])
    pickup_time = StringField(_("Pickup time"), filters=[_cleaned])
    # the planned ride that this form changes, and its version when the form was shown
    change = IntegerField(validators=[Optional(), NumberRange(1, MAX_ID)])
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
        self.pickup_at: datetime | None = None  # of a planned ride, once the form is valid
        self.planned_at: datetime | None = None  # the planned ride's own time is always allowed

    def offer_accounts(self, accounts: Sequence[tuple[int, str]]) -> None:
        """The accounts to choose from, the default one first."""
        self.account.choices = [SelectChoice(str(id_), label) for id_, label in accounts]
        if self.account.data is None and accounts:
            self.account.data = accounts[0][0]

    def offer_centres(self, centres: Sequence[tuple[int, str]]) -> None:
        """The cost centres to choose from; none is the usual one."""
        choices = [SelectChoice(id_, name) for id_, name in centres]
        self.cost_centre.choices = [SelectChoice("", _("None")), *choices]

    def values(self) -> dict[str, Any]:
        """The values of a valid form by the attributes of `BookingRequest`; empty ones are None."""
        found = {}
        for each in FIELDS:
            value = getattr(self, each.parsed) if each.parsed else self[each.form].data
            found[each.name] = value or each.default
        return found

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
            message = _(
                "Clocks go forward then: %(said)s does not exist on that day. The next time "
                "that does is %(next)s."
            )
            times = {"said": f"{clock:%H:%M}", "next": f"{error.after:%H:%M}"}
            raise ValidationError(message % times) from None
        except OverflowError:
            raise ValidationError(_("Choose a time from 15 minutes to 30 days from now.")) from None
        except ValueError:
            return  # the error stands at the day
        self._check_distance(at)
        self.pickup_at = at

    def _check_distance(self, at: datetime) -> None:
        if self.now is None or at == self.planned_at:
            return
        if at - self.now < SOONEST:
            raise ValidationError(
                _("Too soon to plan: choose a time 15 minutes from now or later, or Now.")
            )
        if at - self.now > LATEST:
            raise ValidationError(_("Too far ahead: rides are planned up to 30 days from now."))


def _wtforms_control(control: TextControl | ChoiceControl) -> Field:
    """A control of the table of fields as a WTForms field, its texts translated when shown."""
    if isinstance(control, ChoiceControl):
        choices = [SelectChoice(value, _(label)) for value, label in control.choices]
        return SelectField(_(control.label), choices=choices, default=control.choices[0][0])
    validators: list[Any] = []
    if control.required:
        validators.append(InputRequired(message=_(control.required)))
    if control.longest:
        validators.append(Length(max=control.longest, message=_(control.too_long)))
    if control.pattern:
        validators += [Optional(), Regexp(control.pattern, message=_(control.mismatch))]
    if control.multiline:
        return TextAreaField(_(control.label), filters=[_lines], validators=validators)
    return StringField(_(control.label), filters=[_cleaned], validators=validators)


for _each in FIELDS:
    if _each.control is not None:
        setattr(BookingForm, _each.form, _wtforms_control(_each.control))

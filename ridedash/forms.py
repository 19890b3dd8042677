"""Forms of the pages: a trip to ask prices for, and a booking of one of its products."""

import secrets
from collections.abc import Sequence
from datetime import datetime
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
from ridedash.inputs import calendar_day, row_id, time_of_day, whole_number
from ridedash.places import parse_coordinates
from ridedash.rides.orders.fields import FIELDS, MAX_NOTE, MOST_CARS, ChoiceControl, TextControl
from ridedash.rides.orders.schedule_times import LATEST, SOONEST, NoSuchTime, local_time
from ridedash.text import one_line

# Two-letter country codes: a number of one of these countries needs no country calling code.
COUNTRIES: Final = frozenset(phonenumbers.SUPPORTED_REGIONS)
UTC_ZONE: Final = ZoneInfo("UTC")


class PhoneError(ValueError):
    """A phone number that can't be parsed; the message says what to type instead."""


def read_phone(text: str, country: str | None) -> str | None:
    """A phone number in any notation as E.164; None for an empty text. Raises PhoneError.

    `country` (two letters) is the country of a number that is typed without its country code.

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
    """A token for one rendered form: one order for each (docs/booking-protocol.md 1.3, T0)."""
    return secrets.token_urlsafe(24)


def _cleaned(value: str | None) -> str:
    return one_line(value or "", 1000)


def _stripped(value: str | None) -> str:
    return (value or "").strip()


def _lines(value: str | None) -> str:
    """A text of several lines, each of them cleaned; blank lines at both ends are dropped."""
    lines = (value or "")[: MAX_NOTE * 4].splitlines()
    return "\n".join(one_line(line, MAX_NOTE + 1) for line in lines).strip()


def _required_id(value: Any) -> int:
    """The id of a row. Raises ValueError for anything else."""
    found = row_id(str(value))
    if found is None:
        raise ValueError("no id of a row")
    return found


def _optional_id(value: Any) -> int | str:
    """The same, or "" when none is chosen."""
    return "" if value in (None, "") else _required_id(value)


class NumberField(IntegerField):  # type: ignore[misc] # WTForms ships no types
    """A whole number, read like every number from outside (inputs.py)."""

    def process_formdata(self, valuelist: Sequence[Any]) -> None:
        typed = str(valuelist[0]) if valuelist else ""
        self.data = whole_number(typed)
        if typed.strip() and self.data is None:
            raise ValueError(self.gettext("Not a valid integer value."))


class CoordinateField(StringField):  # type: ignore[misc] # WTForms ships no types
    """A latitude or a longitude in degrees. `degrees` is None for a text that is no number."""

    degrees: float | None = None

    def process_formdata(self, valuelist: Sequence[Any]) -> None:
        self.data = str(valuelist[0]).strip()[:40] if valuelist else ""
        try:
            self.degrees = float(self.data) if self.data and "_" not in self.data else None
        except ValueError:
            self.degrees = None


class TripForm(Form):  # type: ignore[misc]
    """Pickup and drop of a trip, from a query string or a form; each field may be missing."""

    pickup = StringField(_("Pickup"), filters=[_cleaned], validators=[Length(max=200)])
    pickup_lat = CoordinateField()
    pickup_lng = CoordinateField()
    pickup_for = StringField(filters=[_cleaned])
    drop = StringField(_("Drop"), filters=[_cleaned], validators=[Length(max=200)])
    drop_lat = CoordinateField()
    drop_lng = CoordinateField()
    drop_for = StringField(filters=[_cleaned])
    category = StringField(filters=[_cleaned], validators=[Length(max=64)])
    # "1" asks for the cars of the fields; "lat,lng,name" is a suggested drop, which replaces theirs
    show = StringField(filters=[_cleaned])

    def point(self, end: str) -> LatLng | None:
        """The position of the pickup or the drop; None when it has no coordinates.

        `end` is "pickup" or "drop". Coordinates that are typed in place of a name count too.
        `<end>_for` is the name that the coordinates belong to: without scripts a person can change
        the name and leave the old coordinates in the form, which are then ignored.
        """
        suggested, _name = self._suggested(end)
        if suggested:
            return suggested
        lat, lng = self[f"{end}_lat"].degrees, self[f"{end}_lng"].degrees
        same_name = self[f"{end}_for"].data in (None, "", self[end].data)
        if lat is not None and lng is not None and is_valid(lat, lng) and same_name:
            return LatLng(lat, lng)
        return parse_coordinates(self[end].data or "")

    def name(self, end: str) -> str:
        """The name of the pickup or the drop; "" when it has none."""
        _point, suggested = self._suggested(end)
        return (suggested or self[end].data or "")[:200]

    def _suggested(self, end: str) -> tuple[LatLng | None, str]:
        """The point and name of the suggested place that was pressed."""
        at, _comma, rest = (self.show.data or "").partition(",")
        lng, _comma, name = rest.partition(",")
        point = parse_coordinates(f"{at}, {lng}") if end == "drop" and lng else None
        return point, name.strip() if point else ""


class BookingForm(FlaskForm):  # type: ignore[misc]
    """The guest, the payment and the time of a ride. The service gets no name, phone, room or note.

    The controls that `rides.orders.fields` describes are added to the class at the end of this
    module.
    """

    form_token = HiddenField(validators=[InputRequired(), Regexp(r"^[A-Za-z0-9_-]{16,60}$")])
    offer = NumberField(
        validators=[InputRequired(message=_("Choose a car first.")), NumberRange(1)],
    )
    seats = NumberField(
        validators=[
            Optional(),
            NumberRange(1, 2, message=_("A shared ride is for 1 or 2 people.")),
        ]
    )
    guest_phone = StringField(_("Phone"), filters=[_stripped], validators=[Length(max=60)])
    account = SelectField(_("Account"), coerce=_required_id)
    guest_id = NumberField(validators=[Optional(), NumberRange(1)])  # of a stored guest
    cost_centre = SelectField(
        _("Cost centre"), choices=[SelectChoice("", _("None"))], coerce=_optional_id, default=""
    )
    cars = NumberField(
        _("Cars"),
        default=1,
        validators=[
            Optional(),
            NumberRange(1, MOST_CARS, message=_("One press books 1 to 6 cars.")),
        ],
    )
    override_guard = BooleanField()
    supersedes = NumberField(validators=[Optional(), NumberRange(1)])
    when = RadioField(
        _("When"),
        choices=[SelectChoice("now", _("Now")), SelectChoice("later", _("Later"))],
        default="now",
    )
    pickup_date = StringField(_("Pickup day"), filters=[_cleaned])
    pickup_time = StringField(_("Pickup time"), filters=[_cleaned])
    # the planned ride that this form changes, and its version when the form was shown
    change = NumberField(validators=[Optional(), NumberRange(1)])
    version = NumberField(validators=[Optional()])

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
        self.planned_at: datetime | None = None  # that of the ride to change: always allowed

    def offer_accounts(self, accounts: Sequence[tuple[int, str]]) -> None:
        """Set the accounts to choose from, as (id, label); the first one is the default."""
        self.account.choices = [SelectChoice(str(id_), label) for id_, label in accounts]
        if self.account.data is None and accounts:
            self.account.data = accounts[0][0]

    def offer_centres(self, centres: Sequence[tuple[int, str]]) -> None:
        """Set the cost centres to choose from, as (id, name); "None" is the default."""
        choices = [SelectChoice(id_, name) for id_, name in centres]
        self.cost_centre.choices = [SelectChoice("", _("None")), *choices]

    def values(self) -> dict[str, Any]:
        """Values of a valid form by attribute of `BookingRequest`; an empty one is its default."""
        found = {}
        for each in FIELDS:
            value = getattr(self, each.parsed) if each.parsed else self[each.form].data
            found[each.name] = value or each.default
        return found

    def validate_guest_name(self, field: Field) -> None:
        """Refuse a name that consists of blanks."""
        if not field.data:
            raise ValidationError(_("Who is the ride for? Type the guest's name."))

    def validate_guest_phone(self, field: Field) -> None:
        """Parse the number into `phone_e164`, as E.164; the field keeps the typed text."""
        try:
            self.phone_e164 = read_phone(field.data or "", self.country)
        except PhoneError as error:
            raise ValidationError(str(error)) from error

    def validate_pickup_date(self, field: Field) -> None:
        """Refuse a ride for later whose day is not a date."""
        if self.when.data == "later" and calendar_day(field.data or "") is None:
            raise ValidationError(_("On which day? Choose one, such as 2026-03-05."))

    def validate_pickup_time(self, field: Field) -> None:
        """Parse day and time into the instant `pickup_at`; the fields keep their texts."""
        if self.when.data != "later":
            return
        clock, day = time_of_day(field.data or ""), calendar_day(self.pickup_date.data or "")
        if clock is None:
            raise ValidationError(_("At what time? Choose one, such as 05:10."))
        if day is None:
            return  # validate_pickup_date has reported it
        try:
            at = local_time(day, clock, self.tz).at
        except NoSuchTime as error:
            message = _(
                "Clocks go forward then: %(said)s does not exist on that day. The next time "
                "that does is %(next)s."
            )
            times = {"said": f"{clock:%H:%M}", "next": f"{error.after:%H:%M}"}
            raise ValidationError(message % times) from None
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
    """The WTForms field of a control in the table of fields; texts are translated when shown."""
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

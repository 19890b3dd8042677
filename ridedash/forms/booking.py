"""Forms of the pages: a trip to ask prices for, and a booking of one of its products."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    Field,
    Form,
    HiddenField,
    RadioField,
    SelectField,
    SelectMultipleField,
    StringField,
    TextAreaField,
)
from wtforms.fields.choices import SelectChoice
from wtforms.validators import (
    AnyOf,
    InputRequired,
    Length,
    NumberRange,
    Optional,
    Regexp,
    ValidationError,
)
from wtforms.widgets import CheckboxInput

from ridedash.fits import MOST_BAGS, MOST_PEOPLE, Party
from ridedash.forms.fields import CoordinateField, CountField, NumberField
from ridedash.forms.phones import (
    PhoneError,
    PhoneReading,
    kind_of,
    numbers_in,
    read_phone,
    reading_of,
)
from ridedash.forms.several import SeriesRequest, read_series
from ridedash.geo import LatLng, is_valid
from ridedash.inputs import (
    flight_number,
    is_journey_number,
    optional_id,
    required_id,
    weekday,
)
from ridedash.places import MOST_TYPED, parse_coordinates, sent_point
from ridedash.rides.orders.fields import (
    FIELDS,
    MAX_NOTE,
    MOST_CARS,
    UTC_ZONE,
    ChoiceControl,
    TextControl,
)
from ridedash.rides.times.schedule_times import LATEST, SOONEST, LocalTime, SeriesRide, dates_key
from ridedash.rides.times.time_words import ENGLISH_WORDS, TimeWords
from ridedash.rides.times.typed_time import read_day
from ridedash.rides.times.typed_words import TIME_CHARS
from ridedash.text import one_line, plain_code
from ridedash.wording import lazy as _
from ridedash.wording import ngettext
from ridedash.wording.typed_times import PickupTexts, TimeRefused, departure_text

# whether a flight leaves after the ride, or lands before it
DEPARTS = "departs"
LANDS = "lands"


def check_ahead(at: datetime, now: datetime, latest: timedelta = LATEST) -> None:
    """Raise ValidationError for a pickup that is too soon or too late to be planned."""
    if at - now < SOONEST:
        raise ValidationError(
            _("Too soon to plan: choose a time 15 minutes from now or later, or Now.")
        )
    if at - now > latest:
        far = _("Too far ahead: rides are planned up to %(days)d days from now.")
        raise ValidationError(far % {"days": latest.days})


def new_form_token() -> str:
    """A token of one rendered form; it places orders once (docs/booking-protocol.md 1.3, T0)."""
    return secrets.token_urlsafe(24)


def _cleaned(value: str | None) -> str:
    return one_line(value or "", 1000)


def _of_door(value: str | None) -> str:
    return plain_code(_cleaned(value))


def _stripped(value: str | None) -> str:
    return (value or "").strip()


def _lines(value: str | None) -> str:
    """A text of several lines, each cleaned; blank lines at both ends are dropped."""
    lines = (value or "")[: MAX_NOTE * 4].splitlines()
    return "\n".join(one_line(line, MAX_NOTE + 1) for line in lines).strip()


_WEEKDAYS: Final = [
    SelectChoice(number, name)
    for number, name in enumerate(
        (_("Mon"), _("Tue"), _("Wed"), _("Thu"), _("Fri"), _("Sat"), _("Sun"))
    )
]


class TripForm(Form):  # type: ignore[misc]
    """Pickup and drop of a trip, from a query string or a form; each field may be missing."""

    pickup = StringField(_("Pickup"), filters=[_cleaned], validators=[Length(max=MOST_TYPED)])
    pickup_lat = CoordinateField()
    pickup_lng = CoordinateField()
    pickup_for = StringField(filters=[_cleaned])
    drop = StringField(_("Drop"), filters=[_cleaned], validators=[Length(max=MOST_TYPED)])
    drop_lat = CoordinateField()
    drop_lng = CoordinateField()
    drop_for = StringField(filters=[_cleaned])
    category = StringField(filters=[_cleaned], validators=[Length(max=64)])
    # "1" asks for the cars of this trip; "lat,lng,name" asks for those to a suggested drop instead
    show = StringField(filters=[_cleaned])

    def point(self, end: str) -> LatLng | None:
        """The position of the pickup or the drop; None when it has no coordinates.

        `end` is "pickup" or "drop". A suggested drop that was pressed comes first. Coordinates that
        are typed in place of a name count too. `<end>_for` is the name that the coordinates belong
        to: without scripts a person can change the name and leave the old coordinates in the form,
        which are then ignored.
        """
        suggested, _name = self._suggested(end)
        if suggested:
            return suggested
        lat = self[f"{end}_lat"].degrees
        lng = self[f"{end}_lng"].degrees
        same_name = self[f"{end}_for"].data in (None, "", self[end].data)
        if lat is not None and lng is not None and is_valid(lat, lng) and same_name:
            return LatLng(lat, lng)
        return parse_coordinates(self[end].data or "")

    def name(self, end: str) -> str:
        """The name of the pickup or the drop; "" when it has none."""
        _point, suggested = self._suggested(end)
        return (suggested or self[end].data or "")[:200]

    def typed(self, end: str) -> str:
        """What was typed or pasted as the pickup or the drop, at full length."""
        return self[end].data or ""

    def _suggested(self, end: str) -> tuple[LatLng | None, str]:
        """The point and name of the suggested drop that was pressed; (None, "") without one."""
        at, _comma, rest = (self.show.data or "").partition(",")
        lng, _comma, name = rest.partition(",")
        if end != "drop" or not lng:
            return None, ""
        point = sent_point(f"{at},{lng}")
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
    guest_phone_as = StringField(filters=[_stripped])  # which of the numbers that it may be
    guest_phone2 = StringField(_("Second phone"), filters=[_stripped], validators=[Length(max=60)])
    guest_phone2_as = StringField(filters=[_stripped])
    account = SelectField(_("Account"), coerce=required_id)
    # the chosen guest, if stored already
    guest_id = NumberField(validators=[Optional(), NumberRange(1)])
    cost_centre = SelectField(
        _("Cost centre"), choices=[SelectChoice("", _("None"))], coerce=optional_id, default=""
    )
    cars = NumberField(
        _("Cars"),
        default=1,
        validators=[
            Optional(),
            NumberRange(1, MOST_CARS, message=_("One press books 1 to 6 cars.")),
        ],
    )
    # who travels: compared with what fits into a car, and neither sent nor stored
    people = CountField(_("People"), 1, MOST_PEOPLE, _("Choose from %(least)d to %(most)d people."))
    bags = CountField(_("Bags"), 0, MOST_BAGS, _("Choose from %(least)d to %(most)d bags."))
    override_guard = BooleanField()
    supersedes = NumberField(validators=[Optional(), NumberRange(1)])
    when = RadioField(
        _("When"),
        choices=[SelectChoice("now", _("Now")), SelectChoice("later", _("Later"))],
        default="now",
    )
    # "tomorrow 0615"; ignored when a time is chosen in `pickup_time`
    pickup_words = StringField(_("Pickup at"), filters=[_cleaned])
    pickup_date = StringField(_("Pickup day"), filters=[_cleaned])
    pickup_time = StringField(_("Pickup time"), filters=[_cleaned])
    # which of two is meant, for a time that clocks show twice that day
    pickup_which = HiddenField(filters=[_cleaned])
    # the way back, planned by the same press
    back = BooleanField(_("Way back"))
    back_words = StringField(_("Time of the way back"), filters=[_cleaned])
    back_offer = NumberField(validators=[Optional(), NumberRange(1)])  # its price was shown
    # a series: a planned ride on each of these weekdays (0: Monday), from the pickup day on
    days = SelectMultipleField(
        _("Repeat on"), choices=_WEEKDAYS, coerce=weekday, option_widget=CheckboxInput()
    )
    last_day = StringField(_("Until"), filters=[_cleaned])
    dates = HiddenField()  # the dates that the form has shown: dates_key()
    for_flight = BooleanField(_("Flight"))
    flight = StringField(_("Flight number"), filters=[flight_number])
    # LANDS: the flight brings the guest to the pickup, and `departs` is when it lands
    flight_way = StringField(filters=[_stripped], validators=[AnyOf(("", DEPARTS, LANDS))])
    departs = StringField(_("At"), filters=[_cleaned])
    # the flight time for which a person has confirmed a car now, although it is hours away
    flight_now = StringField(filters=[_stripped])
    # the planned ride that this form changes, and its version when the form was shown
    change = NumberField(validators=[Optional(), NumberRange(1)])
    version = NumberField(validators=[Optional()])
    onward = BooleanField(_("Also all later rides of this series"))

    def __init__(
        self,
        *args: Any,
        now: datetime | None = None,
        tz: ZoneInfo = UTC_ZONE,
        country: str | None = None,
        words: TimeWords = ENGLISH_WORDS,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.now = now
        self.tz = tz
        self.country = country
        self.words = words
        self.phone_e164: str | None = None
        self.phone2_e164: str | None = None
        self.known_phones: frozenset[str] = frozenset()  # of the chosen guest, as they are stored
        self.phone_as_typed = False  # whether a number that no country has was confirmed just now
        self.back_at: datetime | None = None  # pickup time of the way back, once the form is valid
        self.series_at: tuple[datetime, ...] = ()  # the pickups of a series, once it is valid
        self.series_rides: list[SeriesRide] = []  # the chosen days, to be shown
        self.latest = LATEST  # how far ahead a pickup may be
        self.flight_number: str | None = None
        self.departs_at: datetime | None = None
        self.flight_lands = False
        # departure and pickup of the planned ride that the form changes: both may stay, even if
        # the form would now refuse them as new
        self.stored_departure: datetime | None = None
        self.planned_at: datetime | None = None
        self.pickup_at: datetime | None = None  # of a planned ride, once the form is valid

    def offer_accounts(self, accounts: Sequence[tuple[int, str]]) -> None:
        """Set the accounts to choose from, as (id, label); the first one is the default."""
        self.account.choices = [SelectChoice(str(id_), label) for id_, label in accounts]
        if self.account.data is None and accounts:
            self.account.data = accounts[0][0]

    def offer_centres(self, centres: Sequence[tuple[int, str]]) -> None:
        """Set the cost centres to choose from, as (id, name); "None" is the default."""
        choices = [SelectChoice(id_, name) for id_, name in centres]
        self.cost_centre.choices = [SelectChoice("", _("None")), *choices]

    @property
    def party(self) -> Party:
        """Who travels, as far as it was said."""
        return Party(self.people.data, self.bags.data)

    def values(self) -> dict[str, Any]:
        """Values of a valid form by attribute of `BookingRequest`, defaults for empty fields."""
        found = {}
        for each in FIELDS:
            value = getattr(self, each.parsed) if each.parsed else self[each.form].data
            found[each.name] = value or each.default
        if self.series_at:
            found["pickup_at"] = self.series_at[0]
        return found

    def validate_guest_name(self, field: Field) -> None:
        """Refuse a name that consists of blanks."""
        if not field.data:
            raise ValidationError(_("Who is the ride for? Type the guest's name."))

    def validate_guest_phone(self, field: Field) -> None:
        """Parse the number into `phone_e164`; the field keeps the typed text.

        The other one of two numbers in the field becomes the second phone if that has no text.
        """
        self.phone_e164 = stored = self._read_phone(field)
        two = numbers_in(field.data or "", self.country)
        if len(two) == 2 and not self.guest_phone2.data:
            self.phone2_e164 = next(each for each in two if each != stored)

    def validate_guest_phone2(self, field: Field) -> None:
        """Parse the number into `phone2_e164`; the field keeps the typed text."""
        if field.data:
            self.phone2_e164 = self._read_phone(field)

    def _read_phone(self, field: Field) -> str | None:
        allowed = self.known_phones | {self[f"{field.name}_as"].data or ""}
        try:
            stored = read_phone(field.data or "", self.country, allowed)
        except PhoneError as error:
            raise ValidationError(str(error)) from error
        if stored and stored not in self.known_phones and not kind_of(stored):
            self.phone_as_typed = True
        return stored

    def phone_reading(self, name: str) -> PhoneReading:
        """How the text of a field with a phone number is read, with what was chosen for it."""
        chosen = self[f"{name}_as"].data or ""
        return reading_of(self[name].data or "", self.country, self.known_phones, chosen)

    def validate_flight(self, field: Field) -> None:
        """Store the flight's number, if the ride is for a flight."""
        if not self.for_flight.data or not field.data:
            return
        if not is_journey_number(field.data):
            raise ValidationError(
                _("Type the number as it is printed, such as LH 760, EK 505 T3 or ICE 573.")
            )
        self.flight_number = field.data

    def validate_flight_way(self, field: Field) -> None:
        """Store whether the flight lands at the pickup."""
        self.flight_lands = bool(self.for_flight.data) and field.data == LANDS

    def validate_departs(self, field: Field) -> None:
        """Parse the flight's departure time into `departs_at`; the field keeps its text."""
        if not self.for_flight.data or not field.data:
            return
        try:
            self.departs_at = self.departure()
        except TimeRefused as error:
            raise ValidationError(str(error)) from None

    def departure(self) -> datetime:
        """When the flight leaves. Raises TimeRefused."""
        text = self.departs.data or ""
        stored = self.stored_departure
        if stored and text == departure_text(stored, self.tz):
            return stored
        texts = PickupTexts(text, "", "")
        return texts.read(self.now or datetime.now(UTC), self.tz, self.words).at

    def validate_pickup_words(self, field: Field) -> None:
        """Parse the pickup time of a ride for later into `pickup_at`; the fields keep their texts.

        Each error is stored at the control that it is about.
        """
        self._check_pickup(field)

    validate_pickup_date = validate_pickup_words
    validate_pickup_time = validate_pickup_words

    def choose_time(self, words: str) -> None:
        """Choose "later" and a pickup time in words; a time chosen in `pickup_time` is cleared."""
        self.when.data = "later"
        self.pickup_words.data = words[:TIME_CHARS]
        self.pickup_time.data = ""
        self.pickup_which.data = ""

    def pickup(self) -> LocalTime:
        """The pickup time of a ride for later. Raises TimeRefused."""
        texts = PickupTexts(
            *(
                self[name].data or ""
                for name in ("pickup_words", "pickup_date", "pickup_time", "pickup_which")
            )
        )
        return texts.read(self.now or datetime.now(UTC), self.tz, self.words, self.latest)

    def _check_pickup(self, field: Field) -> None:
        if self.when.data != "later":
            return
        try:
            at = self.pickup().at
        except TimeRefused as error:
            if error.control == field.name:
                raise ValidationError(str(error)) from None
            return
        control = "pickup_time" if self.pickup_time.data else "pickup_words"
        if field.name == control and self.now is not None and at != self.planned_at:
            check_ahead(at, self.now, self.latest)
        self.pickup_at = at

    def validate_back_words(self, _field: Field) -> None:
        """Parse the time of the way back into `back_at`; the field keeps its text."""
        if not self.back.data:
            return
        try:
            self.back_at = self.way_back(self.pickup_at)
        except TimeRefused as error:
            raise ValidationError(str(error)) from None

    def way_back(self, there: datetime | None) -> datetime:
        """When the way back of a ride begins that begins at `there`, or now.

        Raises TimeRefused, and ValidationError for a time that can't be planned.
        """
        now = self.now or datetime.now(UTC)
        texts = PickupTexts(self.back_words.data or "", "", "")
        at = texts.read_back(there, now, self.tz, self.words).at
        check_ahead(at, now)
        return at

    def validate_last_day(self, field: Field) -> None:
        """Parse weekdays and last day into the pickups of a series, `series_at`.

        They are accepted only if the form has shown exactly these dates (`dates`).
        """
        if not self.days.data or self.when.data != "later":
            return
        if self.back.data or (self.cars.data or 1) > 1:
            raise ValidationError(_("A series is of one car, one way: one press for each."))
        if self.coupon.data:
            raise ValidationError(_("A coupon is for one ride: leave it out of a series."))
        if self.pickup_at is None or self.now is None:
            return  # the control of the pickup time has reported the error
        first = self.pickup_at.astimezone(self.tz)
        last = read_day(field.data or "", self.now.astimezone(self.tz).date(), self.words)
        series = SeriesRequest(first.date(), last, frozenset(self.days.data), first.time())
        try:
            self.series_rides = read_series(series, self.tz, self.now)
        except ValueError as error:
            raise ValidationError(str(error)) from error
        if self.dates.data != dates_key(self.series_rides):
            words = ngettext(
                "%(num)d ride will be planned. Look at its date, then press again.",
                "%(num)d rides will be planned. Look at their dates, then press again.",
                len(self.series_rides),
            )
            raise ValidationError(words)
        self.series_at = tuple(ride.at for ride in self.series_rides)


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
    cleaned = _of_door if control.of_door else _cleaned
    return StringField(_(control.label), filters=[cleaned], validators=validators)


# WTForms reads the fields of a form from attributes of its class
for _each in FIELDS:
    if _each.control is not None:
        setattr(BookingForm, _each.form, _wtforms_control(_each.control))

"""The kiosk's own words: one table, sent to its page in every language that it offers.

The page holds the words of all its languages, so that a guest can change the language on any screen
without a request and without losing answers. Sentences that depend on the server, such as a price
or a refusal, arrive complete. The page fills in `{slots}`.
"""

from collections.abc import Iterable
from typing import Final

from flask_babel.speaklater import LazyString

from ridedash.extensions import services
from ridedash.wording import in_language, lazy, ngettext
from ridedash.wording.languages import ENGLISH, LANGUAGES
from ridedash.wording.say import Text


def phone_why() -> str:
    """Why a guest may give a phone number, and for how long it is stored."""
    return ngettext(
        "So our desk can reach you about this ride. Deleted after %(num)d day.",
        "So our desk can reach you about this ride. Deleted after %(num)d days.",
        services().settings.keep_guests_days,
    )


# The letters A to H and X name the screens, as in static/js/kiosk/.
WORDS: Final[dict[str, Text]] = {
    # around each screen
    "back": lazy("Back"),
    "over": lazy("Start over"),
    "language": lazy("Language"),
    "aid_large": lazy("Large text"),
    "aid_lower": lazy("Lower the controls"),
    "aid_contrast": lazy("More contrast"),
    "aid_aloud": lazy("Read aloud"),
    # read aloud; {aid} is one of the four above
    "aid_on": lazy("{aid}: on"),
    "aid_off": lazy("{aid}: off"),
    "pause_reading": lazy("Pause"),
    "volume_is": lazy("Volume: {n} of {of}"),
    "help": lazy("Ask our staff"),
    "position": lazy("{n} of {of}"),
    "pause": lazy("{one}, {two}"),
    "more": lazy("More"),
    "close": lazy("Close"),
    "choose_language": lazy("Choose your language"),
    # A: start
    "start": lazy("Book a ride"),
    "start_lead": lazy("A car to your door, without a phone."),
    "have": lazy("I have a ride already"),
    "soonest": lazy("Cars are about {n} min away"),
    "by_machine": lazy("Translated by a machine. The English text holds."),
    "closed": lazy("This screen is closed now."),
    "full_live": lazy("Guests who booked here still wait for their cars."),
    "full_hourly": lazy("Many rides were booked here in the last hour."),
    "full_unclear": lazy("We are still checking rides that were booked here."),
    "full_codes": lazy("Too many wrong codes were typed here."),
    "full_next": lazy("You can book here again in a while. Our desk can help now."),
    "code_first": lazy("To book here, please ask our desk for a code first."),
    "pins_stopped": lazy("Wrong PINs were typed here. Each ride has one try for {n} min."),
    "call_desk": lazy("Our desk: {phone}"),
    # B: where to
    "where": lazy("Where to?"),
    "other_place": lazy("Another place"),
    "own_phone": lazy("Use your own phone"),
    "own_phone_lead": lazy("Scan this with your phone, and go on there."),
    "minutes_by_car": lazy("about {n} min"),
    # B2: another place
    "which_place": lazy("Which place?"),
    "type_place": lazy("Type its name or its street."),
    "place_typed": lazy("Name or street"),
    "two_letters": lazy("Two letters are enough to begin."),
    "nothing_found": lazy("We found no such place. Try another word."),
    "tab_airport": lazy("Airport"),
    "tab_stations": lazy("Stations"),
    "tab_hospitals": lazy("Hospitals"),
    "tab_sights": lazy("Sights"),
    "latin_letters": lazy("Type in Latin letters"),
    "by_list": lazy("Choose from a list"),
    # C: which car
    "which_car": lazy("Which car?"),
    "looking": lazy("Looking for cars…"),
    "more_cars": lazy("More cars ({n})"),
    "fewer_cars": lazy("Fewer cars"),
    "away": lazy("{n} min away"),
    "cheapest": lazy("Lowest price"),
    "soonest_car": lazy("Here soonest"),
    "biggest": lazy("Most room"),
    "meet_at": lazy("Meet the car at"),
    "change": lazy("Change"),
    "choose_meet": lazy("Where do you want to meet the car?"),
    "how_many": lazy("How many people?"),
    "we_are_more": lazy("We are more than {n}"),
    "bigger_car": lazy("Which car for a bigger group?"),
    "two_cars": lazy("For two cars, please ask our desk."),
    # D: who are you
    "who": lazy("Who is the ride for?"),
    "name": lazy("First name or room number"),
    "name_why": lazy("Our staff use it to find you."),
    "phone": lazy("Phone number, if you like"),
    "phone_why": LazyString(phone_why),
    "next": lazy("Next"),
    "phone_wrong": lazy("This phone number can't be right."),
    "name_needed": lazy("Please type a first name or a room number."),
    # E: check
    "check": lazy("Is everything right?"),
    "to": lazy("To"),
    "from": lazy("From"),
    "car": lazy("Car"),
    "price": lazy("Price"),
    "for": lazy("Guest"),
    "pay": lazy("Payment"),
    "cancelling": lazy("If you cancel"),
    "book": lazy("Book"),
    "book_for": lazy("Book for {price}"),
    "price_changed": lazy("The price has changed."),
    "price_was": lazy("It was {price}."),
    "price_now": lazy("It is {price} now."),
    "code": lazy("Code from our desk"),
    "code_why": lazy("Our staff give you a code of 6 digits."),
    "code_wrong": lazy("That code is not right. Please ask our desk."),
    # F: booking
    "booking": lazy("Booking your ride"),
    "booking_usual": lazy("This usually takes 2 seconds."),
    "asking": lazy("Our desk is confirming your ride."),
    "asking_lead": lazy("Please wait here. It takes 3 minutes at most."),
    # G: booked
    "booked": lazy("Your ride is booked"),
    "ride": lazy("Ride {number}"),
    "pin": lazy("PIN"),
    "pin_why": lazy("Number and PIN show your ride on this screen again."),
    "finding": lazy("Finding your driver"),
    "scan": lazy("Follow your ride on your phone"),
    "map": lazy("Map of the meeting point"),
    "map_of_way": lazy("Map of the way"),
    "map_sandbox": lazy("Sandbox city, a place that does not exist"),
    "print": lazy("Print"),
    "done": lazy("Done"),
    "clears": lazy("This screen clears in {s} s"),
    "still_here": lazy("I'm still here"),
    # H: my ride
    "my_ride": lazy("Find your ride"),
    "my_ride_lead": lazy("Type the number and the PIN of your ride."),
    "ride_number": lazy("Ride number"),
    "show": lazy("Show my ride"),
    "plate": lazy("Number plate"),
    "old_plate": lazy("No longer this car: {plate}"),
    "show_code": lazy("Show my code"),
    "start_code": lazy("Start code"),
    "code_hidden": lazy("Your code is hidden."),
    "tell_driver": lazy("Tell the driver this code."),
    "cancel": lazy("Cancel the ride"),
    "cancel_ask": lazy("Cancel this ride?"),
    "cancel_yes": lazy("Yes, cancel it"),
    "cancel_no": lazy("No, keep it"),
    "wrong_pin": lazy("We can't find that ride. Check number and PIN."),
    "ride_closed": lazy("Please ask our desk about this ride."),
    # X: not booked, unknown, out of order
    "not_booked": lazy("Nothing was booked."),
    "not_booked_next": lazy("You can try again, or ask our staff."),
    "try_again": lazy("Try again"),
    "unknown": lazy("We are checking your booking. Please don't book again."),
    "unknown_next": lazy("Our desk knows about it, and can help."),
    "no_driver": lazy("No driver found this time. Nothing to pay."),
    "cancelled": lazy("Your ride is cancelled."),
    "other_cars": lazy("Show other cars"),
    "declined": lazy("Our desk could not confirm this ride."),
    "limited": lazy("Please wait a moment, or ask our staff."),
    "trouble": lazy("We can't book cars from this screen now."),
    "trouble_next": lazy("Our desk can help."),
    "ask_desk": lazy("Please ask our desk for a ride."),
    "broken": lazy("Out of order. Please ask our staff."),
    "broken_next": lazy("It comes back by itself."),
    "no_cars": lazy("There is no car for this way now."),
    "another_way": lazy("Choose another place"),
    # while no answer comes
    "moment": lazy("One moment…"),
    "no_answer": lazy("No answer · last news {age}"),
    "age_s": lazy("{n} s ago"),
    "age_m": lazy("{n} min ago"),
    "age_h": lazy("{n} h ago"),
    # over any screen
    "there": lazy("Still there?"),
    "go_on": lazy("Go on"),
    "there_why": lazy("Touch the screen to go on."),
    "open_already": lazy("This page is already open on this screen."),
    "open_already_next": lazy("Please close this window."),
    "help_asked": lazy("We have called our staff."),
    "help_coming": lazy("Somebody is coming to you."),
    "help_late": lazy("Please come to the desk."),
    "help_no_way": lazy("We could not call. Please come to the desk."),
    # read aloud
    "blank": lazy("Blank the screen?"),
    "blank_yes": lazy("Blank it"),
    "blank_no": lazy("Leave it on"),
    "blanked": lazy("The screen is dark. Any touch brings it back."),
    "star": lazy("star"),
    "spoken_there": lazy("Press any key, or touch the screen."),
    "spoken_pin": lazy("PIN {digits}"),
    "spoken_keys": lazy(
        "Use the arrow keys, then Enter. Enter also pauses what is read, and goes on. "
        "Hold an arrow key to leave the keyboard."
    ),
    # the keyboard
    "key_delete": lazy("Delete"),
    "key_space": lazy("Space"),
    "key_digits": lazy("Numbers"),
    "key_letters": lazy("Letters"),
    "keys": lazy("Keyboard"),
    # for staff, behind a PIN
    "staff": lazy("For our staff"),
    "staff_pin": lazy("PIN of 6 digits"),
    "staff_wrong": lazy("That PIN is not right."),
    "staff_blocked": lazy("Too many tries. Wait 15 minutes."),
    "staff_failed": lazy("That did not work. Nothing was changed."),
    "deed_out": lazy("Set out of order"),
    "deed_in": lazy("Set in order"),
    "deed_reload": lazy("Load the page again"),
    "deed_sound": lazy("Test the sound"),
    "deed_calibrate": lazy("Measure the screen"),
    "deed_unpair": lazy("Un-pair this screen"),
    "deed_sure": lazy("It needs a new pairing code then."),
    "card": lazy("Lay a bank card on the frame. Make the frame as wide as the card."),
    "wider": lazy("Wider"),
    "narrower": lazy("Narrower"),
    "bottom": lazy("Height of the screen's lower edge above the floor, mm"),
    "save": lazy("Save"),
    "staff_card": lazy("A screen can't have this size. Measure it again with a bank card."),
    "staff_height": lazy(
        "The lower edge must be {least} to {most} mm above the floor. "
        "Measure it again, or leave the height empty."
    ),
    "staff_small": lazy(
        "This screen is too small: {wide} × {high} mm. "
        "Guests need at least {long} × {short} mm, upright or across."
    ),
}


def words_of(codes: Iterable[str]) -> dict[str, dict[str, str]]:
    """The whole table in each of these languages, by tag: {"en": {"back": "Back", …}, …}.

    An unknown code is left out; English is always included.
    """
    rows = [LANGUAGES[code] for code in dict.fromkeys([*codes, ENGLISH]) if code in LANGUAGES]
    found = {}
    for row in rows:
        with in_language(row.code):
            found[row.tag] = {key: str(text) for key, text in WORDS.items()}
    return found


def choices(codes: Iterable[str]) -> list[dict[str, str]]:
    """The languages as the start screen offers them: [{"tag", "name", "dir"}], each in its own
    script. An unknown code is left out; if nothing else remains, English is offered.
    """
    known = [LANGUAGES[code] for code in dict.fromkeys(codes) if code in LANGUAGES]
    rows = known or [LANGUAGES[ENGLISH]]
    return [{"tag": row.tag, "name": row.own_name, "dir": row.direction} for row in rows]

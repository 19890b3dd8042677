"""Places and cars at a kiosk, and what is stored of a visit: counts and times, never words."""

from datetime import timedelta
from typing import Any

import pytest

from ridedash.geo import LatLng
from ridedash.rides.kiosk.desk_codes import NewCode, make_code
from ridedash.store.models.kiosks import Kiosk, PickupHint
from ridedash.store.models.people import Property
from ridedash.store.orders import Offer
from ridedash.store.properties import set_favourite
from ridedash.views.kiosk.visit import AGAIN_S, favourites, sign_of
from ridedash.wording import in_language
from ridedash.wording.languages import LANGUAGES
from tests.views.fake_service import ZONE, category
from tests.views.kiosk.lobby import DROP, Lobby, desk, lobby

__all__ = ["desk", "lobby"]
pytestmark = pytest.mark.database


def places(lobby: Lobby, **query: str) -> dict[str, Any]:
    answer = lobby.client.get("/kiosk/places.json", query_string=query)
    assert answer.status_code == 200
    return dict(answer.get_json())


def test_places_are_found_by_two_letters_and_by_a_tab(lobby: Lobby) -> None:
    found = places(lobby, q="arc", lang="en")["results"]
    place = {"name": "Arcade", "address": "Old Town", "lat": -38.503, "lng": -128.011}
    assert found == [place | {"minutes": None, "sign": ""}]
    assert places(lobby, q="a")["results"] == []
    assert [each["name"] for each in places(lobby, tab="airport")["results"]] == [
        "Meridian Airport"
    ]
    assert [each["sign"] for each in places(lobby, tab="airport")["results"]] == ["airport"]
    assert places(lobby, tab="hospitals") == {"state": "none", "results": []}
    assert places(lobby, tab="nowhere")["results"] == places(lobby)["results"] == []


@pytest.mark.parametrize(
    ("lang", "typed"),
    [
        ("de", "Flugh"),
        ("es", "el aeropuerto"),
        ("fr", "AEROPORT"),
        ("ar", "المطار"),
        ("hi", "हवाई अड्डा"),
        ("ja", "kuukou"),
        ("zh-Hans", "机场"),
    ],
)
def test_a_kind_of_place_is_found_by_its_word_in_the_guests_language(
    lobby: Lobby, lang: str, typed: str
) -> None:
    found = places(lobby, q=typed, lang=lang)["results"]
    assert [each["name"] for each in found] == ["Meridian Airport"]
    assert places(lobby, q=typed, lang="en")["results"] == []


def test_a_short_word_for_a_kind_of_place_is_a_whole_word_of_what_is_typed(lobby: Lobby) -> None:
    answers = {typed: places(lobby, q=typed, lang="fr") for typed in ("mon vol", "Voltaire", "vo")}
    found = {
        typed: [each["name"] for each in answer["results"]] for typed, answer in answers.items()
    }
    assert found == {"mon vol": ["Meridian Airport"], "Voltaire": [], "vo": ["Meridian Airport"]}


@pytest.mark.parametrize("typed", ["-38.5, -128.0", "-38.5012 -128.003", " 1.5,2.5 "])
def test_coordinates_are_no_place_at_a_kiosk(lobby: Lobby, typed: str) -> None:
    assert places(lobby, q=typed)["results"] == []
    assert lobby.desk.service.questions("/places") == []


def test_six_places_at_most_and_a_hundred_and_twenty_questions_a_minute(lobby: Lobby) -> None:
    lobby.desk.service.places = [
        {"id": f"{n}", "name": f"Arcade {n}", "kind": "shop", "area": "", "lat": -38.5, "lng": -128}
        for n in range(9)
    ]
    assert len(places(lobby, q="arcade")["results"]) == 6
    states = [places(lobby, q="arcade")["state"] for _ in range(121)]
    assert states.count("ok") == 119
    assert states[-1] == "limited"
    lobby.desk.service.places_down = True


def test_the_favourites_come_with_minutes_that_a_ride_took_lately(lobby: Lobby) -> None:
    with lobby.services.db.write() as s:
        for slot in range(1, 9):
            set_favourite(s, 1, "drop", slot, f"Place {slot}", LatLng(-38.5 - slot / 100, -128))
        set_favourite(s, 1, "drop", 2, "Airport", LatLng(-38.55, -128.06))
        set_favourite(s, 1, "pickup", 1, "Garage", LatLng(-38.5, -128))
    lobby.order()
    with lobby.desk.app.test_request_context():
        with lobby.services.db.read() as s:
            kiosk = s.get_one(Kiosk, lobby.id)
        found = favourites(kiosk)
    assert [each["name"] for each in found] == [
        "Place 1",
        "Airport",
        *(f"Place {n}" for n in (3, 4, 5, 6)),
    ]
    assert [each["minutes"] for each in found[:2]] == [None, 22]
    assert [each["sign"] for each in found[:2]] == ["", "airport"]


@pytest.mark.parametrize(
    ("name", "language", "sign"),
    [
        ("International Airport, Terminal 2", "en", "airport"),
        ("International Airport, Terminal 2", "ja", "airport"),
        ("Flughafen Nord", "de", "airport"),
        ("Gare centrale", "fr", "stations"),
        ("Hospital General", "es", "hospitals"),
        ("Museum of Modern Art", "en", "sights"),
        ("Parkside Hotel", "en", ""),
        ("Arcade", "en", ""),
        ("", "en", ""),
    ],
)
def test_the_name_of_a_place_tells_its_kind_in_the_guests_language_or_in_english(
    lobby: Lobby, name: str, language: str, sign: str
) -> None:
    with lobby.desk.app.test_request_context(), in_language(language):
        assert sign_of(name) == sign


def test_cars_stand_by_what_distinguishes_them_with_finished_words(lobby: Lobby) -> None:
    answer = lobby.cars()
    assert answer["state"] == "ok"
    assert (answer["rule"], answer["shown"]) == ("driver", 3)
    cars = {car["name"]: car for car in answer["cars"]}
    assert list(cars) == ["Mini", "SUV", "Auto"]  # Share needs a code by which the property pays
    assert cars["Mini"]["tags"] == ["cheapest", "soonest"]
    assert cars["SUV"]["tags"] == ["biggest"]
    mini = cars["Mini"]
    assert (mini["price"], mini["price_kind"], mini["minutes"]) == ("₹240", "fixed price", 3)
    assert mini["pays"] == "You pay the driver in cash."
    assert mini["fee"] == "Free to cancel for 5 min, then ₹30."
    assert mini["seats"] is None
    assert cars["SUV"]["price_kind"] == "about"
    assert cars["SUV"]["surge"] == "Busy: higher rates"
    assert cars["Auto"]["minutes"] is None
    with lobby.services.db.read() as s:
        offer = s.get_one(Offer, mini["offer"])
    assert (offer.kiosk_id, offer.staff_id, offer.property_id) == (lobby.id, None, 1)
    assert answer["meet"]["name"] == "Grand Hotel, lobby"
    assert answer["meet"]["points"] == []
    way = answer["way"]
    assert (way["width"], way["height"], len(way["start"]), len(way["end"])) == (420, 300, 2, 2)
    assert way["tiles"]


def test_the_heartbeat_contains_how_near_cars_were_a_minute_ago(lobby: Lobby) -> None:
    def soonest() -> Any:
        return lobby.client.post("/kiosk/beat", data={"screen": "start"}).get_json()["soonest_min"]

    assert soonest() is None
    lobby.cars()
    lobby.desk.now += timedelta(seconds=59)
    assert soonest() == 3
    lobby.desk.now += timedelta(seconds=2)
    assert soonest() is None


def test_the_document_starts_with_favourites(lobby: Lobby) -> None:
    with lobby.services.db.write() as s:
        set_favourite(s, 1, "drop", 1, "Botanic Garden", LatLng(-38.55, -128.06))
    page = lobby.client.get("/kiosk").text
    assert "Botanic Garden" in page
    assert "hospitals" in page, "a list of places, by the name of its words"
    assert '"tabs"' not in page, "its script has the lists"


def test_a_share_is_shown_with_a_code_by_which_the_property_pays(lobby: Lobby) -> None:
    app = lobby.services
    key = app.settings.secret_key
    paying = make_code(app.db, lobby.desk.now, key, NewCode(1, 1, house_pays=True))
    cash = make_code(app.db, lobby.desk.now, key, NewCode(1, 1))
    for code, shown in ((paying, True), (cash, False), ("000000", False), ("", False)):
        names = {car["name"]: car for car in lobby.cars(code=code)["cars"]}
        assert ("Share" in names) is shown, code
        if shown:
            seats = [
                {"people": "1 person", "seats": 1, "price": "₹96"},
                {"people": "2 people", "seats": 2, "price": "₹140"},
            ]
            assert names["Share"]["seats"] == seats
            assert names["Share"]["pays"] == "The house pays this ride."


def test_rentals_and_other_cities_are_not_shown(lobby: Lobby) -> None:
    lobby.desk.service.categories = [
        category("mini", "Mini"),
        category("outstation", "Out"),
        category("rental", "By the hour"),
    ]
    assert [car["name"] for car in lobby.cars()["cars"]] == ["Mini"]


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_citys_rental_packages_stop_the_cars_of_no_language(lobby: Lobby, code: str) -> None:
    packages = [{"hours": 4, "km": 40, "base_fare": "899"}]
    lobby.desk.service.categories.append(
        category("rental", "By the hour", sub_categories=[{"id": "mini", "packages": packages}])
    )
    assert "Mini" in [car["name"] for car in lobby.cars(lang=code)["cars"]]


def test_a_kiosk_in_a_hotspot_offers_its_points_by_name(lobby: Lobby) -> None:
    lobby.desk.service.zone = ZONE
    with lobby.services.db.write() as s:
        s.add(
            PickupHint(
                property_id=1,
                point="south gate",
                words={"en": "Behind the lifts"},
                metres=90,
                minutes=2,
                steps=False,
            )
        )
        s.add(
            PickupHint(
                property_id=1,
                kiosk_id=lobby.id,
                lat=-38.501,
                lng=-127.995,
                words={"de": "Links"},
                steps=True,
            )
        )
    meet = lobby.cars()["meet"]
    assert [point["name"] for point in meet["points"]] == ["North Gate", "South Gate"]
    assert meet["name"] == "South Gate"
    assert meet["walk"] == "Behind the lifts · 90 m on foot · 2 min on foot"
    assert (meet["steps"], meet["step_free"]) == ("no steps", True)
    north = meet["points"][0]
    assert north["walk"].startswith("about ")
    assert north["steps"] == "with steps"
    moved = lobby.cars(point="North Gate")
    assert moved["meet"]["name"] == "North Gate"
    with lobby.services.db.read() as s:
        offer = s.get_one(Offer, moved["cars"][0]["offer"])
    assert (offer.pickup_lat, offer.pickup_lng) == (-38.501, -127.995)
    assert lobby.cars(point="Nowhere Gate")["meet"]["name"] == "South Gate"


def test_the_kiosks_own_place_is_its_pickup(lobby: Lobby) -> None:
    lobby.set(lat=-38.52, lng=-128.02, place="Garden door")
    answer = lobby.cars()
    assert answer["meet"]["name"] == "Garden door"
    assert answer["meet"]["walk"] == ""


@pytest.mark.parametrize(
    ("form", "state", "headline"),
    [
        ({"drop_lat": ""}, "none", "No car goes there from here."),
        ({"drop_lat": "91"}, "none", "No car goes there from here."),
        ({"drop_name": ""}, "none", "No car goes there from here."),
        ({"visit": "x"}, "none", "No car goes there from here."),
        ({"drop_lat": "-38.5", "drop_lng": "-128"}, "none", "No car goes there from here."),
    ],
)
def test_an_impossible_trip_is_explained(
    lobby: Lobby, form: dict[str, str], state: str, headline: str
) -> None:
    answer = lobby.cars(**form)
    assert (answer["state"], answer["words"]["headline"], answer["cars"]) == (state, headline, [])


def test_without_answers_of_the_service_no_guest_reads_about_accounts(lobby: Lobby) -> None:
    lobby.desk.service.refusal = {"status": "FAILURE", "code": "INVALID_CITY", "message": "no"}
    assert lobby.cars()["words"]["headline"] == "No car can come here now."
    lobby.desk.service.refusal = None
    lobby.desk.service.down = True
    answer = lobby.cars()
    assert (answer["state"], answer["again_s"]) == ("trouble", AGAIN_S)
    assert answer["words"]["headline"] == "We can't ask for cars now."
    lobby.desk.service.down = False
    assert lobby.cars()["state"] == "ok", "the first question after it is back"


def test_twenty_lists_of_cars_a_minute(lobby: Lobby) -> None:
    answers = [lobby.cars() for _ in range(21)]
    assert [each["state"] for each in answers] == ["ok"] * 20 + ["limited"]
    assert [each.get("again_s") for each in answers[-2:]] == [None, AGAIN_S]
    assert 60 / AGAIN_S < 20, "who waits is heard again"


def test_a_property_without_a_pickup_sends_guests_to_its_staff(lobby: Lobby) -> None:
    with lobby.services.db.write() as s:
        s.get_one(Property, 1).pickup_lat = None
    assert lobby.cars()["words"]["next"] == "Please ask our staff."


def test_of_a_visit_only_counts_and_times_are_stored(lobby: Lobby) -> None:
    lobby.cars(drop_name="Secret Place")
    assert lobby.post("help", screen="car") == {"state": "asked"}
    (row,) = lobby.visits()
    assert (row.screen, row.help_at, row.ended_at) == ("car", lobby.desk.now, None)
    lobby.desk.now += timedelta(seconds=30)
    form = {"visit": lobby.visit, "how": "idle", "screen": "who", "seconds": "42", "lang": "de"}
    answer = lobby.client.post("/kiosk/end", data=form | {"aids": "large,speech,nonsense"})
    assert (answer.status_code, answer.data) == (204, b"")
    (row,) = lobby.visits()
    assert (row.how, row.screen, row.seconds, row.aids) == ("idle", "who", 42, ["large", "speech"])
    assert row.ended_at == lobby.desk.now
    assert "Secret" not in f"{row.__dict__}"
    again = lobby.client.post("/kiosk/end", data=form | {"how": "done"})
    assert again.status_code == 204
    assert lobby.visits()[0].how == "idle"  # the first end counts


def test_help_rings_again_after_an_answer(lobby: Lobby) -> None:
    lobby.post("help", screen="car")
    with lobby.services.db.write() as s:
        row = s.get_one(type(lobby.visits()[0]), lobby.visit)
        row.help_answered_at, row.help_answered_by = lobby.desk.now, 1
    lobby.desk.now += timedelta(seconds=60)
    lobby.post("help", screen="car")
    (row,) = lobby.visits()
    assert (row.help_at, row.help_answered_at) == (lobby.desk.now, None)


def test_one_guest_stands_at_a_kiosk_so_one_call_of_it_rings(lobby: Lobby) -> None:
    for _ in range(5):
        lobby.next_guest()
        lobby.post("help", screen="car")
    ringing = [row.id for row in lobby.visits() if row.ended_at is None]
    assert ringing == [lobby.visit]
    states = [lobby.post("help", screen="car")["state"] for _ in range(16)]
    assert states == ["asked"] * 15 + ["limited"]


def test_made_up_visits_fill_no_table(lobby: Lobby) -> None:
    for _ in range(80):
        lobby.next_guest()
        assert lobby.client.post("/kiosk/end", data={"visit": lobby.visit}).status_code == 204
    assert len(lobby.visits()) == 60


def test_a_kiosk_that_is_out_of_order_shows_no_cars(lobby: Lobby) -> None:
    lobby.set(out_of_order=True)
    answer = lobby.cars()
    assert (answer["state"], answer["cars"], "again_s" in answer) == ("trouble", [], False)
    assert lobby.desk.service.questions("/v1/products") == []


def test_words_are_in_the_language_that_the_guest_has_chosen(lobby: Lobby) -> None:
    german = lobby.cars(lang="de")
    assert german["cars"][0]["price"] == "240\u00a0₹"
    assert lobby.cars(lang="xx-nonsense")["cars"][0]["price"] == "₹240"


def test_no_one_else_reaches_the_routes_of_a_visit(lobby: Lobby) -> None:
    strangers = {"nobody": lobby.desk.app.test_client(), "staff": lobby.desk.client}
    for client in strangers.values():
        for what in ("cars", "order", "ride", "cancel", "help", "end"):
            assert client.post(f"/kiosk/{what}", data=DROP).status_code == 404
        assert client.get("/kiosk/places.json?q=arc").status_code == 404
    lobby.set(revoked_at=lobby.desk.now)
    assert lobby.client.post("/kiosk/cars", data=DROP).status_code == 404

"""The stage in a browser: from the sign-in to a booked ride by two presses, and its frames."""

import re
from pathlib import Path

from playwright.sync_api import Browser, FrameLocator, Page, Route, expect

from tests.e2e.conftest import Seen, watch
from tests.running import Running, running

WAIT_MS = 30_000  # an upper bound for a condition on a busy machine, never a pause


def test_stories_type_at_the_desk_press_at_the_kiosk_and_the_phone_follows(
    browser: Browser, tmp_path: Path
) -> None:
    seen, reloads = Seen(), re.compile(r"/demo/stage(\?|$)")
    with running(tmp_path / "instance") as demo:
        context = browser.new_context(
            viewport={"width": 1440, "height": 900}, base_url=demo.url, reduced_motion="reduce"
        )
        context.set_default_timeout(WAIT_MS)
        page = context.new_page()
        watch(page, (demo.url,), seen)
        page.goto("/demo/stage?story=receipt&seed=2")
        page.get_by_role("button", name="Sign in").click()
        desk, phone = (page.frame_locator(f"iframe[name={name}]") for name in ("desk", "phone"))
        expect(page.locator("[data-said]")).to_have_text("The story is ready. Press Play, or Step.")
        expect(page.locator("[data-card=title]")).to_be_hidden()  # a story was asked for
        expect(page.get_by_label("Seed")).to_be_hidden()  # what is the presenter's is in a menu
        menu(page)
        expect(page.get_by_label("Seed")).to_have_value("2")
        expect(page.get_by_role("button", name="Step", exact=True)).to_be_enabled()

        # what a user typed prevents a step, until the presenter clears it
        message = page.locator("[data-said]")
        typed = desk.locator("#guest-find")
        typed.fill("A name typed by hand")
        step(page)
        expect(message).to_have_text("Somebody has typed at the desk. The story needs its form.")
        expect(typed).to_have_value("A name typed by hand")
        page.get_by_role("button", name="Clear and go on").click()
        expect(message).to_contain_text("The desk books a Mini.", timeout=3 * WAIT_MS)
        expect(phone.locator("h1, h2").first).to_be_visible(timeout=WAIT_MS)
        expect(desk.locator(".row-link", has_text="Kestrel")).to_be_visible(timeout=WAIT_MS)
        expect(page.locator("[data-play-words]")).to_have_text("Play", timeout=WAIT_MS)
        expect(page.locator("[data-title-step]")).to_have_text("1 / 9")

        # the lens of the desk names the origin of a fact in another frame
        page.get_by_role("button", name="Lens", exact=True).click()
        expect(page.locator("iframe[name=phone]")).to_be_visible()  # the phone stays
        desk.get_by_role("button", name="Point at a fact").click()
        headline = phone.locator("[data-slot=headline]")
        headline.hover()
        expect(desk.locator("[data-lens-origin]")).to_contain_text("track_ride /booking_status")
        expect(headline).to_contain_class("is-looked-at")
        field = desk.locator('[data-answer] [data-pointer="/booking_status"]')
        expect(field).to_contain_class("is-lit")
        expect(desk.locator(".lens-made")).to_contain_text("The ride is now ALLOTMENT_PENDING.")
        desk.locator("[data-lens-close]").click()

        # a picture for the package
        menu(page)
        page.get_by_role("button", name="Take a picture for the package").click()
        expect(message).to_have_text("Picture 1 of 6 is in the package.")
        (picture,) = (demo.instance / "pictures").iterdir()
        assert picture.stat().st_size > 20_000  # an empty picture would be smaller

        # keys turn the clock while the focus is in no frame
        page.locator("[data-title]").click()
        page.keyboard.press("4")
        menu(page)
        expect(page.get_by_role("button", name="60×")).to_have_attribute("aria-pressed", "true")
        page.locator("[data-title]").click()
        page.keyboard.press(" ")
        menu(page)
        expect(page.get_by_role("button", name="Hold")).to_have_attribute("aria-pressed", "true")
        expect(message).to_have_text(re.compile("^The clock is held"))

        # another story pairs the kiosk and presses there
        page.get_by_role("button", name="End", exact=True).click()
        menu(page)
        page.get_by_label("Story").select_option("alone")
        step(page)
        kiosk = page.frame_locator("iframe[name=kiosk]")
        expect(kiosk.locator(".k-demo")).to_have_text("عرض تجريبي: ليست رحلات حقيقية")
        expect(kiosk.locator(".k-pin")).to_be_visible(timeout=3 * WAIT_MS)  # ten screens later
        expect(kiosk.locator("[data-clock]")).to_have_text("22:10")  # the story's time
        expect(desk.locator(".row-link", has_text="Lapwing")).to_have_count(1, timeout=WAIT_MS)
        expect(page.locator("[data-title-step]")).to_have_text("1 / 7", timeout=WAIT_MS)

        # a small screen shows one frame at a time
        page.set_viewport_size({"width": 390, "height": 844})
        page.get_by_role("button", name="Guest's phone").click()
        expect(page.locator("iframe[name=phone]")).to_be_visible()
        expect(page.locator("iframe[name=desk]")).to_be_hidden()
        page.set_viewport_size({"width": 1440, "height": 900})
        # a story that ends while the desk types leaves no half-filled form behind
        page.get_by_role("button", name="End", exact=True).click()
        menu(page)
        page.get_by_label("Story").select_option("receipt")
        step(page)
        expect(typed).to_have_value(re.compile("."), timeout=WAIT_MS)
        page.get_by_role("button", name="End", exact=True).click()
        expect(message).to_have_text("The story was left before its end.")
        expect(typed).to_have_value("")

        newest = re.compile("/demo/stage/newest.json")
        page.route(
            newest, lambda each: each.fulfill(status=403, json={})
        )  # another person signed in
        expect(message).to_have_text("Only managers direct a demo. Sign in as one.")
        page.unroute(newest)
        expect(message).not_to_have_text("Only managers direct a demo. Sign in as one.")
        # the user signs out and in again, and no poll meets the sign-out
        page.route(newest, lambda each: each.abort())
        context.clear_cookies()
        # the board is covered by itself; a sign-in page would have another CSRF token
        fill_in(desk, demo)
        desk.get_by_role("button", name="Sign in").click()
        expect(desk.locator("#guest-find")).to_be_visible()
        with page.expect_navigation(url=reloads):
            page.unroute(newest)
        menu(page)
        page.get_by_role("button", name="Hold").click()
        expect(message).to_have_text(re.compile("^The clock is held"))

        menu(page)
        page.get_by_label("Story").select_option("alone")
        sure = page.get_by_role("button", name="Yes, delete all rides and guests")
        expect(sure).to_be_hidden()
        page.get_by_text("Reset for the next partner").click()
        expect(message).not_to_have_text(re.compile("^All rides and guests are deleted"))
        sure.click()
        expect(message).to_have_text("All rides and guests are deleted. The demo begins anew.")
        expect(page.get_by_label("Story")).to_have_value("five")  # the first story

        context.clear_cookies()  # the user has signed out
        expect(message).to_have_text("You are signed out. Sign in again.")
        fill_in(desk, demo)
        held: list[Route] = []
        page.route(reloads, lambda each: held.append(each))  # a slow server
        with page.expect_request(reloads):
            desk.get_by_role("button", name="Sign in").click()
        for _polls in range(4):  # the board goes on polling meanwhile
            page.wait_for_event("response", lambda each: "/board.json" in each.url)
        assert len(held) == 1  # a further reload would cancel the one before
        held[0].continue_()
        # the reloaded page has new forms
        expect(message).not_to_have_text("You are signed out. Sign in again.", timeout=WAIT_MS)
        context.close()
    assert (seen.foreign, seen.errors) == ([], [])


def test_the_title_card_leads_to_a_story_that_plays_and_a_presenter_holds_it(
    browser: Browser, tmp_path: Path
) -> None:
    with running(tmp_path / "instance") as demo:
        context = browser.new_context(
            viewport={"width": 1280, "height": 720}, base_url=demo.url, reduced_motion="reduce"
        )
        context.set_default_timeout(WAIT_MS)
        page = context.new_page()
        page.goto("/demo/stage")
        page.get_by_role("button", name="Sign in").click()
        expect(
            page.get_by_role("heading", name="Every guest's ride, from one desk")
        ).to_be_visible()
        for name in ("Hold", "Seed", "Skip", "Play"):
            expect(page.get_by_text(name, exact=True)).to_be_hidden()
        said = page.locator("[data-said]")
        page.get_by_role("button", name="Play the five minutes").first.click()
        expect(page.locator("[data-card=title]")).to_be_hidden()
        expect(said).to_contain_text("The desk books a Mini.")

        # the presenter's window takes the controls from the wall, and holds the story
        window = context.new_page()
        window.goto("/demo/presenter")
        expect(window.locator("[data-prompt-say]")).to_contain_text(re.compile("Mini|booking"))
        expect(page.locator(".stage-bar")).to_be_hidden()
        expect(page.locator("[data-skip]")).to_be_hidden()
        expect(said).to_be_visible()
        window.get_by_role("button", name="Pause").click()
        expect(page.locator("[data-play-words]")).to_have_text("Play")
        expect(window.get_by_role("button", name="Play", exact=True)).to_be_visible()
        window.close()
        expect(page.locator(".stage-bar")).to_be_visible()
        context.close()


def menu(page: Page) -> None:
    """Open the presenter's menu, if it is closed."""
    if page.locator(".stage-more[open]").count() == 0:
        page.locator(".stage-more > summary").click()


def step(page: Page) -> None:
    menu(page)
    page.get_by_role("button", name="Step", exact=True).click()


def fill_in(desk: FrameLocator, demo: Running) -> None:
    form = desk.locator("form[action='/sign-in']")
    form.get_by_label("Password", exact=True).fill(demo.password)
    form.get_by_label("Name").fill(demo.name)

/** The board: one poll for the list, the map and the chosen ride, and the shortcuts for them. */

import { ageText, patternsOf, span } from "../shared/ages.js";
import { clocks, passed } from "../shared/clocks.js";
import { showBar } from "../shared/top_bar.js";
import { Known } from "./feed.js";
import { Kiosks } from "./kiosks.js";
import { RideList } from "./list.js";
import { peek } from "./peek.js";
import { Pressed } from "./pressed.js";
import { Chime } from "./sound.js";
import { onKey, opening } from "../shared/keys.js";
import { later } from "../shared/later.js";
import { noMap, openMap } from "../shared/map_frame.js";
import { clockOffset, Poller } from "../shared/poller.js";
import { rideKeys } from "../rides/keys.js";
import { isShown, setText } from "../shared/slots.js";

const EVERY_MS = 2_500;
// hidden pages poll too, because title and sound are for users who look at another window
const HIDDEN_MS = 10_000;
const TICK_MS = 1_000;
// a user who moves through the list quickly reads only rows, so no page of a ride is requested
const REST_MS = 120;
const LATE_S = 10; // four missed polls
const CLOSEST = 15; // the closest zoom of the map when it shows all cabs
const AROUND = 13; // zoom around the property while there is no cab
const root = document.querySelector("[data-board]");
const wide = matchMedia("(min-width: 48rem)"); // narrower pages show one column at a time
const patterns = patternsOf(document.body);
document.documentElement.classList.add("scripted");

class Board {
  constructor() {
    this.known = new Known();
    this.list = new RideList(root, patterns);
    this.box = root.querySelector("[data-detail]");
    const pressed = root.querySelector("[data-pressed]"); // only for users who may book
    if (pressed) new Pressed(pressed, this.list.pattern, (id) => this.list.nodes.get(id));
    this.kiosks = new Kiosks(root, {
      patterns,
      done: () => this.#acted(),
      say: (words) => this.#say(words),
    });
    const sign = root.querySelector("[data-sound-blocked]");
    this.chime = new Chime(root.dataset.sound === "1", sign);
    this.offset = 0;
    this.answeredAt = clocks();
    this.stopped = false;
    this.zoomed = false; // whether the map shows some cabs, because somebody asked for them
    this.map = this.fleet = this.draft = this.chosenMap = null; // null until the map has loaded
    this.detail = null; // null until a ride is chosen
    this.asked = null; // the ride whose page was requested
    this.fresh = null; // the ride that was just booked, until somebody works with its page
    this.unseen = null; // the same, until its row is in the list
    this.poller = new Poller(() => this.known.url(), {
      waitMs: EVERY_MS,
      hiddenMs: HIDDEN_MS,
      got: (...answer) => this.#got(...answer),
      failed: () => this.#failed(),
    });
  }

  start() {
    root.addEventListener("click", (event) => this.#click(event));
    for (const link of document.querySelectorAll(".bar-unknown"))
      link.addEventListener("click", (event) => this.#lead(event, link.hash));
    document.addEventListener("ridedash:booked", ({ detail }) => this.#booked(detail.order));
    // the map is the form's again once the next guest's trip begins
    document.addEventListener("ridedash:aim", ({ detail }) => detail.end && this.#next());
    document.addEventListener("ridedash:trip", ({ detail }) => detail.ends.length && this.#next());
    this.box.addEventListener("focusin", () => (this.fresh = null));
    root.addEventListener("focusin", () => this.fleet?.light(this.list.focused()));
    // a hidden page polls more rarely: count the time without an answer from now on
    document.addEventListener("visibilitychange", () => (this.answeredAt = clocks()));
    wide.addEventListener("change", () => (wide.matches ? this.map?.resized() : this.shut(false)));
    setInterval(() => this.#tick(), TICK_MS);
    const id = chosenIn(location);
    if (id !== null && wide.matches) this.choose(id);
    addEventListener("popstate", () => this.#turnBack());
    this.poller.start();
    this.poller.now();
    this.#startMap();
  }

  /**
   * Show a ride beside the list; resolves to its root, or to null. A window that is too narrow for
   * that column opens the ride's page.
   */
  choose(id, how = {}) {
    if (!wide.matches) {
      location.assign(`/rides/${id}${how.panel ? `#action-${how.panel}` : ""}`);
      return Promise.resolve(null);
    }
    this.#say("");
    clearTimeout(this.resting);
    if (this.known.ride !== id) this.#turnTo(id);
    if (this.asked !== id) {
      this.#address(id);
      this.poller.now();
    }
    return this.#open(id, how);
  }

  /** Move to the next ride of the list (1) or to the one before (-1), and show it. */
  step(by) {
    const id = this.list.step(by);
    if (id === null || id === this.known.ride || !wide.matches) return;
    this.#turnTo(id);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.choose(id), REST_MS);
  }

  /** Show at once what the list knows about a ride. */
  #turnTo(id) {
    this.known.choose(id);
    this.detail?.close();
    this.#mark(id);
    this.#peek(id);
  }

  #peek(id) {
    const row = this.list.nodes.get(id);
    const pattern = root.querySelector("template[data-peek]").content.firstElementChild;
    this.box.replaceChildren(...(row ? [peek(pattern, row)] : []));
  }

  #address(id) {
    this.asked = id;
    if (chosenIn(location) === id) return;
    // one entry more for all rides that are chosen one after the other: Back closes the last
    const begins = chosenIn(location) === null && !history.state?.board;
    const change = begins ? "pushState" : "replaceState";
    history[change]({ board: true }, "", id === null ? "/" : `/?ride=${id}`);
  }

  /** Show what the address says after Back or Forward. */
  #turnBack() {
    const id = chosenIn(location);
    if (id === null) this.shut();
    else if (id !== this.asked && wide.matches) this.choose(id);
  }

  async #open(id, how) {
    this.opening ??= this.#startDetail();
    try {
      await this.opening;
    } catch {
      this.opening = null;
      this.#say(root.dataset.failed);
      return null;
    }
    return this.known.ride === id ? this.detail.open(id, how) : null;
  }

  /** Close the chosen ride; the focus returns to its row. */
  shut(back = true) {
    const id = this.known.ride;
    if (id === null) return;
    clearTimeout(this.resting);
    this.known.choose(null);
    this.detail?.close();
    this.box.replaceChildren();
    this.#mark(null);
    this.#address(null);
    this.showAll();
    if (back) this.list.focus(id);
  }

  /**
   * Show the ride that a shortcut applies to: that of the row with the focus, else the chosen one.
   * Null for none, else a promise of the ride's root.
   */
  meant() {
    const id = this.list.focused() ?? this.known.ride;
    return id === null ? null : this.choose(id);
  }

  /**
   * Poll for the complete snapshot of the chosen ride, because its page may be older or newer than
   * the last poll.
   */
  #askAnew() {
    this.known.choose(this.known.ride);
    this.poller.anew();
  }

  #mark(id) {
    this.list.choose(id);
    this.fleet?.choose(id);
    this.draft?.show(id === null);
    root.classList.toggle("has-chosen", id !== null);
    this.map?.resized();
  }

  /**
   * Load the map; the list does not wait for it. When it comes, it shows all that is known and
   * chosen by then.
   */
  async #startMap() {
    const frame = root.querySelector("[data-map]");
    const parts = [import("./fleet.js"), import("./draft.js"), import("./chosen.js")];
    const [map, ...drawn] = await Promise.all([openMap(frame), ...parts]).catch((problem) => {
      noMap(frame, problem);
      return [null];
    });
    if (!map) return;
    const [{ Fleet }, { DraftTrip }, { ChosenMap }] = drawn;
    this.map = map;
    this.fleet = new Fleet(map, {
      look: (id) => this.#look(id),
      chosen: (id) => this.choose(id),
      several: (points) => this.#zoom(points),
    });
    this.draft = new DraftTrip(map, this.fleet, root.querySelector("[data-map-asks]"));
    document.dispatchEvent(new CustomEvent("ridedash:map"));
    map.onAll(() => this.showAll(true));
    new ResizeObserver(() => map.resized()).observe(frame);
    this.fleet.show(this.known.cabs);
    this.fleet.choose(this.known.ride);
    this.draft.show(this.known.ride === null);
    if (this.known.v) this.showAll();
    this.chosenMap = new ChosenMap(map, this.fleet);
    this.detail?.drawOn(this.chosenMap);
  }

  /** Load the modules that show a chosen ride. */
  async #startDetail() {
    const { Detail } = await later(() => import("./detail.js"), "ride");
    this.detail = new Detail(this.box, {
      refill,
      done: () => this.#acted(),
      mounted: () => this.#askAnew(),
      failed: () => this.#say(root.dataset.failed),
    });
    if (this.chosenMap) this.detail.drawOn(this.chosenMap);
  }

  #look(id) {
    const row = this.known.rows.get(id);
    if (!row) return { sign: "", tone: "quiet", label: "", stale: false };
    return {
      sign: row.room || initials(row.guest ?? ""), // a recovered ride has no guest
      tone: row.tone,
      label: [row.guest, row.car].filter(Boolean).join(" · "),
      moves: row.icon === "coming" || row.icon === "riding",
      eta: row.eta ?? "",
      filled: row.icon !== "coming",
      needs: row.group === "needs",
      stale: Boolean(row.seen) || this.cut,
    };
  }

  #got(body, answer) {
    this.offset = clockOffset(answer, this.offset);
    this.answeredAt = clocks();
    if (body) this.#show(body, answer);
    else this.detail?.take(null, answer);
    this.#tick();
    return EVERY_MS;
  }

  #show(body, answer) {
    const first = this.known.v === "";
    this.list.show(...this.#rows(body));
    if (this.list.reveal(this.unseen)) this.unseen = null;
    const { rows } = this.known;
    document.dispatchEvent(new CustomEvent("ridedash:rows", { detail: { rows } }));
    if (body.cabs || body.rows.length) this.fleet?.show(this.known.cabs);
    if (first || this.#hasLeft()) this.showAll();
    this.detail?.take(body.ride ?? null, answer);
    if (body.forgotten) this.#forget(body.forgotten);
    this.stopped = Boolean(body.bar.stopped || body.bar.silent);
    this.#showBar(body.bar);
    document.title = (body.needs ? `(${body.needs}) ` : "") + root.dataset.title;
    const asking = this.known
      .list()
      .filter((row) => row.group === "needs" || row.group === "unknown");
    this.chime.hear([
      ...asking.map((row) => `${row.id}`),
      ...(body.bar.alerts ?? []).map((each) => each.name),
      ...(body.bar.calls ?? []).map((each) => each.name),
    ]);
  }

  /** Update the parts above the rows: bands, alerts, cards of guests who call. */
  #showBar(facts) {
    const key = JSON.stringify(facts);
    if (key === this.shownBar) return;
    this.shownBar = key;
    this.list.change("bar", () => {
      showBar(facts);
      this.#alerts(facts.alerts ?? []);
      this.kiosks.show(facts.calls ?? []);
      this.kiosks.tick(Date.now() + this.offset); // ages may add a line to a card
    });
  }

  /** A restored database does not have the chosen ride: nothing can be done with it here. */
  #forget(words) {
    this.shut(false);
    this.#say(words);
  }

  #rows(body) {
    const changed = this.known.take(body);
    return [this.known.list(), changed];
  }

  #failed() {
    this.detail?.miss();
  }

  /** Poll at once after an action; what it moves need not wait. */
  #acted() {
    this.list.hold.release();
    this.poller.now();
  }

  /** Show what was just booked, without the focus: the form is typed into for the next guest. */
  #booked(id) {
    this.#acted();
    if (!wide.matches) return;
    this.choose(id);
    this.fresh = this.unseen = id;
  }

  /** Close what was just booked, unless somebody has worked with its page. */
  #next() {
    if (this.fresh !== null && this.fresh === this.known.ride) this.shut(false);
    this.fresh = null;
  }

  /**
   * Show all cabs and the property on the map: if the user asks for this (`byUser`), or if no ride
   * is chosen.
   */
  showAll(byUser = false) {
    this.zoomed = false;
    const points = this.known.cabs.map(([, lat, lng]) => [lat, lng]);
    const maxZoom = points.length ? CLOSEST : AROUND;
    const home = this.map?.home;
    if (home) points.push([home.lat, home.lng]);
    if (byUser || this.known.ride === null)
      this.map?.fit(points, { animate: false, maxZoom, asked: byUser });
  }

  /** Show cabs that cover each other on the map; those at one place are in the list. */
  #zoom(points) {
    this.zoomed = true;
    this.map.fit(points, { animate: false, asked: true });
  }

  /** Whether a cab is outside of the map that shows all cabs. */
  #hasLeft() {
    if (!this.map || this.known.ride !== null || this.zoomed || this.draft.ends.length)
      return false;
    return this.known.cabs.some(([, lat, lng]) => !this.map.shows(lat, lng));
  }

  #alerts(alerts) {
    const box = root.querySelector("[data-alerts]");
    const key = JSON.stringify(alerts);
    if (
      box.dataset.key === key ||
      (box.dataset.key === undefined && box.children.length === alerts.length)
    )
      return void (box.dataset.key = key);
    box.dataset.key = key;
    const pattern = root.querySelector("template[data-alert]").content.firstElementChild;
    box.replaceChildren(
      ...alerts.map((alert) => {
        const node = pattern.cloneNode(true);
        for (const cell of node.querySelectorAll("[data-cell]"))
          cell.textContent = alert[cell.dataset.cell];
        const link = node.querySelector("a");
        link.hidden = !alert.href;
        if (alert.href) link.href = alert.href;
        return node;
      }),
    );
  }

  #tick() {
    this.list.tick(Date.now() + this.offset);
    this.kiosks.tick(Date.now() + this.offset);
    if (this.box.querySelector(".peek:not(:focus-within)")) this.#peek(this.known.ride);
    const quietS = passed(this.answeredAt) / 1000;
    const cut = quietS > LATE_S || !navigator.onLine;
    const chip = root.querySelector("[data-live-chip]");
    chip.classList.toggle("is-cut", cut || this.stopped);
    let words = root.dataset.live;
    if (cut) words = root.dataset.away;
    else if (this.stopped) words = root.dataset.stopped;
    const age = cut ? span(quietS) : ageText(quietS, patterns);
    setText(chip.querySelector("[data-live-text]"), words.replace("{age}", age));
    chip.title = cut ? root.dataset.cut.replace("{age}", age) : "";
    if (cut !== this.cut) this.fleet?.redraw();
    this.cut = cut;
    root.classList.toggle("is-cut", cut);
  }

  #click(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest("[data-shut]")) return void this.shut();
    const offered = event.target.closest(".row-do");
    const row = event.target.closest(".row[data-id]");
    if (!row) return;
    const id = Number(row.dataset.id);
    // read from the link in the row: the first poll may not be answered yet
    if (offered) this.#do(event, id, offered.dataset);
    else if (wide.matches) {
      event.preventDefault();
      this.choose(id, { focus: byKey(event) });
    }
  }

  /** Do the suggested action on this page if possible; otherwise follow its link. */
  #do(event, id, { what, on }) {
    if (what === "open" && wide.matches) opening(this.choose(id, { panel: on, focus: true }));
    else if (what === "seen") this.#acknowledge(id, on);
    else if (what !== "again" || !refill(id, "again")) return;
    event.preventDefault();
  }

  /** Go to a part of the list without reloading the page. */
  #lead(event, part) {
    if (event.ctrlKey || event.metaKey || !isShown(root.querySelector(".list-body"))) return;
    event.preventDefault();
    this.list.hold.release();
    location.hash = part;
  }

  async #acknowledge(id, item) {
    const csrf = document.querySelector('meta[name="csrf-token"]').content;
    const body = new URLSearchParams({ item, csrf_token: csrf });
    const answer = await fetch(`/rides/${id}/acknowledge`, {
      method: "POST",
      body,
      credentials: "same-origin",
    }).catch(() => null);
    this.#say(answer?.ok ? "" : root.dataset.failed);
    this.#acted();
  }

  #say(words) {
    setText(root.querySelector("[data-list-said]"), words);
  }
}

/** The ride that an address of the board chooses, or null. */
function chosenIn({ search }) {
  return Number(new URLSearchParams(search).get("ride")) || null;
}

/** Fill the booking form beside the list from an order; false when there is no form. */
function refill(order, how) {
  if (!isShown(root.querySelector("[data-desk-new]"))) return false;
  document.dispatchEvent(new CustomEvent("ridedash:refill", { detail: { order, how } }));
  return true;
}

/** The first letters of the first two words of a name. */
function initials(name) {
  const words = name.split(/\s+/).filter(Boolean).slice(0, 2);
  return words.map((word) => [...word][0].toUpperCase()).join("");
}

/** Whether Enter caused a click: its detail is 0 (not in Firefox), or it has no pointer type. */
function byKey(event) {
  return event.detail === 0 || event.pointerType === "";
}

const board = new Board();
onKey("j", () => board.step(1));
onKey("k", () => board.step(-1));
onKey("m", () => board.showAll(true));
onKey("Escape", () => board.shut());
rideKeys(() => board.meant());
board.start();

/** One ride on a page: shows each snapshot, moves the cab, and updates ages and countdowns. */

import { ageText, freshness, patternsOf, span, timerText } from "../shared/ages.js";
import { Cab } from "../shared/cab.js";
import { clocks, passed } from "../shared/clocks.js";
import { clockOffset } from "../shared/poller.js";
import { ActionPanels } from "./actions.js";
import { hideCode, watchCode } from "./start_code.js";
import { Driven } from "./driven.js";
import { DropForm } from "./drop.js";
import { watchLinks } from "./share.js";
import { ToGuest } from "./to_guest.js";
import { watchCopies } from "../shared/copy.js";
import { RideSlots, setText } from "../shared/slots.js";

const TICK_MS = 500;
const MISSED_MS = 7_000; // a page polls at least every five seconds
const SILENT_MS = 12_000;

export class RideView {
  /**
   * `root` is a rendered ride. `headers` are sent with each request for its panels.
   * `changed(snapshot)` is called after a snapshot, or another name of the guest, was shown.
   */
  constructor(root, { headers = {}, changed = () => {} } = {}) {
    this.root = root;
    this.map = null;
    this.changed = changed;
    this.points = JSON.parse(this.root.querySelector("[data-points]").textContent);
    this.patterns = patternsOf(document.body);
    this.snapshot = this.points.snapshot;
    this.offset = Date.parse(this.root.dataset.serverNow) - Date.now();
    this.seenAt = Date.parse(this.root.dataset.seen);
    this.intervalMs = Number(this.root.dataset.interval);
    this.slots = new RideSlots(root);
    this.cab = new Cab(null);
    this.answeredAt = clocks(); // when our own server last answered
    this.missed = 0;
    this.cabAt = 0; // when the position last changed
    // the address of the ride's page, also after a form came back with an error
    this.address = `/rides/${this.root.dataset.ride}`;
    this.driven = new Driven(this.address);
    this.ending = new AbortController();
    this.panels = new ActionPanels(root, this.address, this.snapshot, () => this.#dropForm(), {
      headers,
      signal: this.ending.signal,
      named: (part) => this.#named(part),
    });
  }

  start() {
    const { signal } = this.ending;
    this.root.addEventListener("submit", (event) => this.#holdBack(event), { signal });
    // a hidden page polls rarely, or not at all: it has missed positions
    document.addEventListener("visibilitychange", () => this.#awake(), { signal });
    watchCode(this.root);
    this.toGuest = new ToGuest(this.root, () => hideCode(this.root));
    watchLinks(this.root);
    watchCopies(this.root);
    this.#dropForm();
    this.#tick();
    this.timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /**
   * Draw on `map` from now on: a RideMap, or a ChosenMap of the board. `asked`: whether a person
   * has just chosen this ride.
   */
  drawOn(map, { asked = true } = {}) {
    this.map = map;
    this.cab = new Cab(map);
    this.driven.drawOn(map);
    this.drop?.pickOn(map);
    this.#drawTrip({ asked });
    this.#moveCab(0);
  }

  /** Stop, because another ride replaces this one. */
  end() {
    this.ending.abort();
    this.toGuest.end();
    this.driven.end();
    clearInterval(this.timer);
    hideCode(this.root);
    this.cab.remove();
  }

  /** Show all of the ride on the map, because a person asks for it. */
  showAll() {
    this.#drawTrip({ asked: true });
  }

  #awake() {
    this.answeredAt = clocks();
    this.driven.gap();
  }

  #now() {
    return Date.now() + this.offset;
  }

  /**
   * Apply an answer of our server: a snapshot, or null when it is unchanged. The answer's header
   * X-Seen-At says when the ride service last answered a poll of this ride.
   */
  take(body, answer) {
    this.offset = clockOffset(answer, this.offset);
    const seen = Date.parse(answer.headers.get("X-Seen-At") ?? "");
    if (Number.isFinite(seen)) this.seenAt = seen;
    this.answeredAt = clocks();
    this.missed = 0;
    if (body) this.#take(body);
    this.panels.follow(this.snapshot);
    this.#tick();
  }

  /** Count a failed poll. */
  miss() {
    this.missed += 1;
    this.driven.gap();
  }

  #take(body) {
    const before = this.snapshot;
    this.snapshot = body;
    this.root.toggleAttribute("data-held", Boolean(body.held));
    this.intervalMs = body.poll_ms;
    this.slots.paint(body);
    if (!body.otp) hideCode(this.root);
    if (
      JSON.stringify(before.drop) !== JSON.stringify(body.drop) ||
      JSON.stringify(before.route) !== JSON.stringify(body.route)
    )
      this.#drawTrip({ fit: false });
    // request the last points of the path, because polls may have missed some
    if (before.live && !body.live) this.driven.gap();
    this.#moveCab(body.poll_ms);
    if (before.live && !body.live) this.#drawTrip();
    if (before.booking_status !== body.booking_status || before.order_state !== body.order_state)
      document.getElementById("said")?.remove();
    this.changed(body);
  }

  #drawTrip({ fit = true, asked = false } = {}) {
    if (!this.map) return;
    const { drop, position, route = [] } = this.snapshot;
    this.map.pin("pickup", this.points.pickup.lat, this.points.pickup.lng, this.points.pickup.name);
    if (drop) this.map.pin("drop", drop.lat, drop.lng, drop.name);
    this.map.clearStops();
    const path = route.length ? route : [this.points.pickup, drop].filter(Boolean);
    this.map.hint(path.map(({ lat, lng }) => [lat, lng]));
    for (const stop of route)
      this.map.pin(
        stop.state === "drop" ? "stop-drop" : "stop-pickup",
        stop.lat,
        stop.lng,
        stop.name ?? "",
      );
    const all = [this.points.pickup, drop, position]
      .filter(Boolean)
      .map(({ lat, lng }) => [lat, lng]);
    if (fit) this.map.fit(all, { animate: false, asked });
  }

  #moveCab(ms) {
    const position = this.snapshot.position;
    this.cab.to(position, position && this.#glideMs(position, ms));
    this.cab.say(this.snapshot.eta ?? "");
    this.driven.take(this.snapshot, this.cab.moves);
    if (this.map && position) this.#keepInView(position);
  }

  /**
   * The duration of the motion: the time since the last position, but at least one poll interval
   * and at most two, so that the marker neither waits nor jumps.
   */
  #glideMs({ lat, lng }, ms) {
    const key = `${lat},${lng}`;
    if (key === this.cabKey) return ms;
    const took = Date.now() - this.cabAt;
    this.cabKey = key;
    this.cabAt = Date.now();
    return Math.min(Math.max(took, ms), 2 * ms);
  }

  #keepInView(position) {
    if (this.map.shows(position.lat, position.lng)) return;
    const { drop, booking_status: status } = this.snapshot;
    const other = status === "IN_PROGRESS" && drop ? drop : this.points.pickup;
    this.map.fit([
      [position.lat, position.lng],
      [other.lat, other.lng],
    ]);
  }

  #tick() {
    this.#tickAge();
    if (!this.cab.moves) this.driven.arrive();
    const timer = this.root.querySelector('[data-slot="timer"]');
    if (this.snapshot.timer) setText(timer, timerText(this.snapshot.timer, this.#now()));
    const was = this.snapshot.cab?.was_until;
    if (was && this.#now() > Date.parse(was))
      this.root.querySelector('[data-show="cab.was"]').hidden = true;
    this.#tickFee();
    this.#tickUndo();
  }

  /** Show the seconds in which the last press can be taken back. */
  #tickUndo() {
    const { undo } = this.snapshot;
    if (!undo) return;
    const left = Math.ceil((Date.parse(undo.until) - this.#now()) / 1000);
    const form = this.root.querySelector("[data-undo]");
    form.setAttribute("action", `${this.address}/${undo.act}`);
    form.hidden = left <= 0;
    setText(form.querySelector("[data-undo-left]"), left > 0 ? span(left) : "");
  }

  #tickAge() {
    const ageS = (this.#now() - this.seenAt) / 1000;
    const live = Boolean(this.snapshot.live);
    const how =
      live && this.snapshot.booking_status ? freshness(ageS, this.intervalMs / 1000) : "fresh";
    const known = Number.isFinite(ageS);
    const age = known ? ageText(ageS, this.patterns) : "";
    const cut = this.#tickCut(age);
    const late = how === "stale" || how === "lost" || cut;
    const look = cut && how !== "lost" ? "stale" : how;
    for (const name of ["fresh", "aging", "stale", "lost"])
      this.root.classList.toggle(`is-${name}`, name === look);
    const pattern = late ? this.root.dataset.stale : this.root.dataset.updated;
    const text = known ? pattern.replace("{age}", age) : this.root.dataset.never;
    for (const chip of this.root.querySelectorAll("[data-freshness]")) {
      chip.hidden = !live || !this.snapshot.booking_status;
      setText(chip.querySelector("[data-freshness-text]"), text);
    }
    this.cab.stale(late);
    const band = this.root.querySelector("[data-lost-band]");
    band.hidden = how !== "lost";
    if (how === "lost")
      setText(band.querySelector("[data-lost-text]"), this.root.dataset.lost.replace("{age}", age));
  }

  /**
   * Whether our own server is silent; shows that beside the headline, because the state may be
   * outdated.
   */
  #tickCut(age) {
    const silentMs = passed(this.answeredAt);
    const cut =
      !this.snapshot.stop &&
      !document.hidden &&
      (silentMs > SILENT_MS || (this.missed > 0 && silentMs > MISSED_MS));
    const line = this.root.querySelector("[data-cut]");
    line.hidden = !cut;
    if (cut)
      setText(
        line.querySelector("[data-cut-text]"),
        this.root.dataset.cutOff.replace("{age}", age || ageText(silentMs / 1000, this.patterns)),
      );
    return cut;
  }

  /**
   * Keep a form from being sent while our server is silent: the page and the typed text would be
   * lost.
   */
  #holdBack(event) {
    const line = this.root.querySelector("[data-cut]");
    if (line.hidden) return;
    event.preventDefault();
    line.scrollIntoView({ block: "nearest" });
  }

  #tickFee() {
    const fee = this.root.querySelector("[data-fee]");
    const from = Date.parse(this.snapshot.fee_from ?? "");
    if (!fee || !Number.isFinite(from)) return;
    const left = ((from - this.#now()) * (this.snapshot.speed ?? 1)) / 1000;
    fee.classList.toggle("is-late", left <= 0);
    setText(
      fee.querySelector("[data-fee-text]"),
      left > 0 ? fee.dataset.feeFree.replace("{down}", span(left)) : fee.dataset.feeLate,
    );
  }

  /** A part that names the guest is new. */
  #named(part) {
    if (part.matches("[data-out]")) watchLinks(this.root);
    this.changed(this.snapshot);
  }

  #dropForm() {
    const form = this.root.querySelector("[data-drop]");
    if (!form || form.dataset.ready) return;
    this.drop = new DropForm(form, () => this.snapshot.drop);
    if (this.map) this.drop.pickOn(this.map);
  }
}

/**
 * The guest's page behind a link: polls its snapshot, shows the texts, moves the cab. The server
 * words all texts.
 */

import { ageText, freshness, patternsOf } from "../shared/ages.js";
import { Cab } from "../shared/cab.js";
import { openMap } from "../shared/map_frame.js";
import { clockOffset, Poller } from "../shared/poller.js";
import { at, paintBill, setIcon, setText, tel } from "../shared/slots.js";

const TICK_MS = 1_000; // how often the ages on the page are updated
const SILENT_MS = 15_000; // after this time without an answer the page says that it is disconnected
const AGAIN_MS = 2_000; // wait after a first 404 before the check is repeated
const root = document.querySelector("[data-guest]");
const patterns = patternsOf(document.body);

class GuestPage {
  constructor() {
    this.snapshot = JSON.parse(root.querySelector("[data-points]").textContent).snapshot;
    this.offset = Date.parse(root.dataset.serverNow) - Date.now();
    this.seenAt = Date.parse(root.dataset.seen);
    this.lastAnswerAt = Date.now();
    this.missing = 0; // 404 answers since the last good answer
    this.card = root.querySelector("[data-map-card]");
    this.map = null;
    this.drawnStatus = undefined; // the status of the ride when the map was last drawn
    this.cab = new Cab(null);
    this.poller = new Poller(`${root.dataset.address}/snapshot.json`, {
      waitMs: this.snapshot.poll_ms,
      got: (body, answer) => this.#got(body, answer),
      failed: (status) => this.#failed(status),
    });
  }

  start() {
    this.#focusLanguage();
    root.querySelector("[data-ready]")?.addEventListener("submit", ({ target }) => {
      const button = target.querySelector("button");
      // after the form is sent, so that it can't be sent twice
      setTimeout(() => (button.disabled = true));
    });
    // a hidden page does not poll: the silence counts from when it is visible again
    document.addEventListener("visibilitychange", () => (this.lastAnswerAt = Date.now()));
    addEventListener("pageshow", (event) => event.persisted && location.reload());
    this.#draw();
    if (this.card) openMap(this.card.querySelector("[data-map]")).then((map) => this.#drawOn(map));
    this.#tick();
    setInterval(() => this.#tick(), TICK_MS);
    if (!this.snapshot.stop) this.poller.start();
  }

  /** After a choice of language, put the focus on that language again. */
  #focusLanguage() {
    if (!location.hash.startsWith("#lang-")) return;
    document.getElementById(location.hash.slice(1))?.focus();
    history.replaceState(history.state, "", location.pathname + location.search);
  }

  /** Draw on the map once it has loaded; without a map, remove its card. */
  #drawOn(map) {
    this.map = map;
    this.cab = new Cab(map);
    if (map) this.#draw(true);
    else this.card.remove();
  }

  #got(body, answer) {
    this.offset = clockOffset(answer, this.offset);
    const seen = Date.parse(answer.headers.get("X-Seen-At") ?? "");
    if (Number.isFinite(seen)) this.seenAt = seen;
    this.lastAnswerAt = Date.now();
    this.missing = 0;
    if (body) this.#changed(body);
    this.#tick();
    return this.snapshot.stop ? null : this.snapshot.poll_ms;
  }

  /**
   * Reload when the link has ended. A single 404 may come from another program, so the request is
   * repeated first.
   */
  #failed(status) {
    if (status !== 404) return undefined;
    this.missing += 1;
    if (this.missing === 1) {
      setTimeout(() => this.poller.now(), AGAIN_MS);
      return undefined;
    }
    location.reload();
    return "stop";
  }

  #changed(body) {
    const steps = (this.snapshot.steps ?? []).length;
    const ready = JSON.stringify(this.snapshot.ready);
    this.snapshot = body;
    // Reload if the start button changes: the ride no longer waits for it, or the last press
    // ordered nothing.
    if (JSON.stringify(body.ready) !== ready) return void location.reload();
    // Reload for another number of steps, because their markup differs.
    if ((body.steps ?? []).length !== steps) return void location.reload();
    for (const slot of root.querySelectorAll("[data-slot]"))
      this.#fill(slot, at(body, slot.dataset.slot) ?? "");
    for (const part of root.querySelectorAll("[data-show]"))
      part.hidden = !part.dataset.show.split(" ").some((name) => at(body, name));
    this.#tone(body.tone);
    setIcon(root.querySelector("[data-icon]"), body.icon);
    this.#steps(body.steps ?? []);
    paintBill(root, body.invoice);
    const call = root.querySelector("[data-call]");
    if (call) {
      call.hidden = !body.driver_phone;
      call.href = tel(body.driver_phone);
    }
    this.#draw();
  }

  #fill(slot, value) {
    const name = slot.dataset.slot;
    if (name === "drop.name" && !value) return; // the words for "no drop" stay
    if (name === "plate")
      slot.setAttribute("aria-label", slot.dataset.spoken.replace("{plate}", spelled(value)));
    if (name === "code") slot.setAttribute("aria-label", spelled(value));
    if (name === "plate" || name === "detail") slot.hidden = !value;
    setText(slot, value || slot.dataset.usual || "");
  }

  #tone(tone) {
    const card = root.querySelector("[data-tone]");
    for (const name of [...card.classList].filter((known) => known.startsWith("tone-")))
      card.classList.remove(name);
    card.classList.add(`tone-${tone}`);
  }

  #steps(steps) {
    [...root.querySelectorAll("[data-steps] > li")].forEach((item, i) => {
      const [state, time] = steps[i];
      if (item.classList.contains(`is-${state}`))
        return void setText(item.querySelector(".guest-step-time"), time);
      item.className = `guest-step middle grid gap-3 faint is-${state}`;
      if (state === "now") item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
      setText(item.querySelector(".guest-step-time"), time);
      item.querySelector(".step-dot").replaceChildren(...(state === "done" ? [checkIcon()] : []));
    });
  }

  #draw(first = false) {
    if (!this.card) return;
    const { pickup, drop, position } = this.snapshot;
    const shown = [pickup, drop, position].filter(Boolean);
    const opened = (first || this.card.hidden) && shown.length > 0;
    this.card.hidden = shown.length === 0;
    if (!this.map) return;
    if (opened) this.map.resized();
    const riding = this.snapshot.status === "IN_PROGRESS";
    if (pickup && !riding) this.map.pin("pickup", pickup.lat, pickup.lng, pickup.name);
    else this.map.unpin("pickup");
    if (drop) this.map.pin("drop", drop.lat, drop.lng, drop.name);
    else this.map.unpin("drop");
    this.cab.to(position, this.snapshot.poll_ms);
    const advanced = this.drawnStatus !== this.snapshot.status;
    this.drawnStatus = this.snapshot.status;
    if (opened || advanced || (position && !this.map.shows(position.lat, position.lng)))
      this.#fit(this.#ahead());
  }

  /** The two positions between which the ride is now. */
  #ahead() {
    const { pickup, drop, position, status } = this.snapshot;
    if (status === "IN_PROGRESS") return [drop, position];
    return position ? [pickup, position] : [pickup, drop];
  }

  #fit(points) {
    this.map.fit(
      points.filter(Boolean).map(({ lat, lng }) => [lat, lng]),
      { animate: false },
    );
  }

  #tick() {
    const ageS = (Date.now() + this.offset - this.seenAt) / 1000;
    const known = Number.isFinite(ageS);
    const silent =
      !this.snapshot.stop && !document.hidden && Date.now() - this.lastAnswerAt > SILENT_MS;
    let look = "fresh";
    if (this.snapshot.live && known) look = freshness(ageS, this.snapshot.poll_ms / 1000);
    if (silent && look !== "lost") look = "stale";
    for (const name of ["fresh", "aging", "stale", "lost"])
      root.classList.toggle(`is-${name}`, name === look);
    root.querySelector("[data-age-line]").hidden = !this.snapshot.live || this.snapshot.unasked;
    const old = look === "stale" || look === "lost";
    let pattern = old ? root.dataset.stale : root.dataset.updated;
    if (silent) pattern = root.dataset.cutOff;
    setText(
      root.querySelector("[data-age-text]"),
      known ? pattern.replace("{age}", ageText(ageS, patterns)) : root.dataset.never,
    );
    this.cab.stale(old);
  }
}

/** A plate or a code with blanks between its characters, so that it is read out one by one. */
function spelled(text) {
  return [...text.replaceAll(/[ …]/g, "")].join(" ");
}

/** The check mark of a step that is done. */
function checkIcon() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "icon");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", root.dataset.check);
  svg.append(use);
  return svg;
}

new GuestPage().start();

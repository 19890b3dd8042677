/** Two screens: the ticket after booking, and a ride that was found by number and PIN. */

import { ageText } from "../shared/ages.js";
import { spokenMeet, wayTo } from "./cars.js";
import { apart, beneath, control, fact, from, icon, lines, make, qrCode, spelled } from "./el.js";
import { fitMap, mapBox } from "./maps.js";

const LAST_S = 20;
/** Phases of a ride whose own headline matters most; its guest has left the meeting place. */
const LEADS = new Set(["planned", "unknown", "coming", "aboard", "over"]);
const LEFT = new Set(["aboard", "over"]);
const AGES = new Set(["ticket", "ride"]); // looks of the screens whose facts grow old

/**
 * The ticket: all that is needed to find the car, as long as there is a ride. The visit ends by
 * itself after a while.
 */
export function booked(k) {
  const { visit } = k;
  const { number, pin = "" } = visit.ride;
  const { phase, lost } = visit.view ?? {};
  if (phase === "none" || lost) return noRide(k);
  const where = LEFT.has(phase) ? null : visit.answer?.meet;
  const { lead, live, said } = headlines(k);
  const code = visit.ride.qr ? follow(k, visit.ride) : null;
  const map = k.crowded || !where ? null : mapBox(k, visit.ride.map, k.t("map"));
  const facts = { lead, live, code, map, meet: where ? meetLine(k, where) : null };
  return {
    question: k.t("ride", { number }),
    from: "number",
    ticket: number,
    facts: ticketFacts(k, facts).filter(Boolean),
    controls: [beside(k) ? code : null, countdown(k), ticketDeeds(k)],
    look: "ticket",
    placed: () => fitMap(k, map),
    spoken: () => [
      said[0],
      k.t("spoken_pin", { digits: apart(pin) }),
      k.t("pin_why"),
      spokenMeet(k, where),
      said[1],
      ...spokenPlate(k),
      ...spokenPay(k),
    ],
  };
}

/**
 * The nodes of a ticket in their order: once its plate is known, what finds the car comes first; a
 * crowded screen has the explanations on its last page.
 */
function ticketFacts(k, { lead, live, code, map, meet }) {
  const pin = ticketPin(k, k.visit.ride.pin ?? "");
  const parts = make("div", "line k-ticket gap-4", pin, beside(k) ? null : code);
  const plate = plateOf(k);
  const top = [ageLine(k), heldLine(k), ...lead];
  const end = [dropLine(k), ...payOf(k)];
  if (k.crowded) return [...top, parts, plate, ...live, meet, ...end, ...besideCode(k, code)];
  if (plate) return [...top, ...live, plate, parts, meet, map, ...end];
  return [...top, parts, meet, map, ...live, ...end];
}

/** Whether the QR code is above the buttons, and not beside the PIN. */
function beside(k) {
  return k.measures.layout === "landscape";
}

function ticketDeeds(k) {
  const done = control("done", "k-button k-main", () => k.end("done"), k.t("done"));
  const print = control("print", "k-button", () => globalThis.print(), icon("note"), k.t("print"));
  const prints = k.data.kiosk.printer && !LEFT.has(k.visit.view?.phase);
  return make("div", "wrap k-deeds", prints ? print : null, done);
}

/**
 * The ticket once there is no ride any more, or once our server has lost it (`lost`): what happened
 * and what to do. A lost ride may still come, so its guest keeps the meeting place and the plate,
 * and asks the desk.
 */
function noRide(k) {
  const { visit } = k;
  const { view } = visit;
  const where = view.lost && !LEFT.has(view.phase) ? visit.answer?.meet : null;
  const buttons = [control("done", "k-button", () => k.end("done"), k.t("done"))];
  const drop = visit.drop ?? view.trip;
  const again = () => {
    if (!visit.drop) visit.choose(drop);
    k.askCars();
  };
  if (!view.lost && !view.replaced && drop)
    buttons.push(control("again", "k-button k-main", again, k.t("other_cars")));
  const number = visit.ride?.number ?? `K${visit.number}`;
  const facts = [
    make("p", "k-lead num", from("number", fact(k.t("ride", { number })))),
    beneath(k.english(headline(k))),
    ...lines(k, detailOf(k)),
    ...payOf(k),
    where ? meetLine(k, where) : null,
    view.lost ? plateOf(k) : null,
    k.crowded ? null : k.deskPhone,
  ];
  return {
    question: headline(k),
    from: "headline",
    ticket: number,
    facts: facts.filter(Boolean),
    controls: [countdown(k), make("div", "wrap k-deeds", ...buttons)],
    look: view.lost ? "unknown" : "sorry",
    spoken: () => [detailOf(k), spokenMeet(k, where)],
  };
}

/**
 * The two lines about the ride: what matters most, and what is new; `said` has both as they are
 * read aloud. While a driver is looked for, it matters most that the ride is booked; later what the
 * driver does.
 */
function headlines(k) {
  const { phase, icon: name, tone } = k.visit.view ?? {};
  const first = headline(k);
  const detail = detailOf(k);
  if (LEADS.has(phase))
    return { lead: leadOf(k, first, name, tone), live: lines(k, detail), said: [first, detail] };
  const live = make(
    "p",
    `line strong k-live is-${tone || "info"}`,
    icon(name || "search"),
    from("headline", make("span", "", first)),
  );
  live.setAttribute("role", "status");
  const news = [live, beneath(k.english(first))];
  // a shared ride has no booking before its driver is found
  if (phase === "open") return { lead: [], live: news, said: ["", first] };
  const done = make(
    "p",
    "k-lead line strong k-booked",
    icon("done"),
    make("span", "", k.t("booked")),
  );
  return { lead: [done], live: news, said: [k.t("booked"), first] };
}

/**
 * How much the ride costs, and who pays it: a line, with its English below. Until the first answer
 * about the ride, these are the words of the car that was ordered, from the same table.
 */
function payOf(k) {
  const { price, pays } = paid(k);
  if (!price && !pays) return [];
  const line = make(
    "p",
    "k-lead wrap k-pay",
    price ? from("price", fact(price, "num")) : null,
    pays ? from("pays", fact(pays)) : null,
  );
  return [line, beneath(k.english(pays))];
}

function paid({ visit }) {
  return visit.view ?? { price: visit.price, pays: visit.car?.pays };
}

function spokenPay(k) {
  const { price, pays } = paid(k);
  return [price, pays].filter(Boolean);
}

/** The line for the state of the ride, in its tone, with its English below. */
function leadOf(k, text, name, tone) {
  const line = make(
    "p",
    `k-lead line strong k-booked is-${tone || "info"}`,
    icon(name || "info"),
    from("headline", make("span", "", text)),
  );
  line.setAttribute("role", "status");
  return [line, beneath(k.english(text))];
}

function detailOf(k) {
  return k.visit.view?.detail ?? "";
}

/**
 * The sentences that describe the car for a person who looks for it: the plate that is no longer
 * right, if any, the plate, both letter by letter, and the model. An empty list while no plate is
 * known, and for the plate `known`, which the guest has already heard.
 */
export function spokenPlate(k, known = "") {
  const { plate, old_plate: before, car } = k.visit.view ?? {};
  if (!plate || plate === known) return [];
  const gone = before ? k.t("old_plate", { plate: apart(before) }) : "";
  return [gone, `${k.t("plate")} ${apart(plate)}`, car].filter(Boolean);
}

function ticketPin(k, pin) {
  return make(
    "div",
    "stack k-ticket-pin gap-1",
    make("span", "secondary k-label", k.t("pin")),
    from("pin", spelled(pin, "k-pin num", k.t("pin"))),
    make("span", "secondary k-why plain", k.t("pin_why")),
    printedDrop(k),
  );
}

/** The explanations of PIN and QR code as separate lines for a crowded screen; not on paper. */
function besideCode(k, code) {
  const texts = [k.t("pin_why"), code ? k.t("scan") : ""];
  return texts.filter(Boolean).map((text) => make("p", "k-lead no-print", text));
}

/** The QR code with which a phone follows the ride, and its address to type. */
function follow(k, { qr, short }) {
  return make(
    "div",
    "k-qr-box grid gap-1 rigid",
    from("link", qrCode(qr, k.t("scan"))),
    make("span", "k-small", k.t("scan")),
    short ? make("span", "k-small mono", short) : null,
  );
}

/** The present headline of the ride that was just booked; before its first update: "finding". */
function headline(k) {
  return k.visit.view?.headline || k.t("finding");
}

/** In a demo whose clock is stopped: a line that says so, and that the car stands still. */
function heldLine(k) {
  const { held } = k.visit.view ?? {};
  if (!held) return null;
  const line = make("p", "k-held", icon("waiting"), make("span", "", held));
  line.setAttribute("role", "status");
  return line;
}

/** While our server does not answer: a line with the age of the ride's facts. */
function ageLine(k) {
  if (!k.booking.ageS) return null;
  const words = make("span", "", ageWords(k));
  words.dataset.age = "";
  return make("p", "k-held", icon("offline"), words);
}

function ageWords(k) {
  const patterns = { s: k.t("age_s"), m: k.t("age_m"), h: k.t("age_h") };
  return k.t("no_answer", { age: ageText(k.booking.ageS, patterns) });
}

/** Update the age of a ride's facts on the screen; the first time, it is also read aloud. */
export function showAge(k) {
  const words = k.root.querySelector("[data-age]");
  const old = Boolean(k.booking.ageS);
  if (words && old) words.textContent = ageWords(k);
  else if (old !== Boolean(words) && AGES.has(k.view.look)) {
    k.draw();
    if (old) k.speak([ageWords(k)]);
  }
}

function meetLine(k, where) {
  const way = wayTo(where);
  return make(
    "div",
    "line k-meet gap-3",
    icon("pickup"),
    make(
      "div",
      "k-meet-words shrinks column",
      make("span", "secondary k-label", k.t("meet_at")),
      make("span", "strong k-meet-name", from("meet", fact(where.name))),
      way.length ? make("span", "k-walk", fact(way.join(" · "))) : null,
    ),
  );
}

/** Where the ride goes; null where there is room for it on paper only (`printedDrop`). */
function dropLine(k) {
  if (k.mayTurnFacts || !k.visit.drop) return null;
  const words = make("div", "k-meet-words shrinks column", ...dropWords(k));
  return make("div", "line gap-3", icon("drop"), words);
}

function printedDrop(k) {
  if (!k.mayTurnFacts || !k.visit.drop) return null;
  return make("div", "print-only", ...dropWords(k));
}

function dropWords(k) {
  const label = make("span", "secondary k-label", k.t("to"));
  const name = make("span", "strong k-meet-name", from("drop", fact(k.visit.drop.name)));
  return [label, " ", name];
}

/** The line that counts down to the end of the visit; kiosk.js shows and updates it. */
function countdown(k) {
  const here = control("here", "k-button k-here", () => k.stay(), k.t("still_here"));
  const words = make("span", "k-clears-words", k.t("clears", { s: LAST_S }));
  const announced = make("span", "visually-hidden");
  announced.setAttribute("role", "status");
  const node = make("div", "line k-clears apart gap-3", words, announced, here);
  node.dataset.clears = "";
  node.hidden = true;
  return node;
}

function plateOf(k) {
  const view = k.visit.view ?? {};
  if (!view.plate) return null;
  const parts = [from("plate", spelled(view.plate, "k-plate heavy no-wrap", k.t("plate")))];
  if (view.old_plate) {
    const [before, after = ""] = k.t("old_plate").split("{plate}");
    const gone = make("s", "", from("old_plate", fact(view.old_plate, "k-gone no-wrap")));
    const line = make("p", "strong k-old-plate", small(before), gone, small(after));
    line.setAttribute("role", "alert");
    parts.unshift(line);
  }
  if (view.car) parts.push(make("p", "k-lead", from("car", fact(view.car))));
  return make("div", "stack k-plates gap-2", ...parts);
}

/** The ride that was found: a short form of the guest's page of a ride. */
export function ride(k) {
  const { visit } = k;
  const view = visit.view ?? {};
  if (view.phase === "none" || view.lost) return noRide(k);
  const detail = view.detail ? from("detail", make("p", "k-lead", view.detail)) : null;
  const details = [heldLine(k), detail, beneath(k.english(view.detail))];
  const meet = typeof view.meet === "string" && view.meet ? { name: view.meet } : view.meet;
  const where = meet ? meetLine(k, meet) : null;
  const code = view.code_due ? codeLine(k) : null;
  const minutes = k.crowded && view.held ? null : minutesOf(k);
  let facts = [ageLine(k), ...details, plateOf(k), minutes, where, code, ...payOf(k)];
  // a crowded screen has pages: the facts for finding the car are on the first one, and so is, on
  // each small screen, a start code that was just requested
  if (k.crowded) facts = [ageLine(k), plateOf(k), minutes, code, ...details, where, ...payOf(k)];
  if (!k.measures.roomy && visit.start) facts = [code, ...facts.filter((each) => each !== code)];
  const buttons = [];
  if (view.code_due) buttons.push(codeButton(k));
  if (visit.cancel?.may)
    buttons.push(control("cancel", "k-button", () => k.booking.askCancel(), k.t("cancel")));
  buttons.push(control("done", "k-button k-main", () => k.end("done"), k.t("done")));
  return {
    question: view.headline || k.t("ride", { number: `K${visit.number}` }),
    from: view.headline ? "headline" : "number",
    ticket: `K${visit.number}`,
    facts: facts.filter(Boolean),
    controls: [make("div", "wrap k-deeds", ...buttons)],
    look: "ride",
    spoken: () => [
      view.held,
      view.detail,
      ...spokenPlate(k),
      minutes?.textContent,
      spokenMeet(k, meet),
      ...(code ? spokenCode(k) : []),
      ...spokenPay(k),
    ],
  };
}

function minutesOf(k) {
  const { minutes } = k.visit.view ?? {};
  if (!Number.isFinite(minutes) || k.booking.ageS) return null;
  const words = make("span", "", k.t("away", { n: minutes }));
  return make("p", "k-lead k-away", icon("waiting"), from("minutes", words));
}

/** The sentences to read for the start code: the code while it is shown, or that it is hidden. */
export function spokenCode(k) {
  if (!k.visit.start) return [k.t("code_hidden")];
  return [`${k.t("start_code")} ${apart(k.visit.start.code)}`, k.t("tell_driver")];
}

function codeButton(k) {
  return control(
    "show-code",
    "k-button",
    () => k.booking.showCode(),
    icon("eye"),
    k.t("show_code"),
  );
}

/** A line with the start code while it is shown, for ten seconds, else with dots. */
function codeLine(k) {
  const { code } = k.visit.start ?? {};
  const shown = code
    ? from("code", spelled(code, "k-code num", k.t("start_code")))
    : make("p", "k-code num", "••••");
  if (!code) shown.setAttribute("aria-hidden", "true"); // `why` says that it is hidden
  const why = make("span", "secondary k-why plain", k.t(code ? "tell_driver" : "code_hidden"));
  return make(
    "div",
    "wrap k-code-line",
    make("span", "secondary k-label", k.t("start_code")),
    shown,
    why,
  );
}

function small(text) {
  return make("span", "k-old-words", text);
}

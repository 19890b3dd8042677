/**
 * Screens E and F, the screens for all outcomes of Book except the ticket, and those that say why
 * no car can be booked.
 */

import { beneath, carName, control, fact, icon, lines, make, working } from "./el.js";
import { languages } from "./screens.js";

const OWN_WORDS = new Set(["pay", "cancelling"]);
// outcomes that another try would only repeat: a person has to help
const NO_AGAIN = new Set(["trouble", "full", "already"]);
const NO_RIDE = new Set(["no_driver", "cancelled"]); // kinds of orders that were booked first
const ON_PAGES = ["to", "cancelling", "car", "from", "for", "price", "pay"];

/** Screen E: a summary with the price, and the one button that books. */
export function check(k) {
  const { visit } = k;
  const { car, drop, answer } = visit;
  const rows = [
    ["to", drop.name],
    ["from", answer?.meet?.name],
    ["car", car.name],
    ["for", visit.name],
    ["price", visit.changed ? "" : visit.price], // a changed price is shown above, with the old one
    ["pay", car.pays],
    ["cancelling", car.fee],
  ];
  // the button has the price and who pays, so with several pages those come last
  if (k.crowded) rows.sort(([one], [other]) => ON_PAGES.indexOf(one) - ON_PAGES.indexOf(other));
  const list = make(
    "dl",
    "k-facts grid",
    ...rows
      .filter(([, text]) => text)
      .map(([key, text]) =>
        make(
          "div",
          `k-fact grid k-fact-${key}`,
          make("dt", "if-room secondary", k.t(key)),
          make("dd", "strong", shownAs(visit, key, text)),
          beneath(k.english(text), "dd"),
        ),
      ),
  );
  return {
    question: k.t("check"),
    facts: [visit.changed ? changed(k) : null, list].filter(Boolean),
    controls: [moreButton(k), bookButton(k)].filter(Boolean).map((each) => actionRow(each)),
    look: "check",
  };
}

function shownAs(visit, key, text) {
  if (key === "price") return priced(visit);
  if (key === "car") return carShown(visit);
  return OWN_WORDS.has(key) ? text : fact(text);
}

/** The car's name, with the kind of car that it is, which its name may not say, and its size. */
function carShown({ car: { name, kind, size } }) {
  return [carName(name), ...[kind, size].filter(Boolean).flatMap((each) => [" · ", fact(each)])];
}

/** The price, with its kind before it if it has one, such as "fixed price". */
function priced({ car, price }) {
  return [car.price_kind ? `${car.price_kind} ` : "", price ? fact(price) : ""];
}

function bookButton(k) {
  const { visit } = k;
  const dot = visit.price ? " · " : "";
  const face = visit.changed
    ? [k.t("book_for", { price: visit.changed.new })]
    : [k.t("book"), dot, ...priced(visit)];
  const words = [make("span", "k-book-price heavy lead", ...face)];
  if (visit.car.pays) words.push(make("span", "k-book-pays", visit.car.pays));
  return control(
    "book",
    "k-button k-main k-book",
    () => k.booking.order(),
    make("span", "grid gap-1", ...words),
  );
}

/** The way to a bigger car, for a group for which this one has too few seats, if that is known. */
function moreButton(k) {
  const { car, changed: dearer } = k.visit;
  if (!car.persons || dearer) return null; // one question at a time
  return control(
    "more-people",
    "k-button",
    () => k.go("people"),
    k.t("we_are_more", { n: car.persons }),
  );
}

/** A changed price is never accepted silently: the old and the new one are shown. */
function changed(k) {
  const { old, new: now } = k.visit.changed;
  const node = make(
    "div",
    "k-changed",
    make("p", "heavy", k.t("price_changed")),
    beneath(k.english(k.t("price_changed"))),
    make("p", "k-changed-old", k.t("price_was", { price: old })),
    make("p", "heavy", k.t("price_now", { price: now })),
  );
  node.setAttribute("role", "alert");
  return node;
}

/**
 * Screen F: booking. After 4 seconds it says how long this usually takes; after 20 another screen
 * follows.
 */
export function sending(k) {
  const usual = k.waited >= 4 ? k.t("booking_usual") : "";
  return { question: k.t("booking"), facts: [working(usual)], look: "still" };
}

/** The desk is asked to approve. */
export function asking(k) {
  const line = working(k.t("asking_lead"));
  return { question: k.t("asking"), facts: [line], look: "still" };
}

/**
 * The outcome is UNKNOWN, in its own colour: the only screen that asks guests not to book again.
 */
export function unknown(k) {
  const number = k.visit.ride?.number; // without a number no answer has confirmed the order yet
  return {
    question: k.visit.words?.headline || k.t("unknown"),
    facts: [
      number ? make("p", "k-number heavy num", fact(k.t("ride", { number }))) : null,
      ...lines(k, k.visit.words?.next || k.t(number ? "unknown_next" : "trouble_next")),
    ].filter(Boolean),
    controls: [actionRow(help(k), finish(k))],
    look: "unknown",
  };
}

/**
 * Screen X: what was not booked and why, and the next step: try again, another car, or a person.
 */
export function sorry(k) {
  const { visit } = k;
  const kind = visit.sorry ?? "not_booked";
  const texts = {
    no_driver: ["no_driver", ""],
    cancelled: ["cancelled", ""],
    not_booked: ["not_booked", "not_booked_next"],
    refused: ["not_booked", "not_booked_next"],
    declined: ["declined", "not_booked_next"],
    limited: ["limited", ""],
    full: ["trouble", "trouble_next"],
    trouble: ["trouble", "trouble_next"],
    ride: ["ride_closed", "trouble_next"],
  }[kind] ?? ["not_booked", "not_booked_next"];
  const words = visit.words ?? {};
  const face = k.t(NO_RIDE.has(kind) ? "other_cars" : "try_again");
  const again =
    !NO_AGAIN.has(kind) && visit.drop
      ? control("again", "k-button k-main", () => k.askCars(), face)
      : null;
  return {
    question: words.headline || k.t(texts[0]),
    facts: [
      ...lines(k, words.why, words.next || (texts[1] && k.t(texts[1]))),
      NO_AGAIN.has(kind) ? desk(k) : null,
    ].filter(Boolean),
    controls: [actionRow(again, kind === "already" ? have(k) : null, help(k))],
    look: "sorry",
  };
}

/** There is no car, or cars can't be requested now. */
export function noCars(k, answer) {
  const words = answer.words ?? {};
  const usual = { limited: "limited", trouble: "trouble" }[answer.state] ?? "no_cars";
  const next = words.next || (answer.words ? "" : k.t("trouble_next"));
  const again = nextStep(k, answer);
  return {
    question: words.headline || k.t(usual),
    facts: [...lines(k, words.why, next), again || !answer.words ? null : desk(k)].filter(Boolean),
    controls: [actionRow(again, help(k))],
    look: "sorry",
  };
}

/**
 * The button for the next step: another request, which the screen also makes by itself, or another
 * place; null if neither would help.
 */
function nextStep(k, { again_s: again, state }) {
  if (again) return control("again", "k-button k-main", () => k.booking.cars(), k.t("try_again"));
  if (state !== "none" && state !== "refused") return null;
  return control("another", "k-button k-main", () => k.anotherPlace(), k.t("another_way"));
}

/**
 * The kiosk can't take orders. If no ride can be booked now ("trouble"), this is shown in place of
 * screens A and B, so that no one fills in six screens in vain; "broken" means out of order.
 */
export function broken(k, kind) {
  const trouble = kind === "trouble";
  const lead = make("p", "k-lead", k.t(trouble ? "ask_desk" : "broken_next"));
  const controls = trouble ? [actionRow(help(k), have(k))] : [];
  // the bar of the start screen has no button for languages; large letters leave them no room
  const begins = trouble && k.visit.screen === "start" && !k.crowded;
  if (begins && k.choices.length > 1) controls.push(languages(k));
  return {
    question: k.t(trouble ? "trouble" : "broken"),
    facts: k.crowded && k.deskPhone ? [k.deskPhone] : [lead, k.deskPhone].filter(Boolean),
    controls,
    look: "sorry",
  };
}

/** The desk's number; null if large letters leave no room, since the bar calls the desk too. */
function desk(k) {
  return k.crowded ? null : k.deskPhone;
}

function have(k) {
  return control("have", "k-button", () => k.begin("find"), k.t("have"));
}

function help(k) {
  return control(
    "help",
    "k-button k-helps",
    () => k.askHelp(),
    icon("ask"),
    make("span", "", k.t("help")),
  );
}

function finish(k) {
  return control("done", "k-button", () => k.end("done"), k.t("done"));
}

function actionRow(...nodes) {
  return make("div", "wrap k-deeds", ...nodes.filter(Boolean));
}

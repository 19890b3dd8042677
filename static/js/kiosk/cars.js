/** Screen C: the choice of a car, the meeting point, and the number of people in a shared car. */

import { noCars } from "./check.js";
import { carName, carPicture, control, fact, icon, make, named, working } from "./el.js";
import { fitMap, mapBox } from "./maps.js";
import { pages } from "./frame.js";

const TAGS = { cheapest: "cheapest", soonest: "soonest_car", biggest: "biggest" };

export function car(k) {
  const { answer } = k.visit;
  if (!answer) return { question: k.t("which_car"), facts: [working(k.t("looking"))] };
  if (answer.state !== "ok") return noCars(k, answer);
  const list = make("div", "k-cars grid");
  const { cars } = answer;
  const most = Math.min(answer.shown || 3, cars.length);
  const cards = cars.map((each, i) => card(k, each, i));
  const way = wayMap(k);
  return {
    question: k.t("which_car"),
    facts: [make("p", "k-lead", fact(k.visit.drop.name)), way].filter(Boolean),
    controls: [list, meet(k, answer.meet)],
    look: "cars",
    spoken: () => [k.visit.drop.name, spokenMeet(k, answer.meet)],
    placed: () => {
      fill();
      fitMap(k, way);
    },
  };
  function fill() {
    const turn = (page) => {
      k.visit.page = page;
      fill();
      // the first one that was not shown before, though a full page may begin with others
      const first = list.querySelector(`[data-press="car-${page}"]`);
      first?.focus({ preventScroll: true, focusVisible: false });
      k.here();
    };
    const label = (n) => (n > 0 ? k.t("more_cars", { n }) : k.t("fewer_cars"));
    pages(list, cards, { from: k.visit.page, most, turn, label });
  }
}

/** The map of the way, beside the cars; null on a screen that has no room beside them. */
function wayMap(k) {
  const { layout, narrow } = k.measures;
  if (layout !== "landscape" || narrow || k.visit.aids.has("large")) return null;
  return mapBox(k, k.visit.answer.way, k.t("map_of_way"));
}

function card(k, each, i) {
  const tag = (each.tags ?? []).map((name) => TAGS[name]).find(Boolean);
  const busy = each.surge_means || each.surge;
  const left = make(
    "span",
    "k-car-left",
    make("span", "k-car-name heavy lead", carName(each.name)),
    room(each),
    tag ? make("span", "strong k-car-tag", k.t(tag)) : null,
    busy ? make("span", "strong k-car-surge baseline", icon("surge"), fact(busy)) : null,
  );
  const away = Number.isFinite(each.minutes) ? k.t("away", { n: each.minutes }) : "";
  const right = make(
    "span",
    "k-car-right rigid",
    each.price_kind ? make("span", "secondary", each.price_kind) : null,
    make("span", "k-price heavy title no-wrap num", fact(each.price)),
    away ? make("span", "secondary", away) : null,
  );
  const parts = [carPicture(each.drawing), left, right].filter(Boolean);
  const node = control(`car-${i}`, "k-button k-car full", () => k.chooseCar(each), ...parts);
  const price = [each.price_kind, each.price].filter(Boolean).join(" ");
  const facts = [each.name, each.kind, each.size, tag && k.t(tag), busy, price, away];
  return named(node, k.paused(...facts));
}

/** What kind of car it is, and what fits in; null if neither is known. */
function room({ kind, size }) {
  const parts = [kind, size].filter(Boolean).flatMap((text) => [" · ", fact(text)]);
  return parts.length ? make("span", "secondary k-car-room", ...parts.slice(1)) : null;
}

/** Where to meet the car, and the way there, as one sentence; "" if it is unknown. */
export function spokenMeet(k, where) {
  if (!where) return "";
  return k.paused(`${k.t("meet_at")} ${where.name}`, ...wayTo(where));
}

/** The way to a meeting point, as facts. */
export function wayTo({ walk: way, steps }) {
  return [way, steps].filter((each) => typeof each === "string" && each);
}

/** The meeting point, with the button Change if there are several; null if it is unknown. */
function meet(k, where) {
  if (!where) return null;
  const words = make(
    "div",
    "k-meet-words shrinks column",
    make("span", "secondary k-label", k.t("meet_at")),
    make("span", "strong k-meet-name", fact(where.name)),
    walk(where),
  );
  const points = where.points ?? [];
  const change =
    points.length > 1
      ? control("change", "k-button k-change rigid", () => k.go("meet"), k.t("change"))
      : null;
  if (change) named(change, k.paused(k.t("change"), `${k.t("meet_at")} ${where.name}`));
  return make("div", "line k-meet gap-3", icon("pickup"), words, change);
}

function walk(where) {
  const text = wayTo(where).join(" · ");
  return text ? make("span", "k-walk", fact(text)) : null;
}

/** The choice of a pickup point by its name. */
export function meetAt(k) {
  const { points } = k.visit.answer.meet;
  const list = make("div", "k-results grid");
  const cards = points.map((each, i) => {
    const words = make("span", "strong k-place-name", fact(each.name));
    const act = () => k.choosePoint(each);
    const node = control(
      `point-${i}`,
      "k-button k-card full",
      act,
      words,
      ...[walk(each)].filter(Boolean),
    );
    return named(node, k.paused(each.name, ...wayTo(each)));
  });
  return {
    question: k.t("choose_meet"),
    controls: [list],
    look: "list",
    placed: () => {
      const turn = (page) => {
        k.visit.page = page;
        k.draw();
      };
      pages(list, cards, { from: k.visit.page, turn, label: () => k.t("more") });
    },
  };
}

/**
 * The choice of the number of seats in a shared car: one card for each number; for any other car
 * the choice of a bigger one.
 */
export function people(k) {
  if (!k.visit.car.seats?.length) return bigger(k);
  const cards = k.visit.car.seats.map(({ seats, people: words, price }) => {
    const name = make("span", "strong k-place-name", words);
    const cost = make("span", "k-price heavy title no-wrap num", fact(price));
    const act = () => k.chooseSeats(seats);
    const node = control(`seats-${seats}`, "k-button k-card full k-seats", act, name, cost);
    return named(node, k.paused(words, price));
  });
  return {
    question: k.t("how_many"),
    facts: [make("p", "k-lead", carName(k.visit.car.name))],
    controls: [make("div", "k-places grid", ...cards)],
  };
}

/** The cars with more room than the chosen one; two cars are booked by the desk. */
function bigger(k) {
  const { answer, car: chosen } = k.visit;
  const list = make("div", "k-results grid");
  const cards = answer.cars
    .filter(({ persons }) => persons > chosen.persons)
    .map((each, i) => {
      const name = make("span", "strong k-place-name", carName(each.name));
      const facts = make("span", "k-place-more", fact(`${each.size} · ${each.price}`));
      const act = () => k.chooseBigger(each);
      const node = control(`bigger-${i}`, "k-button k-card full", act, name, facts);
      return named(node, k.paused(each.name, each.size, each.price));
    });
  const turn = (page) => {
    k.visit.page = page;
    k.draw();
  };
  return {
    question: k.t("bigger_car"),
    facts: [make("p", "k-lead", k.t("two_cars")), k.crowded ? null : k.deskPhone].filter(Boolean),
    controls: [list],
    look: "list",
    placed: () => pages(list, cards, { from: k.visit.page, turn, label: () => k.t("more") }),
  };
}

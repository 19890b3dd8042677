/** Screens with text fields: D, the guest's details; the desk code; the number of a ride. */

import { control, make, named } from "./el.js";
import { Keyboard } from "./keyboard.js";
import { describe, problemOf, toEnd } from "./screens.js";

const NAME_LETTERS = 20;
const PHONE_DIGITS = 16;
const CODE_DIGITS = 6;
const PIN_DIGITS = 4;
const NUMBER_DIGITS = 4;
const LEAST_PHONE = 5; // digits; no phone number is shorter
const NAMES = /[\p{L}\p{N}]/u; // a name has a letter or digit

/** Screen D: a name or a room number, and optionally a phone number. */
export function who(k) {
  const { visit } = k;
  return form(k, {
    question: k.t("who"),
    fields: [
      {
        key: "name",
        label: k.t("name"),
        why: k.t("name_why"),
        kind: "text",
        most: NAME_LETTERS,
      },
      {
        key: "phone",
        label: k.t("phone"),
        why: k.t("phone_why"),
        kind: "phone",
        most: PHONE_DIGITS,
        optional: true,
      },
    ],
    next: k.t("next"),
    problem: visit.unfit && visit.words ? `${visit.words.headline} ${visit.words.next}` : "",
    missing: () => {
      if (!NAMES.test(visit.name)) return k.t("name_needed");
      const digits = visit.phone.replace("+", "").length;
      return visit.phone && digits < LEAST_PHONE ? k.t("phone_wrong") : "";
    },
    go: () => {
      visit.unfit = false;
      k.go("check");
    },
  });
}

/** The desk code, if the property's rule requires one. */
export function code(k) {
  const { visit } = k;
  return form(k, {
    question: k.t("code"),
    fields: [
      {
        key: "code",
        label: k.t("code"),
        why: k.t("code_why"),
        kind: "digits",
        most: CODE_DIGITS,
        masked: true,
      },
    ],
    next: k.t("next"),
    problem: visit.wrongCode ? visit.words?.headline || k.t("code_wrong") : "",
    missing: () => (visit.code.length === CODE_DIGITS ? "" : k.t("code_why")),
    go: () => k.booking.order(),
  });
}

/** The first part of screen H: number and PIN of a ride. */
export function find(k) {
  const { visit } = k;
  return form(k, {
    question: k.t("my_ride"),
    lead: k.t("my_ride_lead"),
    fields: [
      {
        key: "number",
        label: k.t("ride_number"),
        before: "K",
        kind: "digits",
        most: NUMBER_DIGITS,
      },
      { key: "pin", label: k.t("pin"), kind: "digits", most: PIN_DIGITS, masked: true },
    ],
    next: k.t("show"),
    problem: k.crowded ? (visit.problem?.headline ?? "") : problemOf(visit.problem),
    missing: () => (visit.number && visit.pin.length === PIN_DIGITS ? "" : k.t("my_ride_lead")),
    go: () => k.booking.find(),
  });
}

/**
 * A screen with fields and one keyboard, which writes into the chosen field. `fields` are {key,
 * label, why, before, kind, most, masked, optional}; `key` is where the visit holds the text.
 */
class Form {
  constructor(k, { fields, missing, problem = "", go }) {
    this.k = k;
    this.fields = fields;
    this.missing = missing;
    this.go = go;
    this.note = make("p", "k-note strong if-any k-problem if-room", problem);
    this.note.setAttribute("role", problem ? "alert" : "status");
    this.said = make("p", "k-said"); // on a small screen, in place of hint and label
    this.said.setAttribute("aria-hidden", "true");
    this.parts = fields.map((each, i) => part(k, each, () => this.#choose(i)));
    this.at = Math.max(
      0,
      fields.findIndex(({ key }) => key === k.visit.field),
    );
    const changed = () => this.#changed();
    k.keyboard = new Keyboard(k, this.#target(), changed, () => this.#written());
    this.#mark();
  }

  /** What the keyboard writes into: the visit's text for the chosen field. */
  #target() {
    const { visit } = this.k;
    const { key, kind, most, masked } = this.fields[this.at];
    return {
      kind,
      most,
      masked,
      get value() {
        return visit[key];
      },
      set value(text) {
        visit[key] = text;
      },
    };
  }

  #choose(i) {
    this.at = i;
    this.k.visit.field = this.fields[i].key;
    this.k.keyboard.turn(this.#target());
    this.#mark();
    this.k.speak([this.parts[i].node.getAttribute("aria-label")], true);
  }

  #mark() {
    this.parts.forEach(({ node }, i) => {
      node.classList.toggle("is-chosen", i === this.at);
      node.setAttribute("aria-pressed", String(i === this.at));
    });
    this.#say();
  }

  #say() {
    this.said.textContent = this.note.textContent || (this.fields[this.at].why ?? "");
    this.said.classList.toggle("is-problem", Boolean(this.note.textContent));
  }

  #changed() {
    show(this.k, this.parts[this.at], this.k.visit[this.fields[this.at].key]);
    this.note.textContent = "";
    this.#say();
  }

  /** Enter moves to the next required field that is empty; if there is none, to the next screen. */
  #written() {
    const { visit } = this.k;
    const needed = ({ key, optional }, i) => i > this.at && !optional && !visit[key];
    const next = this.fields.findIndex(needed);
    if (next < 0) this.forward();
    else this.#choose(next);
  }

  forward() {
    const words = this.missing();
    if (!words) return void this.go();
    this.note.setAttribute("role", "alert");
    this.note.textContent = words;
    this.#say();
    this.k.keyboard.fit();
    this.k.speak([words]);
  }
}

function form(k, { question, lead, next, ...rest }) {
  const made = new Form(k, rest);
  const button = control("next", "k-button k-main k-next", () => made.forward(), next);
  const nodes = made.parts.map(({ node }) => node);
  return {
    question,
    facts: lead ? [make("p", "k-lead", lead)] : [],
    controls: [make("div", "k-entry", ...nodes, made.note, made.said, button), k.keyboard.node],
    look: "typing",
    placed: () => {
      made.parts.forEach(({ field }) => toEnd(field));
      k.keyboard.fit();
    },
  };
}

/** A field inside a control: a press chooses the field. */
function part(k, { key, label, why, masked, before = "" }, choose) {
  const field = make("input", "strong k-field full");
  describe(field, key, label, "");
  field.placeholder = " "; // kiosk.css asks whether the field is empty
  const made = { field, before };
  const title = make("span", "secondary k-label", label);
  const node = control(`field-${key}`, "k-part grid gap-1", choose, title, field);
  field.inert = true; // the control around it is pressed and read aloud
  Object.assign(made, { label, star: masked ? k.t("star") : "" });
  if (why) {
    const reason = make("span", "secondary k-why plain", why);
    reason.id = `why-${key}`;
    node.append(reason);
    node.setAttribute("aria-describedby", reason.id);
  }
  made.node = node;
  show(k, made, k.visit[key]);
  return made;
}

/** Show the typed text in the field and in the control's name, where a masked text is stars. */
function show(k, { node, field, before, label, star }, text) {
  field.value = text ? before + text : before;
  toEnd(field);
  const spoken = star ? [...text].fill(star).join(" ") : field.value;
  named(node, k.paused(label, spoken));
}

/**
 * The screen of a kiosk that nobody has touched for some minutes: the property's face, the time,
 * and one sentence in each of the kiosk's languages in turn. Any touch or key leads to the start.
 */

import { control, icon, make } from "./el.js";
import { face } from "./face.js";
import { logo } from "./frame.js";

const AFTER_MS = 150_000;
const TURN_MS = 7_000;

export class Attract {
  constructor(k) {
    this.k = k;
    this.waiting = null;
    this.turning = null;
    this.turn = 0;
  }

  /** Wait anew for the time in which nobody comes. */
  rest() {
    this.leave();
    this.waiting = setTimeout(() => this.#begin(), AFTER_MS);
  }

  /** Somebody is here, or the screen has something else to say. */
  leave() {
    clearTimeout(this.waiting);
    clearInterval(this.turning);
    this.k.frame.remove("attract");
  }

  #begin() {
    const { k } = this;
    if (k.screen !== "start" || k.frame.isCovered || !this.#invites) return this.rest();
    this.turn = 0;
    this.words = make("div", "stack k-attract-words gap-4");
    const ground = make("div", "k-face");
    ground.setAttribute("aria-hidden", "true");
    face(ground, k.data.property, { whole: true });
    const cover = control("attract", "k-attract-press", () => this.leave(), ground, this.words);
    cover.dataset.first = "";
    cover.setAttribute("aria-label", k.t("start"));
    const node = make("div", "k-attract", cover);
    node.dataset.sheet = "attract";
    k.frame.lay(node);
    this.#show();
    this.turning = setInterval(() => this.#next(), TURN_MS);
  }

  /** Whether a guest who comes could book now, and needs no code for it. */
  get #invites() {
    const { open, full, needsCode } = this.k.status;
    return open && !full && !needsCode;
  }

  #next() {
    if (!this.#invites) return this.rest();
    this.turn += 1;
    this.#show();
  }

  #show() {
    const { k, turn, words } = this;
    const { tag, dir } = k.choices[turn % k.choices.length];
    const { soonest } = k.status;
    const lines = [
      make("p", "k-attract-time num", k.frame.timeIn(tag)),
      make("p", "k-attract-name heavy", k.data.property.name),
      make("p", "k-attract-lead", k.tIn(tag, "start_lead")),
    ];
    if (soonest !== null) lines.push(make("p", "k-lead", k.tIn(tag, "soonest", { n: soonest })));
    const begin = make("span", "k-attract-begin strong line", icon("car"), k.tIn(tag, "start"));
    words.lang = tag;
    words.dir = dir;
    words.dataset.turn = String(turn % 2); // its two places, so that nothing burns in
    words.replaceChildren(...[logo(), ...lines, begin].filter(Boolean));
  }
}

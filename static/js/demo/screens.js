/**
 * The screens of the stage: frames of our own pages, each scaled to its place. A phone and a kiosk
 * keep the size of their device; the desk is as wide as its page needs for all its columns.
 */

import { until } from "./hand.js";
import { typedInto, watch } from "./typed.js";

const DESK_PX = 1_180; // from this width on the board shows form, list and map side by side
const MANY_PX = 1_600; // the same for a desk that is alone and has many rides to show
const SMALLEST = 0.62; // smallest scale of the desk's text that can be read from the back of a room
const PROJECTED = 1.25;
const LOADED_WITHIN_MS = 10_000;
const TABBED = matchMedia("(max-width: 1279px)");
const POINTED = "3px solid #d97706";

export class Screens {
  constructor(root) {
    this.root = root;
    this.floor = root.querySelector("[data-floor]");
    this.parts = new Map(
      [...root.querySelectorAll("[data-surface]")].map((part) => [part.dataset.surface, part]),
    );
    this.alone = "desk";
    this.pointed = null;
    this.shown = "";
    this.lensed = false;
    this.many = false;
    this.looked = false;
    for (const frame of root.querySelectorAll("[data-frame]"))
      frame.addEventListener("load", () => this.#loaded(frame));
    for (const button of document.querySelectorAll("[data-tab]"))
      button.addEventListener("click", () => this.onlyShow(button.dataset.tab));
    for (const button of document.querySelectorAll("[data-to-layout]"))
      button.addEventListener("click", () => this.arrange(button.dataset.toLayout));
    new ResizeObserver(() => this.fit()).observe(this.floor);
    TABBED.addEventListener("change", () => this.arrange(root.dataset.layout));
    document.addEventListener("pointerdown", (event) => this.#ring(event.clientX, event.clientY));
    this.arrange(root.dataset.layout);
  }

  get projected() {
    return document.documentElement.classList.contains("is-projected");
  }

  set projected(on) {
    document.documentElement.classList.toggle("is-projected", on);
    this.fit();
  }

  frame(name) {
    return this.parts.get(name).querySelector("[data-frame]");
  }

  /** The document of a screen; null while it has none. */
  page(name) {
    const { contentDocument } = this.frame(name);
    return contentDocument?.location?.href.startsWith("http") ? contentDocument : null;
  }

  /** Load an address of ours into a screen, unless it is there already; null empties the screen. */
  open(name, address) {
    const frame = this.frame(name);
    const empty = frame.parentElement.querySelector("[data-empty]");
    frame.hidden = !address;
    if (empty) empty.hidden = Boolean(address);
    if ((frame.dataset.at ?? "") === (address ?? "")) return;
    frame.dataset.at = address ?? "";
    frame.src = address ?? "about:blank";
  }

  /** Store the orders that the phone and the kiosk show, for the lens in the desk's frame. */
  rides({ link, order, tickets }) {
    this.frame("phone").dataset.ride = link ? order : "";
    this.frame("kiosk").dataset.tickets = JSON.stringify(tickets ?? {});
  }

  /**
   * Load an address, even if it is shown already. Resolves once its page can be read, or after a
   * while; it does not wait for images such as map tiles.
   */
  async reload(name, address) {
    const before = this.page(name);
    this.frame(name).contentWindow.location.assign(address);
    const come = () => {
      const page = this.page(name);
      return page && page !== before && page.readyState !== "loading" && page;
    };
    const page = await until(come, LOADED_WITHIN_MS);
    if (page && name === "desk") watch(page);
  }

  /** The frames that are visible and show a page. */
  get seen() {
    const frames = [...this.parts.keys()].filter((name) => this.isShown(name) && this.page(name));
    return frames.map((name) => this.frame(name)).filter((frame) => !frame.hidden);
  }

  /** Whether a screen is visible on the stage. */
  isShown(name) {
    return this.parts.get(name).getClientRects().length > 0;
  }

  /** Pair the kiosk's frame as a kiosk, if it is not paired. Resolves to whether it is paired. */
  async pair() {
    const form = this.parts.get("kiosk").querySelector("[data-pair]");
    if (this.frame("kiosk").hidden) {
      if (!form) return false;
      form.requestSubmit();
    }
    return Boolean(await until(() => this.page("kiosk")?.body?.dataset.screen));
  }

  /**
   * Arrange the screens. Layout 1: desk and phone; 2: with the kiosk; 3: desk and lens; 4: one
   * screen.
   */
  arrange(layout) {
    this.root.dataset.layout = layout;
    for (const button of document.querySelectorAll("[data-to-layout]"))
      button.setAttribute("aria-pressed", String(button.dataset.toLayout === layout));
    document.querySelector("[data-to-lens]")?.setAttribute("aria-pressed", String(layout === "3"));
    document.body.classList.toggle("is-tabbed", TABBED.matches);
    this.onlyShow(this.alone);
    if ((layout === "3") !== this.lensed) this.#turnLens(layout === "3");
    this.lensed = layout === "3";
  }

  /** In the layout with one screen, choose that screen; other layouts don't change. */
  onlyShow(name) {
    this.alone = name;
    for (const [each, part] of this.parts) part.classList.toggle("is-alone", each === name);
    for (const button of document.querySelectorAll("[data-tab]"))
      button.setAttribute("aria-pressed", String(button.dataset.tab === name));
    this.#load();
    this.fit();
  }

  /**
   * Point the audience to a screen, and to an element of it if one is given. A desk that does not
   * show that element opens the page of the ride `order`, unless a person has typed into the desk.
   */
  show(name, selector = "", order = null) {
    const now = [name, selector, selector && order].join();
    if (this.shown === now) return;
    this.shown = now;
    this.#unpoint();
    const screen = this.parts.has(name) ? name : "desk";
    const isAlone = name === "board" && !TABBED.matches;
    const isMany = this.many;
    this.many = isAlone; // the desk is alone, as small as its text can be read
    if (isAlone) this.arrange("4");
    else if (isMany) this.arrange("1");
    this.root.classList.toggle("is-many", isAlone);
    // without a chosen ride, so that the board has the room
    if (isAlone && !isMany && !typedInto(this.page("desk"))) this.reload("desk", "/");
    if (name === "kiosk" && this.root.dataset.layout === "1") this.arrange("2");
    if (name === "lens" && !TABBED.matches) this.arrange("3");
    else if (this.looked && name !== "lens") this.arrange("1");
    this.looked = name === "lens"; // opened by a story, which closes it again
    this.onlyShow(screen);
    for (const [each, part] of this.parts) part.classList.toggle("is-shown", each === screen);
    if (selector) this.pointed = { screen, selector };
    this.point();
    const ride = `/rides/${order}`;
    const desk = this.page("desk");
    const isElsewhere = desk?.location.pathname !== ride && !typedInto(desk);
    if (selector && screen === "desk" && order && isElsewhere && !this.pointed.element)
      this.reload("desk", ride);
  }

  /** Remove the emphasis from all screens. */
  calm() {
    this.shown = "";
    this.#unpoint();
    for (const part of this.parts.values()) part.classList.remove("is-shown");
  }

  /** Outline the element that is pointed at, again after its page has redrawn or changed it. */
  point() {
    if (!this.pointed) return;
    const { screen, selector } = this.pointed;
    const found = [...(this.page(screen)?.querySelectorAll(selector) ?? [])].find(
      (each) => each.getClientRects().length,
    );
    if (!found) return;
    if (this.looked) this.#turnLens(true, selector);
    const { height } = found.getBoundingClientRect();
    if (found === this.pointed.element && height === this.pointed.height) return;
    Object.assign(this.pointed, { element: found, height });
    Object.assign(found.style, { outline: POINTED, outlineOffset: "4px" });
    reveal(found);
  }

  #unpoint() {
    if (this.pointed?.element) this.pointed.element.style.outline = "";
    this.pointed = null;
  }

  #load() {
    for (const [name, part] of this.parts) {
      const frame = part.querySelector("[data-frame]");
      if (!frame.dataset.src || !part.getClientRects().length) continue;
      this.open(name, frame.dataset.src);
      delete frame.dataset.src;
    }
  }

  /** Scale each screen to the available room. */
  fit() {
    const style = getComputedStyle(this.floor);
    const room = (...sides) => sides.reduce((sum, side) => sum - parseFloat(style[side]), 0);
    const height = this.floor.clientHeight + room("paddingTop", "paddingBottom");
    const width = this.floor.clientWidth + room("paddingLeft", "paddingRight");
    for (const part of this.parts.values()) {
      const screen = part.querySelector("[data-screen]");
      if (screen.dataset.width) this.#fitDevice(screen, width, height);
    }
    const desk = this.parts.get("desk").querySelector("[data-screen]");
    const px = this.many ? MANY_PX : DESK_PX;
    const narrow = TABBED.matches ? 1 : Math.max(SMALLEST, desk.clientWidth / px);
    const zoom = this.projected
      ? Math.max(1, Math.min(1, narrow) * PROJECTED)
      : Math.min(1, narrow);
    desk.style.setProperty("--zoom", zoom.toFixed(4));
  }

  #fitDevice(screen, width, height) {
    const [wide, high] = [Number(screen.dataset.width), Number(screen.dataset.height)];
    const edge = 2 * parseFloat(getComputedStyle(screen).marginTop);
    const zoom = Math.min((height - edge) / high, (width - edge) / wide);
    screen.style.setProperty("--zoom", zoom.toFixed(4));
    Object.assign(screen.style, { inlineSize: `${wide * zoom}px`, blockSize: `${high * zoom}px` });
  }

  #loaded(frame) {
    const page = frame.contentDocument;
    if (!page?.location?.href.startsWith("http")) return;
    if (frame.name === "desk") watch(page);
    page.addEventListener("pointerdown", ({ clientX, clientY }) => {
      const box = frame.getBoundingClientRect();
      const zoom = box.width / frame.offsetWidth;
      this.#ring(box.left + clientX * zoom, box.top + clientY * zoom);
    });
    if (frame.name === "desk" && this.lensed) this.#turnLens(true);
    this.point();
  }

  /** While the screens are projected, show the audience a ring where a person presses. */
  #ring(x, y) {
    if (!this.projected) return;
    const ring = document.createElement("i");
    ring.className = "stage-ring";
    ring.style.left = `${x}px`;
    ring.style.top = `${y}px`;
    ring.addEventListener("animationend", () => ring.remove());
    document.body.append(ring);
  }

  /** Open the drawer of the desk's page, at the origin of the fact `at` if given, or close it. */
  #turnLens(open, at = "") {
    const detail = { open, at };
    this.page("desk")?.dispatchEvent(new CustomEvent("ridedash:lens", { detail }));
  }
}

/**
 * Scroll from the top of the page down to an element, so that the result does not depend on the
 * position before.
 */
function reveal(element) {
  element.ownerDocument.scrollingElement.scrollTop = 0;
  element.scrollIntoView({ block: "nearest" });
}

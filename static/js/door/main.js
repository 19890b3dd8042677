/**
 * The display at the door: polls the next cars and shows them. A row is made once for each car and
 * then updated in place, without new listeners, however long the page is open.
 */

import { ageText, freshness, patternsOf, timerText } from "../shared/ages.js";
import { askQuietly } from "../shared/ask.js";
import { clockOffset, Poller } from "../shared/poller.js";
import { setText } from "../shared/slots.js";

const TICK_MS = 1_000;
const SILENT_MS = 15_000;
const AGAIN_MS = 2_000;
const PLATE_MM = 20;
const PLATE_PX = 40; // for a screen that was not measured
// height of a plate beside the words, as a share of the screen's width: 4.2cqi in door.css
const OF_WIDTH = 0.042;
const OF_STACKED = 0.081; // the same for a plate above the words, beside the time: 8.1cqi
// height of a row, in heights of a plate
const HEIGHT = { line: 1.7, stacked: 2.7, grand: 2.2, pressed: 2.75 };
const LEAST = 4; // rows that are shown in any case, except with plates as wide as a row (grand)
const root = document.querySelector("[data-door]");
const portrait = matchMedia("(orientation: portrait)");
const patterns = patternsOf(document.body);

class Door {
  constructor() {
    this.list = root.querySelector("[data-rows]");
    this.pattern = document.querySelector("template[data-row]").content.firstElementChild;
    this.nodes = new Map(); // by order: { item, cells }
    this.offset = Date.parse(root.dataset.serverNow) - Date.now();
    this.lastAnswerAt = Date.now();
    this.missing = 0; // consecutive 404s: this is not a display any more
    this.clock = new Intl.DateTimeFormat("en-GB", {
      hour: "2-digit",
      minute: "2-digit",
      timeZone: root.dataset.zone,
    });
    this.poller = new Poller("/door/rows.json", {
      waitMs: Number(root.dataset.pollMs),
      got: (body, answer) => this.#got(body, answer),
      failed: (status) => this.#failed(status),
    });
  }

  start() {
    const mm = Number(root.dataset.mm);
    this.measured = mm > 0;
    this.platePx = this.measured ? PLATE_MM / mm : PLATE_PX;
    this.#show(JSON.parse(document.querySelector("[data-points]").textContent));
    this.list.addEventListener("click", ({ target }) => this.#pressed(target.closest("button")));
    addEventListener("resize", () => this.#fit());
    document.addEventListener("visibilitychange", () => (this.lastAnswerAt = Date.now()));
    addEventListener("pageshow", (event) => event.persisted && location.reload());
    this.#tick();
    setInterval(() => this.#tick(), TICK_MS);
    this.poller.start();
  }

  #got(body, answer) {
    this.offset = clockOffset(answer, this.offset);
    this.lastAnswerAt = Date.now();
    this.missing = 0;
    if (body) this.#show(body);
    this.#tick();
    return Number(root.dataset.pollMs);
  }

  /**
   * After two answers with 404 in a row, the display counts as revoked: reload, which shows the
   * pairing page.
   */
  #failed(status) {
    if (status !== 404) return undefined;
    this.missing += 1;
    if (this.missing > 1) loadAnew();
    else setTimeout(() => this.poller.now(), AGAIN_MS);
    return undefined;
  }

  #show(body) {
    this.release ??= body.release;
    if (body.release !== this.release) loadAnew();
    document.documentElement.dataset.look = body.look;
    this.body = body;
    const gone = new Set(this.nodes.keys());
    for (const [i, row] of body.rows.entries()) {
      gone.delete(row.id);
      const node = this.nodes.get(row.id) ?? this.#addRow(row.id);
      this.#paint(node, row);
      if (this.list.children[i] !== node.item)
        this.list.insertBefore(node.item, this.list.children[i] ?? null);
    }
    for (const id of gone) {
      this.nodes.get(id).item.remove();
      this.nodes.delete(id);
    }
    root.querySelector("[data-none]").hidden = body.rows.length > 0;
    this.list.hidden = body.rows.length === 0;
    line("failed", body.failed.length > 0, { who: body.failed.join(" · ") });
    line("finding", body.finding.length > 0, { who: body.finding.join(" · ") });
    this.#fit();
  }

  #addRow(id) {
    const item = this.pattern.cloneNode(true);
    item.dataset.id = id;
    const cells = Object.fromEntries(
      [...item.querySelectorAll("[data-cell]")].map((cell) => [cell.dataset.cell, cell]),
    );
    const node = { item, cells };
    this.nodes.set(id, node);
    return node;
  }

  #paint(node, row) {
    const { item, cells } = node;
    node.row = row;
    item.className = `door-row is-${row.state}`;
    item.classList.toggle("is-stale", Boolean(row.seen));
    item.classList.toggle("is-marked", Boolean(row.mark));
    setText(cells.plate, row.plate ?? root.dataset.noPlate);
    cells.plate.classList.toggle("is-unknown", !row.plate);
    const spoken = cells.plate.dataset.spoken.replace("{plate}", [...(row.plate ?? "")].join(" "));
    cells.plate.setAttribute("aria-label", row.plate ? spoken : root.dataset.noPlate);
    for (const name of ["was", "car", "label", "point"]) setText(cells[name], row[name] ?? "");
    cells.was.hidden = !row.was;
    for (const name of ["car", "label", "point"]) cells[name].parentElement.hidden = !row[name];
    cells.colour.hidden = !row.colour;
    cells.colour.className = `door-colour rigid is-${row.colour ?? "none"}`;
    setText(cells.when, this.#when(row));
    this.#marks(cells.marks, row);
    this.#note(node);
  }

  #when(row) {
    if (row.state === "here") return root.dataset.here;
    return row.state === "left" ? root.dataset.left : (row.minutes ?? "");
  }

  #marks(box, row) {
    if (!box) return;
    box.hidden = !row.asks && !row.mark;
    for (const button of box.children) {
      button.setAttribute("aria-pressed", String(button.dataset.mark === row.mark));
      button.disabled = false;
    }
  }

  /** The age of old facts, or how long the driver has waited. */
  #note({ cells, row }) {
    let text = "";
    const now = Date.now() + this.offset;
    if (row.seen)
      text = root.dataset.old.replace(
        "{age}",
        ageText((now - Date.parse(row.seen)) / 1000, patterns),
      );
    else if (row.since) text = timerText({ pattern: root.dataset.waiting, since: row.since }, now);
    setText(cells.note, text);
  }

  /**
   * Choose a layout, and show as many rows as have room for a plate of 20 mm, but at least LEAST;
   * further rows are only counted. On a tablet the plate is on a separate line, as wide as the row,
   * and one row is enough.
   */
  #fit() {
    const { rows, more } = this.body;
    const { clientWidth: width, clientHeight } = root;
    const grand = this.measured && this.platePx > width * OF_STACKED;
    const stacked = grand || portrait.matches || this.platePx > width * OF_WIDTH * 1.2;
    root.classList.toggle("is-stacked", stacked);
    root.classList.toggle("is-grand", grand);
    root.style.setProperty("--plate-px", `${this.platePx}px`);
    let look = stacked ? "stacked" : "line";
    if (grand) look = root.dataset.marks && portrait.matches ? "pressed" : "grand";
    const room = Math.floor(clientHeight / (this.platePx * HEIGHT[look]));
    const most = grand ? Math.max(1, room) : Math.max(LEAST, room);
    const shown = Math.min(rows.length, most);
    for (const [i, { id }] of rows.entries()) this.nodes.get(id).item.hidden = i >= shown;
    const slots = stacked && !portrait.matches ? 3 : LEAST;
    this.list.style.setProperty("--slots", grand ? most : Math.max(shown, slots));
    const left = rows.length - shown + more;
    line("more", left > 0, { n: left });
  }

  #tick() {
    const silentMs = document.hidden ? 0 : Date.now() - this.lastAnswerAt;
    const silent = silentMs > SILENT_MS;
    setText(document.querySelector("[data-clock]"), this.clock.format(Date.now() + this.offset));
    for (const node of this.nodes.values()) this.#note(node);
    document.body.classList.toggle("is-cut-off", silent);
    document.body.classList.toggle("is-lost", silent && freshness(silentMs / 1000, 1) === "lost");
    const pattern = silent ? root.dataset.cutOff : root.dataset.updated;
    setText(
      document.querySelector("[data-age-text]"),
      pattern.replace("{age}", ageText(silentMs / 1000, patterns)),
    );
  }

  async #pressed(button) {
    if (!button?.dataset.mark) return;
    const item = button.closest("[data-id]");
    for (const each of item.querySelectorAll("button")) each.disabled = true;
    const answer = await askQuietly("/door/mark", {
      order: item.dataset.id,
      mark: button.dataset.mark,
      csrf_token: document.querySelector("meta[name=csrf-token]").content,
    });
    if ([400, 401].includes(answer.status)) return void loadAnew(); // the CSRF token has expired
    this.poller.anew();
    for (const each of item.querySelectorAll("button")) each.disabled = false;
  }
}

let isLoading = false; // from the first request to the reload, with the pauses between requests

/**
 * Reload, but only once the page can be loaded: otherwise an error page of a proxy would stay at
 * the door until a person noticed. Until then the page stays, and requests itself again.
 */
async function loadAnew() {
  if (isLoading) return;
  isLoading = true;
  const answer = await fetch(location.pathname, { cache: "no-store" }).catch(() => null);
  if (answer?.ok) return void location.reload();
  setTimeout(() => {
    isLoading = false;
    loadAnew();
  }, AGAIN_MS);
}

/** Fill a line below the rows from its pattern; hide it unless `shown`. */
function line(name, shown, slots) {
  const node = document.querySelector(`[data-${name}-line]`);
  node.hidden = !shown;
  if (!shown) return;
  const [[slot, value]] = Object.entries(slots);
  setText(
    node,
    root.dataset[name].replace(`{${slot}}`, () => String(value)),
  );
}

new Door().start();

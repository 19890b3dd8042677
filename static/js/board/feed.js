/**
 * The data of the board, and the address to request changes: one poll for rows, cabs and the chosen
 * ride. No DOM.
 */

const LONGEST = 3_500; // characters: if the list of known rows is longer, all rows are requested

export class Known {
  constructor() {
    this.rows = new Map(); // id -> row as received
    this.order = [];
    this.cabs = [];
    this.v = "";
    this.ride = null; // the id of the chosen ride
    this.rideV = "";
  }

  /** The address of the next poll. */
  url() {
    const query = this.ride === null ? "" : `&ride=${this.ride}`;
    return `/board.json?since=${this.#since()}${query}`;
  }

  /** Choose another ride, or none; its snapshot is not known yet. */
  choose(id) {
    this.ride = id;
    this.rideV = "";
  }

  /** Store an answer; returns the ids of the rows that changed. */
  take(body) {
    for (const row of body.rows) this.rows.set(row.id, row);
    if (body.order) this.#list(body.order);
    if (body.cabs) this.cabs = body.cabs;
    this.v = body.v;
    this.rideV = body.v.split(".")[2];
    return body.rows.map((row) => row.id);
  }

  /** All rows in their order. */
  list() {
    return this.order.map((id) => this.rows.get(id)).filter(Boolean);
  }

  /** Store which rows there are, in their order; the others have left the board. */
  #list(order) {
    this.order = order;
    const there = new Set(order);
    for (const id of this.rows.keys()) if (!there.has(id)) this.rows.delete(id);
  }

  #since() {
    if (!this.v) return "";
    const [order, cabs] = this.v.split(".");
    const head = `${order}.${cabs}.${this.rideV}`;
    const since = `${head}~${[...this.rows.values()].map((row) => row.rev).join("")}`;
    return since.length > LONGEST ? `${head}~` : since;
  }
}

/**
 * The chosen ride on the board's map, with the map methods that a ride's view needs. The fleet
 * draws its cab.
 */

export class ChosenMap {
  constructor(map, fleet) {
    this.map = map;
    this.fleet = fleet;
    this.pick = null;
    this.wants = () => false;
    map.onPick((lat, lng) => this.wants() && this.pick?.(lat, lng));
    const { picking } = fleet; // another form may be waiting for a place
    fleet.picking = () => this.wants() || Boolean(picking?.());
  }

  /**
   * Call `chosen` for clicks on the map while `wants()` is true, because a form of the chosen ride
   * waits for a place.
   */
  onPick(chosen, wants = () => false) {
    this.pick = chosen;
    this.wants = wants;
  }

  pin(...facts) {
    return this.map.pin(...facts);
  }

  clearStops() {
    this.map.clearStops();
  }

  hint(points) {
    this.map.hint(points);
  }

  line(points) {
    this.map.line(points);
  }

  /** Whether the cab jumps from one position to the next, as the fleet's do. */
  get jumps() {
    return true;
  }

  fit(points, options) {
    this.map.fit(points, options);
  }

  shows(lat, lng) {
    return this.map.shows(lat, lng);
  }

  cab() {
    return {
      element: document.createElement("span"),
      say: () => {},
      place: () => {},
      remove: () => {},
    };
  }

  /** Remove the ride from the map: no ride is chosen any more. */
  clear() {
    for (const kind of ["pickup", "drop"]) this.map.unpin(kind);
    this.map.clearStops();
    this.map.hint([]);
    this.map.line([]);
    this.pick = null;
    this.wants = () => false;
  }
}

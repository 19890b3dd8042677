/**
 * The ride on the whole screen, for a monitor that is turned to the guest. It is a part of the
 * ride's page, whose polls keep it up to date; Esc leaves it.
 */

export class ToGuest {
  /** `left()` is called when the dialog closes. */
  constructor(root, left) {
    this.dialog = root.querySelector("[data-to-guest]");
    // the button is replaced when the guest is corrected
    root.addEventListener("click", ({ target }) => {
      if (target.closest("[data-show-guest]")) this.#show();
    });
    this.dialog.querySelector("[data-leave]").addEventListener("click", () => this.close());
    this.dialog.addEventListener("close", () => {
      if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
      left();
    });
    // Esc first ends the full screen, and no handler receives that key: so the dialog closes then
    this.follow = () => document.fullscreenElement || this.close();
    document.addEventListener("fullscreenchange", this.follow);
  }

  close() {
    if (this.dialog.open) this.dialog.close();
  }

  /** Close the dialog and stop listening, because the ride is removed from the page. */
  end() {
    document.removeEventListener("fullscreenchange", this.follow);
    this.close();
  }

  /** Show the ride; without permission for the full screen, fill the window. */
  async #show() {
    if (this.dialog.open) return;
    try {
      await document.documentElement.requestFullscreen({ navigationUI: "hide" });
    } catch {
      // the full screen was refused, or the browser does not have it
    }
    if (this.dialog.isConnected && !this.dialog.open) this.dialog.showModal();
  }
}

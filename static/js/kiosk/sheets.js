/** Sheets over a screen: "Still there?", languages, help, a question before an action. */

import { control, lines as linesOf, make, qrCode } from "./el.js";
import { sheet } from "./frame.js";
import { languages } from "./screens.js";

/**
 * "Still there?", with the seconds left and a ring that shrinks. It hides the screen (kiosk.css),
 * because whoever stands there now may be another guest.
 */
export function stillThere(k, seconds, of) {
  const number = make("span", "k-there-s heavy num", String(seconds));
  const ring = make("div", "centred k-there-ring", number);
  ring.style.setProperty("--part", String(seconds / of));
  const here = control("here", "k-button k-main", () => k.stay(), k.t("go_on"));
  here.dataset.first = "";
  const left = make("span", "visually-hidden", k.t("clears", { s: seconds }));
  const why = make("p", "k-lead", left, " ", k.t("there_why"));
  why.id = "there-why";
  // the seconds are read once, from `left`: a spoken countdown would cover everything else
  ring.setAttribute("aria-hidden", "true");
  const over = control("there-over", "k-button", () => k.end("left"), k.t("over"));
  const buttons = make("div", "wrap k-deeds", here, over);
  const node = sheet("there", k.t("there"), ring, why, buttons);
  node.setAttribute("role", "alertdialog");
  node.setAttribute("aria-describedby", why.id);
  return node;
}

/** Update "Still there?" without drawing it anew, so that nothing moves under a finger. */
export function countDown(root, seconds, of) {
  const ring = root.querySelector(".k-there-ring");
  if (!ring) return;
  ring.style.setProperty("--part", String(seconds / of));
  ring.firstElementChild.textContent = String(seconds);
}

export function languageSheet(k) {
  const close = control("close", "k-button", () => k.closeSheet("language"), k.t("close"));
  const group = languages(k);
  group.querySelector("[aria-current]")?.setAttribute("data-first", "");
  return sheet("language", k.t("choose_language"), group, make("div", "wrap k-deeds", close));
}

/** The sheet after a call for help: what the desk has answered so far. */
export function helpSheet(k, state) {
  const words = {
    asked: "help_asked",
    coming: "help_coming",
    late: "help_late",
    failed: "help_no_way",
  }[state];
  const close = control("close", "k-button k-main", () => k.closeSheet("help"), k.t("close"));
  close.dataset.first = "";
  const parts = [make("div", "wrap k-deeds", close)];
  if (k.deskPhone) parts.unshift(k.deskPhone);
  const node = sheet("help", k.t(words), ...parts);
  node.querySelector(".k-sheet-title").setAttribute("role", "status");
  return node;
}

/** A question before an action that can't be undone; the safe answer has the focus. */
export function ask(k, { name, title, lines = [], yes, no, act }) {
  const keep = control(`${name}-no`, "k-button k-main", () => k.closeSheet(name), no);
  keep.dataset.first = "";
  const go = () => {
    k.frame.remove(name); // not closeSheet(), which reads the screen: the result is read instead
    act();
  };
  const words = linesOf(k, ...lines);
  const buttons = make(
    "div",
    "wrap k-deeds",
    keep,
    control(`${name}-yes`, "k-button k-bad", go, yes),
  );
  return sheet(name, title, ...words, buttons);
}

/** Whether the ride shall be cancelled, and what that costs. */
export function cancelSheet(k, act) {
  const lines = [k.visit.cancel?.fee_words];
  const texts = { yes: k.t("cancel_yes"), no: k.t("cancel_no") };
  return ask(k, { name: "cancel", title: k.t("cancel_ask"), lines, ...texts, act });
}

/** The dark screen, for a guest who only listens; any touch ends it. */
export function dark(k) {
  const node = make("div", "centred k-dark center", make("p", "", k.t("blanked")));
  node.setAttribute("role", "status");
  return node;
}

/** The link for the guest's own phone: {words, phone: {qr}}. */
export function phoneSheet(k, { words, phone }) {
  const close = control("close", "k-button", () => k.closeSheet("phone"), k.t("close"));
  close.dataset.first = "";
  return sheet(
    "phone",
    words.headline || k.t("own_phone"),
    make("div", "k-qr-box grid gap-1 rigid", qrCode(phone.qr, k.t("own_phone_lead"))),
    ...[words.why || k.t("own_phone_lead"), words.next].map((line) => make("p", "k-lead", line)),
    make("div", "wrap k-deeds", close),
  );
}

export function goneSheet(k, words) {
  const done = control("done", "k-button k-main", () => k.end("done"), k.t("done"));
  done.dataset.first = "";
  return sheet("phone", words.headline, make("div", "wrap k-deeds", done));
}

/**
 * The stage: sends the forms of the director's bar without leaving the page, lets the phone follow
 * the newest ride, and keeps the shown clock up to date.
 */

import { Poller } from "../shared/poller.js";
import { onKey } from "../shared/keys.js";
import { parsed } from "../shared/markup.js";
import { Cards } from "./cards.js";
import { picture } from "./picture.js";
import { Screens } from "./screens.js";
import { isDenied } from "./story.js";
import { StageStory } from "./stage_story.js";

const EVERY_MS = 1_000;
const PRESENTED_MS = 400; // while a presenter's window is open, whose presses come with a poll
const SPEEDS = { 1: "1", 2: "5", 3: "20", 4: "60" }; // speeds by their keys
const root = document.querySelector("[data-stage]");
const messageLine = root.querySelector("[data-said]");
const screens = new Screens(root);
const more = document.querySelector(".stage-more");
let speed = document.querySelector('[data-press="speed"] [aria-pressed="true"]')?.value ?? "";

/** Show a sentence below the screens. */
function say(words) {
  if (messageLine.textContent !== words) messageLine.textContent = words;
}

function showClock(clock) {
  document.querySelector("[data-clock-at]").textContent = clock?.at ?? "–";
  speed = clock?.speed ?? "";
  for (const button of document.querySelectorAll('[data-press="speed"] button'))
    button.setAttribute("aria-pressed", String(button.value === speed));
}

function showQr(code) {
  const figure = root.querySelector("[data-qr]");
  if (!figure) return;
  figure.hidden = !code;
  if (!code) return;
  figure.querySelector("svg").setAttribute("viewBox", `0 0 ${code.size} ${code.size}`);
  figure.querySelector("path").setAttribute("d", code.path);
}

let lost = false; // whether the last poll brought no update of the stage

/** Say why an answer with this status is no update of the stage; 0 for no answer. */
function refuse(status) {
  const why = { 401: "sayOut", 403: "sayManager" }[status] ?? "sayAway";
  lost = true;
  if (isDenied(status)) cards.open(""); // the user signs in at the desk behind it
  say(root.dataset[why]);
}

/** A press was denied. A poll under way is ignored: it may have been answered before the denial. */
function denied(status) {
  follower.anew();
  refuse(status);
}

let fulfilled = null; // the number of the last wish of the presenter's window that was fulfilled

/** Do what the presenter's window asks for, once, and nothing from before this page was loaded. */
function fulfil({ number, do: what }) {
  const isNew = fulfilled !== null && number !== fulfilled;
  fulfilled = number;
  if (!isNew) return;
  cards.open("");
  if (what === "pause") button("0").click();
  else story[what]();
}

/** The address of a poll, which tells the presenter's window whether a story plays here. */
const newest = () => `/demo/stage/newest.json?plays=${story.leads ? 1 : 0}`;
const follower = new Poller(newest, {
  waitMs: EVERY_MS,
  got(body) {
    // the forms of the stage and of its desk belong to a former sign-in and would be refused
    if (body.sign_in !== root.dataset.signIn) {
      location.reload();
      return null; // another poll would start the reload anew each second, and it would never end
    }
    if (lost) story.tell();
    lost = false;
    showClock(body.clock);
    screens.open("phone", body.link);
    screens.rides(body);
    showQr(body.qr);
    screens.point();
    cards.prepare(body.preparing);
    fulfil(body.wish);
    root.classList.toggle("is-wall", body.presented);
    return body.presented ? PRESENTED_MS : EVERY_MS;
  },
  failed: refuse,
});
follower.now();
// the user may have signed in at the desk, and the next poll may be half a minute away
const found = () => lost && follower.now();
screens.frame("desk").addEventListener("load", found);
// which loads no page when it was covered (auth/signed_in.js)
if ("BroadcastChannel" in window)
  new BroadcastChannel("ridedash sign-in").addEventListener("message", found);
const story = new StageStory(root, screens, {
  say,
  changed: () => follower.now(),
  hold: () => button("0").click(),
  denied,
  ended: ({ card }) => cards.end(card),
});
const cards = new Cards(root, {
  play() {
    cards.open("");
    document.querySelector("[data-choose]").selectedIndex = 0; // the five minutes are the first
    story.play();
  },
});
// whoever chooses a story, or lets one go on, is done with the card
for (const name of ["choose", "step"])
  document.querySelector(`[data-${name}]`).addEventListener("click", () => cards.open(""));
document.querySelector("[data-step]").addEventListener("click", () => (more.open = false));

/** Send a form of the bar, and show the message of the director's page in the answer. */
async function press(form, submitter) {
  const body = new URLSearchParams(new FormData(form));
  if (submitter?.name) body.append(submitter.name, submitter.value);
  const button = submitter ?? form.querySelector("button");
  let done = "";
  button.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(form.action, { method: "POST", body, credentials: "same-origin" });
    const page = parsed(await answer.text());
    const message = page.querySelector("main [role=alert], main [role=status]");
    const words = message ?? page.querySelector("h1"); // an error page has only a heading
    say(words ? words.innerText.replace(/\s+/g, " ").trim() : root.dataset.saySilent);
    if (isDenied(answer.status)) denied(answer.status);
    done = new URL(answer.url).searchParams.get("said");
  } catch {
    say(root.dataset.sayAway);
  }
  button.removeAttribute("aria-busy");
  follower.now();
  if (done === "reset") begunAnew();
}

/**
 * While a story plays, the story controls the clock: Hold pauses the story, and a chosen speed
 * becomes the story's speed. False if the press has to be sent to the server too.
 */
function turned(value) {
  if (!story.leads) return false;
  if (value === "0") story.pause();
  else story.at(Number(value));
  return value !== "0";
}

/** After a Reset the desk shows the empty board, whatever it showed before. */
function begunAnew() {
  more.open = false;
  story.forget();
  cards.open("title");
  screens.calm();
  screens.reload("desk", "/");
}

for (const form of document.querySelectorAll("[data-press]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.dataset.press !== "speed" || !turned(event.submitter.value)) {
      press(form, event.submitter);
    }
  });
}

root.querySelector("[data-pair]")?.addEventListener("submit", (event) => {
  const part = event.target.closest("[data-surface]");
  part.querySelector("[data-frame]").hidden = false;
  part.querySelector("[data-empty]").hidden = true;
});

/** Draw the visible screens, and send the picture to the server (ridedash/demo/pictures.py). */
async function photograph(button) {
  const { words, failed } = button.dataset;
  button.setAttribute("aria-busy", "true");
  try {
    const at = document.querySelector("[data-clock-at]").textContent;
    const body = await picture(screens.floor, screens.seen, `${words} · ${at}`);
    const token = document.querySelector('meta[name="csrf-token"]').content;
    const headers = { "X-CSRFToken": token, "Content-Type": "image/jpeg" };
    const answer = await fetch("/demo/pictures", { method: "POST", body, headers });
    say(answer.ok ? (await answer.json()).said : failed);
  } catch {
    say(failed);
  }
  button.removeAttribute("aria-busy");
  more.open = false;
}

document.querySelector("[data-camera]").addEventListener("click", ({ currentTarget }) => {
  photograph(currentTarget);
});

document.querySelector("[data-projector]").addEventListener("click", ({ currentTarget }) => {
  screens.projected = !screens.projected;
  currentTarget.setAttribute("aria-pressed", String(screens.projected));
});

document.addEventListener("click", (event) => {
  if (!more.contains(event.target)) more.open = false;
});

const button = (value) => document.querySelector(`[data-press="speed"] [value="${value}"]`);
onKey(" ", () => button(speed === "0" ? "1" : "0").click());
onKey(" ", ({ target }) => target.closest("button, summary, a").click(), "button, summary, a");
onKey(".", () => document.querySelector('[data-press="next"] button').click());
for (const [key, value] of Object.entries(SPEEDS)) onKey(key, () => button(value).click());
onKey("s", () => {
  cards.open("");
  story.step();
});

/** Open the lens beside the phone, or close it. */
function turnLens() {
  cards.open("");
  screens.arrange(root.dataset.layout === "3" ? "1" : "3");
}
const toLens = document.querySelector("[data-to-lens]");
if (toLens) {
  toLens.addEventListener("click", turnLens);
  onKey("~", turnLens);
}
onKey("n", () => screens.page("desk")?.getElementById("guest-find")?.focus());
onKey("Escape", () => (more.open = false));

// Reset asks each time that the menu is opened
more.addEventListener("toggle", () => (more.querySelector("details").open = false));

/**
 * The page of a list: sends its forms and shows the answer in place, asks for places and prices
 * until none is missing, and follows the booking. Without scripts its forms work as forms do.
 */

import { bodyOf, formData, patience } from "../shared/ask.js";
import { tellEnded } from "../shared/ended.js";
import { nodesOf } from "../shared/markup.js";
import { Poller } from "../shared/poller.js";
import { released } from "../shared/press.js";
import { putBack, sentBy, typedIn } from "../shared/typed.js";

const box = document.querySelector("[data-list]");
const AGAIN_MS = 400; // between two requests for prices
const MOST_IN_A_ROW = 30;
let sent = 0; // requests so far: an answer that is not the newest is dropped
let asked = 0; // requests for prices in a row
let editing = "";

/** Show a list. What is typed stays, but for what was sent with the request (`sentBy`). */
function put(html, fields) {
  const typed = typedIn(box, fields);
  const scrolled = box.querySelector(".list-table-box")?.scrollLeft ?? 0;
  box.replaceChildren(...nodesOf(html));
  const table = box.querySelector(".list-table-box");
  if (table) table.scrollLeft = scrolled;
  putBack(box, typed);
}

function fail() {
  const words = document.createElement("p");
  words.className = "alert tone-warn";
  words.setAttribute("role", "alert");
  words.textContent = box.dataset.sayFailed;
  box.prepend(words);
}

async function load(address, body, fields) {
  const mine = (sent += 1);
  let answer = null;
  try {
    answer = await fetch(address, {
      method: body ? "POST" : "GET",
      body,
      headers: { Accept: "application/json" },
      credentials: "same-origin",
      cache: "no-store",
      signal: patience(),
    });
  } catch {
    if (mine === sent) fail();
    return;
  }
  const found = await bodyOf(answer);
  await released();
  if (mine !== sent) return;
  if (answer.status === 401) tellEnded();
  else if (!found?.html) fail();
  else shown(found, fields);
}

function shown({ html, wait_ms: waitMs, pending, said }, fields) {
  put(html, fields);
  const word = said && document.getElementById("list-said");
  if (word) word.focus({ preventScroll: false });
  if (waitMs) follow(waitMs);
  if (!pending || said) asked = 0;
  else if (asked < MOST_IN_A_ROW) setTimeout(askPrices, AGAIN_MS);
}

/** Look up drops and ask for prices, as the page says that some are missing. */
function askPrices() {
  const form = document.getElementById("list-form");
  if (!form || editing) return;
  asked += 1;
  const data = new FormData(form);
  data.append("do", "price");
  load(box.dataset.list, data);
}

box.addEventListener("submit", (event) => {
  const form = event.target;
  if ("leaves" in form.dataset) return;
  event.preventDefault();
  asked = 0;
  const address = new URL(form.action);
  if ("edit" in form.dataset) editing = "";
  else if (editing) address.searchParams.set("line", editing); // it stays open
  load(address, formData(form, event.submitter), sentBy(form));
});

box.addEventListener("change", ({ target }) => {
  if (target.matches("[data-auto]")) target.form?.requestSubmit();
});

box.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-correct]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  editing = new URL(link.href).searchParams.get("line") ?? "";
  load(link.href).then(() => {
    const next = editing ? "edit-name" : link.id;
    document.getElementById(next)?.focus();
  });
});

let poller = null;

function follow(waitMs) {
  if (poller) return;
  poller = new Poller(box.dataset.list, {
    waitMs,
    got: (body) => {
      if (body && !editing && !box.querySelector(".list-trip :focus")) put(body.html);
      return body?.wait_ms || waitMs;
    },
    failed: (status) => (status === 404 ? "stop" : ""),
  });
  poller.start();
}

if (Number(box.dataset.waitMs)) follow(Number(box.dataset.waitMs));
if ("pending" in box.dataset) askPrices();
editing = new URLSearchParams(location.search).get("line") ?? "";

/** The presenter's window: follows the story of the stage, and sends the wishes of its buttons. */

import { askQuietly } from "../shared/ask.js";
import { Poller } from "../shared/poller.js";
import { isOver } from "./story.js";

const EVERY_MS = 600;
const root = document.querySelector("[data-prompter]");
const form = root.querySelector("[data-prompt-form]");

function tell(name, words) {
  const line = root.querySelector(`[data-prompt-${name}]`);
  if (line.textContent !== words) line.textContent = words;
}

function button(wish) {
  return form.querySelector(`[value=${wish}]`);
}

function show({ clock, run, plays, staged }) {
  tell("clock", clock?.at ?? "–");
  const runs = Boolean(run) && !isOver(run);
  tell("step", runs ? `${Math.max(run.taken, 0)} / ${run.of}` : "");
  const { sayNone, sayReady, sayEnded } = root.dataset;
  const idle = run?.state === "ended" ? sayEnded : sayReady;
  tell("say", staged ? (runs && run.say) || idle : sayNone);
  tell("next", runs ? run.next : "");
  tell("waits", runs ? [run.told, run.waits].filter(Boolean).join(" ") : "");
  button("play").hidden = plays;
  button("pause").hidden = !plays;
  for (const wish of ["skip", "drop"]) button(wish).hidden = !runs;
}

const follower = new Poller("/demo/presenter/state.json", {
  waitMs: EVERY_MS,
  got(body) {
    if (body) show(body);
    return EVERY_MS;
  },
  failed: () => tell("say", root.dataset.saySilent),
});
follower.now();

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { csrf_token } = Object.fromEntries(new FormData(form));
  const sent = { csrf_token, do: event.submitter.value };
  const { ok, body } = await askQuietly(form.action, sent);
  if (ok) show(body);
  else tell("say", root.dataset.saySilent);
  follower.now();
});

/** The page of a story: Play and Pause beside the forms that work without this script. */

import { isFinal, isOver, play } from "./story.js";

const page = document.querySelector("[data-run]");
const form = document.querySelector("[data-run-form]");

/** Show why the story does not continue; "" removes the message. */
function refuse(words) {
  const refused = page.querySelector("[data-run-refused]");
  refused.textContent = words;
  refused.hidden = !words;
}

function show(moment) {
  refuse(moment.refused ?? "");
  if (moment.say) page.querySelector("[data-run-say]").textContent = moment.say;
  page.querySelector("[data-run-step]").textContent = `${moment.taken} / ${moment.of}`;
  const info = page.querySelector("[data-run-told]");
  info.textContent = moment.told;
  info.hidden = !moment.told;
  const next = page.querySelector("[data-run-next]");
  next.textContent = moment.next;
  next.parentElement.hidden = !moment.next;
  const waits = page.querySelector("[data-run-waits]");
  waits.hidden = moment.state !== "waiting";
  const words = moment.waits || waits.dataset.words;
  page.querySelector("[data-run-waits-words]").textContent = words;
  form.elements.step.value = moment.step;
}

if (form) {
  const buttons = [...form.querySelectorAll("[data-play]")];
  const pause = form.querySelector("[data-pause]");
  let stop = null;
  let latest = {
    run: page.dataset.run,
    step: Number(form.dataset.step),
    state: form.dataset.state,
  };

  const mark = (playing) => {
    pause.hidden = !playing;
    for (const button of buttons) button.hidden = playing;
  };

  const begin = (speed, onlyThis) => {
    stop?.();
    stop = play(latest, {
      speed,
      onMoment(moment) {
        const went = moment.step !== latest.step;
        latest = moment;
        if (isOver(moment)) {
          // the server renders the list at the end, and an error, into the page
          location.reload();
          return;
        }
        show(moment);
        if (onlyThis && went) pause.click();
      },
      onTrouble(words, status) {
        refuse(words || page.dataset.saySilent);
        if (isFinal(status)) pause.click();
      },
    });
    mark(true);
  };

  pause.addEventListener("click", () => {
    stop?.();
    stop = null;
    mark(false);
  });
  for (const button of buttons) {
    button.addEventListener("click", () => begin(Number(button.dataset.play), false));
  }
  form.addEventListener("submit", (event) => {
    if (event.submitter?.name !== "speed") return;
    event.preventDefault();
    begin(0, true);
  });
  mark(false);
}

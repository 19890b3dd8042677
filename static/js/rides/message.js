/**
 * Prepared messages to the guest. Links open the desk's own SMS, WhatsApp or mail program with the
 * words in the field; following a link, or copying the words, is recorded as prepared.
 */

const LEFT = /[!'()*]/g; // reserved characters that encodeURIComponent does not encode

function encoded(text, way) {
  const lines = way === "mail" ? text.replace(/\r?\n/g, "\r\n") : text;
  return encodeURIComponent(lines.toWellFormed?.() ?? lines).replace(
    LEFT,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Show a message of the server in its box, or hide the box when there is none. */
export function showMessage(box, message) {
  box.hidden = !message;
  if (!message) return;
  field(box).value = message.text;
  for (const link of box.querySelectorAll("[data-way]")) {
    link.dataset.begin = message[link.dataset.way];
    link.hidden = !link.dataset.begin;
  }
  address(box);
}

/**
 * Update the links with what is typed, and record their use. `csrf()` returns the form's token;
 * `said(words)` shows that the message was prepared.
 */
export function watchMessage(box, { csrf, said }) {
  field(box).addEventListener("input", () => address(box));
  box.addEventListener("click", (event) => {
    const pressed = event.target.closest("[data-way], [data-copy]");
    if (!pressed) return;
    record(box, pressed.dataset.way ?? "copy", csrf());
    said(box.dataset.prepared);
  });
}

function field(box) {
  return box.querySelector("[data-message-text]");
}

function address(box) {
  for (const link of box.querySelectorAll("[data-way]")) {
    const { begin, way } = link.dataset;
    if (begin) link.href = begin + encoded(field(box).value, way);
    else link.removeAttribute("href");
  }
}

function record(box, how, csrf) {
  fetch(box.dataset.record, {
    method: "POST",
    headers: { Accept: "application/json" },
    body: new URLSearchParams({ csrf_token: csrf, how }),
    credentials: "same-origin",
    keepalive: true, // sent even if the opened program replaces the page
  }).catch(() => {}); // the words can be sent nevertheless
}

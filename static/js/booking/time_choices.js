/** The times that a typed text may mean, as buttons. Each types its time into the field. */

import { keepFocus } from "../shared/focus.js";

/**
 * Show a button for each choice ({words, said}) in `box`, with this name; hide it if none is. The
 * focus of a button that goes moves to `field`.
 */
export function showChoices(box, name, choices, field) {
  const buttons = choices.map(({ words, said }) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "submit", name, value: words, textContent: said });
    button.className = "btn btn-small";
    return button;
  });
  const show = () => {
    box.hidden = choices.length === 0;
    box.replaceChildren(...buttons);
  };
  keepFocus(box, show, field);
}

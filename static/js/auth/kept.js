/** Sends a form that was kept on its way back, by the button that orders nothing. */

const form = document.querySelector("[data-kept]");
form.requestSubmit(form.querySelector("button"));

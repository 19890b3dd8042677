/**
 * Marks the offered languages whose letters this browser can't display, which only the browser
 * knows.
 */

import { canWrite } from "../shared/letters.js";

const line = document.querySelector("[data-boxes]");
const rows = [...document.querySelectorAll("[data-sample]")];
const bare = rows.filter(({ dataset, lang }) => !canWrite(dataset.sample, lang));
const names = bare.map(({ dataset }) => dataset.named);
const list = new Intl.ListFormat(document.documentElement.lang).format(names);

const { boxes, all } = line.dataset;
line.textContent = names.length ? boxes.replace("{languages}", list) : all;
line.hidden = rows.length === 0;

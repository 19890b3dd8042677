/** The offered languages that this browser can't write: it alone knows its faces. */

import { canWrite } from "../shared/letters.js";

const said = document.querySelector("[data-boxes]");
const rows = [...document.querySelectorAll("[data-sample]")];
const bare = rows.filter(({ dataset, lang }) => !canWrite(dataset.sample, lang));
const names = bare.map(({ dataset }) => dataset.named);
const list = new Intl.ListFormat(document.documentElement.lang).format(names);

said.textContent = names.length ? said.dataset.boxes.replace("{languages}", list) : said.dataset.all;
said.hidden = rows.length === 0;

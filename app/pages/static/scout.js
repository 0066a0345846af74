// Nicer, never needed: chips under the lists, a preview that follows the typing, the browser's own time zone.
"use strict";

const PREVIEW_WAIT_MS = 400;

function split(text) {
  const items = [];
  const item = /\s*(?:"((?:[^"\n]|"")*)"\s*(?=[,\n]|$)|([^,\n]*))(?:[,\n]|$)/y;
  while (item.lastIndex < text.length) {
    const start = item.lastIndex;
    const found = item.exec(text);
    if (!found) break;
    const word = (found[1] === undefined ? found[2] : found[1].replaceAll('""', '"')).trim();
    if (word) items.push({ word, start, end: item.lastIndex });
  }
  return items;
}

function drawChips(area, list) {
  const items = split(area.value);
  list.replaceChildren(
    ...items.map(({ word, start, end }) => {
      const chip = document.createElement("button");
      chip.type = "button";
      chip.className = "chip";
      chip.textContent = word;
      chip.setAttribute("aria-label", `Remove ${word}`);
      chip.addEventListener("click", () => {
        const place = [...list.children].indexOf(chip);
        area.value = area.value.slice(0, start) + area.value.slice(end).trimStart();
        area.value = area.value.replace(/,\s*$/, "");
        area.dispatchEvent(new Event("input", { bubbles: true }));
        (list.children[Math.min(place, list.children.length - 1)] || area).focus();
      });
      return chip;
    }),
  );
  list.hidden = items.length === 0;
}

for (const area of document.querySelectorAll("textarea[data-chips]")) {
  const list = document.createElement("div");
  list.className = "chips drawn";
  area.after(list);
  area.addEventListener("input", () => drawChips(area, list));
  drawChips(area, list);
}

const form = document.querySelector("form[data-live]");
const preview = document.getElementById("preview");
if (form && preview) {
  let timer = 0;
  let asked = 0;
  const ask = async () => {
    const mine = ++asked;
    const fields = new URLSearchParams(new FormData(form));
    fields.set("do", "preview");
    preview.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.action, { method: "POST", body: fields, headers: { "X-Scout-Part": "preview" } });
      if (mine !== asked) return;
      if (answer.ok && !answer.redirected) preview.innerHTML = await answer.text();
    } catch {
      // Offline: what is shown stays, and the button still works.
    } finally {
      if (mine === asked) preview.removeAttribute("aria-busy");
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PREVIEW_WAIT_MS);
  });
  form.querySelector("[data-preview]").addEventListener("click", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    ask();
  });
}

const zone = document.querySelector("select[data-zone]");
if (zone && zone.value === "UTC") {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if ([...zone.options].some((option) => option.value === here)) zone.value = here;
}

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

// As the server draws them, so that nothing moves; there a chip takes its word away by a round trip.
function drawChips(area, list) {
  const items = split(area.value);
  list.replaceChildren(
    ...items.map(({ word }) => {
      const chip = document.createElement("button");
      chip.className = "chip";
      chip.textContent = word;
      chip.setAttribute("aria-label", `Remove ${word}`);
      return chip;
    }),
  );
  list.hidden = items.length === 0;
}

function takeAway(area, word) {
  const item = split(area.value).find((found) => found.word === word);
  if (!item) return;
  const left = area.value.slice(0, item.start) + area.value.slice(item.end).trimStart();
  area.value = left.replace(/,\s*$/, "");
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

for (const list of document.querySelectorAll("[data-for]")) {
  const area = document.getElementById(list.dataset.for);
  area.addEventListener("input", () => drawChips(area, list));
  list.addEventListener("click", (event) => {
    const chip = event.target.closest(".chip");
    if (!chip) return;
    event.preventDefault();
    const place = [...list.children].indexOf(chip);
    takeAway(area, chip.textContent);
    (list.children[Math.min(place, list.children.length - 1)] || area).focus();
  });
}

function signedOut() {
  const note = document.createElement("p");
  note.className = "note";
  const link = document.createElement("a");
  link.href = "/login";
  link.target = "_blank";
  link.textContent = "Sign in in another window";
  note.append("You are signed out: nothing can be tried or saved now. ", link, ", then go on here; what you typed stays.");
  return note;
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
      if (answer.redirected) preview.replaceChildren(signedOut());
      else if (answer.ok) preview.innerHTML = await answer.text();
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

"use strict";

const EVERY = 4000;
const now = document.getElementById("now");
const follow = document.getElementById("follow");
const lost = document.getElementById("lost");
let shown = "";

function replaceBy(text) {
  const open = [...now.querySelectorAll("details[open]")].map(({ id }) => id);
  const focused = document.activeElement?.getAttribute("href");
  // The server has escaped all text, and the page's policy lets no script of the fragment run.
  now.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) [...now.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
}

async function look() {
  if (follow.checked && !document.hidden) {
    try {
      const text = await (await fetch("/now")).text();
      if (text !== shown) replaceBy(shown = text);
      lost.textContent = "";
    } catch {
      lost.textContent = "babelscope serve does not answer; this is what it last said";
    }
  }
  setTimeout(look, EVERY);
}
setTimeout(look, EVERY);

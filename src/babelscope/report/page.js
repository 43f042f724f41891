"use strict";

const actions = { export: true, source: false, compiled: false, editor: false };

for (const holder of document.querySelectorAll(".chart")) {
  const chart = JSON.parse(holder.querySelector("script").textContent);
  const target = holder.appendChild(document.createElement("div"));
  // `ast` interprets expressions instead of compiling them, which the page's policy forbids.
  vegaEmbed(target, chart, { ast: true, renderer: "svg", actions })
    .catch((error) => { target.textContent = `This chart could not be drawn: ${error.message}`; console.error(error); });
}

function before(a, b) {
  const [x, y] = [a, b].map((cell) => cell.dataset.number);
  if (x !== undefined && y !== undefined) return Number(x) - Number(y);
  return a.textContent.localeCompare(b.textContent, undefined, { numeric: true });
}

function sort(header) {
  const table = header.closest("table");
  const column = header.cellIndex;
  const direction = header.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  for (const other of header.parentElement.cells) other.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const lines = [...table.tBodies[0].rows].sort((one, two) => {
    const [a, b] = [one.cells[column], two.cells[column]];
    const empty = (a.textContent === "") - (b.textContent === "");
    return empty || sign * before(a, b);
  });
  table.tBodies[0].append(...lines);
}

for (const button of document.querySelectorAll(".sortable thead button")) {
  button.addEventListener("click", () => sort(button.closest("th")));
}

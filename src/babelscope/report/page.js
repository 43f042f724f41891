"use strict";

const actions = { export: true, source: false, compiled: false, editor: false };
const read = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "{}");
const made = (tag, text, attributes = {}) => Object.assign(document.createElement(tag), { textContent: text, ...attributes });

// --- figures: drawn when they come into view, the others when there is time

const facts = read("facts");
const charts = new Map();
const form = document.querySelector(".filters");

for (const holder of document.querySelectorAll(".chart")) {
  const spec = JSON.parse(holder.querySelector("script").textContent);
  const chart = { holder, spec, target: holder.appendChild(made("div")), layer: null, stale: true };
  charts.set(holder, chart);
  if (spec.facet?.field === "layer") addSlider(chart);
  holder.classList.toggle("cells", (spec.layer ?? []).some(({ mark }) => mark.type === "rect"));
}

const NARROW = 600; // pixels: below that long labels would leave no room to draw in

function narrowed(spec) {
  const limits = { axis: innerWidth * 0.3, legend: innerWidth * 0.5 };
  const limited = (key, value) =>
    value?.labelLimit && key in limits ? { ...value, labelLimit: Math.min(value.labelLimit, limits[key]) } : value;
  const drawn = JSON.parse(JSON.stringify(spec, limited));
  return { ...drawn, config: { ...drawn.config, axisX: { ...drawn.config.axisX, titleAnchor: "end" } } };
}

async function draw(chart) {
  if (!chart.stale) return;
  chart.stale = false;
  const spec = filtered(chart, chart.layer === null ? chart.spec : oneLayer(chart));
  chart.view?.finalize();
  chart.view = null;
  chart.holder.classList.toggle("empty", spec === null);
  if (spec === null) {
    chart.target.textContent = "Nothing of what is chosen is in this figure.";
    return;
  }
  try {
    // `ast` interprets expressions instead of compiling them, which the page's policy forbids.
    const options = { ast: true, renderer: "svg", actions, ...(spec === chart.spec ? {} : { logLevel: 1 }) };
    chart.view = await vegaEmbed(chart.target, innerWidth < NARROW ? narrowed(spec) : spec, options);
    chart.target.querySelector("summary")?.setAttribute("aria-label", "Save this figure");
  } catch (error) {
    chart.target.textContent = `This chart could not be drawn: ${error.message}`;
    console.error(error);
  }
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) draw(charts.get(entry.target));
}, { rootMargin: "200px" });
for (const holder of charts.keys()) seen.observe(holder);

const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
async function drawNext() {
  const next = [...charts.values()].find((chart) => chart.stale);
  if (next) { await draw(next); later(drawNext); }
}
later(drawNext);
addEventListener("beforeprint", () => charts.forEach(draw));

function chosen() {
  const sets = {};
  for (const { name, value } of form?.querySelectorAll("input:checked") ?? []) (sets[name] ??= new Set()).add(value);
  return sets;
}

function valuesOf(record, about) {
  const place = record.place ?? record.language ?? about.language;
  const fact = place === undefined ? undefined : facts[place] ?? facts[String(place).split(" \u00b7 ")[0]];
  const layer = typeof record.layer === "string" ? layerOf(record.layer) : record.layer;
  return { ...fact, task: record.task ?? about.task, layer, seed: record.seed };
}

function layerOf(title) {
  const [, number] = /^Layer (\d+)/.exec(title) ?? [];
  return number ?? 0;
}

// The specification with the chosen records; itself if nothing is chosen, null if nothing is left.
function filtered(chart, spec) {
  const sets = Object.entries(chosen());
  if (!sets.length) return spec;
  const kept = (record) => {
    const values = valuesOf(record, chart.holder.dataset);
    return sets.every(([name, set]) => [undefined, null, ""].includes(values[name]) || set.has(String(values[name])));
  };
  const told = (record) => ["place", "language", "task", "layer", "seed"].some((name) => record[name] !== undefined);
  const any = Object.values(spec.datasets).some((records) => records.some(told));
  const datasets = {};
  let left = 0;  // without what stands in every figure, such as a line at 0
  for (const [name, records] of Object.entries(spec.datasets)) {
    datasets[name] = records.filter(kept);
    left += datasets[name].filter((record) => told(record) || !any).length;
  }
  return left ? { ...spec, datasets } : null;
}

function redraw() {
  charts.forEach((chart) => { chart.stale = true; seen.unobserve(chart.holder); seen.observe(chart.holder); });
  later(drawNext);
}

form?.addEventListener("change", () => {
  for (const menu of form.querySelectorAll("details")) {
    const count = menu.querySelectorAll("input:checked").length;
    menu.querySelector("output").textContent = count || "";
  }
  redraw();
});
form?.addEventListener("reset", () => setTimeout(() => form.dispatchEvent(new Event("change"))));
form?.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && form?.querySelector("details[open]");
  if (open) { open.open = false; open.querySelector("summary").focus(); }
});
document.addEventListener("click", (event) => {
  for (const menu of form?.querySelectorAll("details[open]") ?? []) if (!menu.contains(event.target)) menu.open = false;
});

// --- a slider for figures with a panel a layer: all of them, or one, large

function addSlider(chart) {
  const titles = chart.spec.facet.sort;
  const label = made("label", "Layer ", { className: "slider" });
  const input = made("input", "", { type: "range", min: -1, max: titles.length - 1, step: 1, value: -1 });
  const said = made("output", "all");
  label.append(input, said);
  chart.holder.prepend(label);
  input.addEventListener("input", () => {
    const place = Number(input.value);
    chart.layer = place < 0 ? null : titles[place];
    said.textContent = chart.layer ?? "all";
    input.setAttribute("aria-valuetext", said.textContent);
    chart.stale = true;
    draw(chart);
  });
}

function oneLayer({ spec: { facet, columns, spec, ...whole }, layer }) {
  const of = (records) => records.filter((record) => record.layer === layer);
  const datasets = Object.fromEntries(Object.entries(whole.datasets).map(([name, records]) => [name, of(records)]));
  return { ...whole, ...spec, datasets, width: "container", height: 420 };
}

// --- tables

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

// --- where numbers come from

const sources = read("sources");
const short = (key) => key.slice(0, 12);
const places = new Map((sources.steps ?? []).map(([key], place) => [short(key), place]));
const link = (place) => made("a", sources.steps[place][0].slice(0, 7), { href: `#key-${short(sources.steps[place][0])}` });

function listRows(fold) {
  if (fold.querySelector("ul")) return;
  const list = fold.appendChild(made("ul"));
  for (const [what, steps] of sources.groups[fold.dataset.section]) {
    const line = list.appendChild(made("li", `${what}: `));
    for (const place of steps) {
      const seed = sources.steps[place][2];
      line.append(seed === null ? "" : `seed ${seed} `, link(place), " ");
    }
  }
}
for (const fold of document.querySelectorAll("details.sources")) fold.addEventListener("toggle", () => listRows(fold));

function ledTo(place, order = []) {
  for (const input of sources.steps[place][3]) ledTo(input, order);
  if (!order.includes(place)) order.push(place);
  return order;
}

function about(place) {
  const [key, title, seed] = sources.steps[place];
  const steps = made("ol");
  for (const step of ledTo(place)) {
    steps.appendChild(made("li", `${sources.steps[step][1]} `)).append(link(step));
  }
  return [
    made("h3", title || "A result"), made("p", `Key: ${key}`),
    ...(seed === null ? [] : [made("p", `Seed: ${seed}`)]),
    ...(sources.command ? [made("p", "This computes it again:"), made("pre", sources.command)] : []),
    made("p", "The steps that led to it, in their order:"), steps,
    made("p", "In a store:"), made("pre", `results/${key.slice(0, 2)}/${key}/rows.jsonl`),
  ];
}

function aboutSeveral(places) {
  const list = made("ul");
  for (const place of places) {
    const [, title, seed] = sources.steps[place];
    list.appendChild(made("li", `${title || (seed === null ? "a result" : `seed ${seed}`)} `)).append(link(place));
  }
  return [made("h3", `${places.length} results`), list];
}

function showResults(places) {
  const dialog = document.getElementById("result");
  const close = made("button", "Close", { type: "button" });
  close.addEventListener("click", () => dialog.close());
  const rows = made("div", "", { className: "rows-of" });
  dialog.replaceChildren(...(places.length > 1 ? aboutSeveral(places) : about(places[0])), rows, close);
  if (!dialog.open) dialog.showModal();
  rowsOf(places.map((place) => sources.steps[place][0])).then((table) => rows.replaceChildren(...table));
}

// Their rows, out of the file that the page holds for download.
const MOST_ROWS = 100;
const FIRST = ["measure", "value", "low", "high", "unit", "language", "dataset", "split", "seed"];
let lines = null;

async function unzipped(address) {
  const bytes = Uint8Array.from(atob(address.split(",")[1]), (letter) => letter.charCodeAt(0));
  const text = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  return (await text).split("\n");
}

function cellsOf(line) {
  const found = `,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...found].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain);
}

async function rowsOf(keys) {
  lines ??= unzipped(document.querySelector("#made a[download]").href);
  const [names, ...all] = await lines;
  const own = all.filter((line) => keys.some((key) => line.includes(key)));
  const rows = own.slice(0, MOST_ROWS).map(cellsOf);
  const header = cellsOf(names);
  const order = [...FIRST.map((name) => header.indexOf(name)), ...header.keys()];
  const shown = [...new Set(order)].filter((column) => header[column] !== "study" && rows.some((row) => row[column]));
  const more = own.length > rows.length ? `, the first ${rows.length} of them` : "";
  return [made("p", `Rows: ${own.length}${more}`), tableOf(header, rows, shown)];
}

function tableOf(header, rows, shown) {
  const frame = made("div", "", { className: "wide", tabIndex: 0, role: "region", ariaLabel: "Rows" });
  const table = frame.appendChild(made("table"));
  const head = table.createTHead().insertRow();
  for (const column of shown) head.appendChild(made("th", "", { scope: "col" })).append(made("span", header[column]));
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const column of shown) line.insertCell().textContent = header[column] === "key" ? row[column].slice(0, 7) : row[column];
  }
  return frame;
}

document.getElementById("result").addEventListener("close", () => history.replaceState(null, "", location.pathname));

function follow() {
  const name = decodeURIComponent(location.hash.slice(1));
  const known = name.startsWith("key-") ? name.slice(4).split("+").map((key) => places.get(key)) : [];
  if (known.length && !known.includes(undefined)) showResults(known);
  const fold = name.startsWith("rows-") && document.getElementById(name);
  if (fold) { fold.open = true; fold.scrollIntoView(); }
}
addEventListener("hashchange", follow);
follow();

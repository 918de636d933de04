// Puts everything in its place, and answers the tools above the map.

const dark = window.matchMedia("(prefers-color-scheme: dark)");
let wished = null; // what the button asked for; the system's wish otherwise

function paint() {
  theme = wished || (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", `Show the report in ${theme === "dark" ? "light" : "dark"} colours`);
  Plan.recolour();
  legend();
}

function legend() {
  const box = byId("legend");
  if (way.kind === "scale") {
    const bar = element("canvas", { width: 220, height: 12, role: "img", "aria-label": `From ${figure(way.ends[0])} to ${figure(way.ends[1])}` });
    const pen = bar.getContext("2d");
    for (let at = 0; at < 220; at++) {
      pen.fillStyle = css(scaleColour(at / 219));
      pen.fillRect(at, 0, 1, 12);
    }
    box.replaceChildren(element("span", {}, figure(way.ends[0])), bar, element("span", {}, figure(way.ends[1])));
    return;
  }
  if (way.names === null) {
    const earlier = RUN.earlier ? " Squares were labelled earlier." : "";
    box.replaceChildren(element("span", { class: "faint" }, `Every point in the colour of its pick. Discs are picks, larger where they stand for more of the pool.${earlier}`));
    return;
  }
  const keys = way.names.slice(0, MOST_NAMED).map((name, at) => {
    const swatch = element("i", { "aria-hidden": "true" });
    swatch.style.background = css(classColour(at));
    return element("button", {
      type: "button", "aria-pressed": String(onlyClass === at),
      onclick: () => { onlyClass = onlyClass === at ? null : at; Plan.recolour(); legend(); },
    }, swatch, element("span", {}, name));
  });
  const rest = way.names.length > MOST_NAMED ? [element("span", { class: "faint" }, `and ${whole(way.names.length - MOST_NAMED)} more`)] : [];
  box.replaceChildren(...keys, ...rest);
}

function fill() {
  byId("headline").textContent = RUN.headline;
  byId("source").textContent = `${RUN.pool}: ${whole(RUN.points)} points of ${whole(RUN.dimension)} dimensions, ${RUN.metric}`;
  byId("meaning").textContent = RUN.meaning;
  const facts = [
    ["distance", figure(RUN.distance)],
    ["lower bound", RUN.bound === null ? "no certificate" : figure(RUN.bound)],
    ["gap", RUN.gap === null ? "–" : percent(RUN.gap)],
    ["picks", whole(RUN.budget)],
    ...(RUN.earlier ? [["labelled earlier", whole(RUN.earlier)]] : []),
    ["each stands for", RUN.weights],
    ...(typeof RUN.seconds === "number" ? [["time", `${figure(RUN.seconds)} s`]] : []),
    ...(RUN.by ? [["picked by", RUN.by]] : []),
    ...(RUN.ending ? [["how it ended", RUN.ending]] : []),
  ];
  for (const [name, value] of facts) byId("figures").append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  byId("colour").append(...WAYS.map(({ name }, at) => element("option", { value: String(at) }, name)));
  byId("find-name").textContent = DATA.ids ? "Find an id" : "Find a row";
  byId("discs").setAttribute("aria-label", `Map of ${whole(RUN.points)} points in two dimensions with ${whole(PICKS.length)} picks; the table below lists them.`);
  byId("footer").textContent = [`The map: ${RUN.layout}.`, ...RUN.notes, `Made by handful ${RUN.version}.`].join(" ");
}

function find(event) {
  event.preventDefault();
  const wanted = byId("wanted").value.trim();
  let dot = -1;
  for (let at = 0; at < COUNT && dot < 0; at++) if (idOf(at) === wanted) dot = at;
  byId("wanted").setAttribute("aria-invalid", String(dot < 0));
  if (dot < 0) {
    byId("status").textContent = `No point shown here is called ${wanted}.`;
    return;
  }
  const own = PICK_OF_DOT.get(dot);
  Plan.choose(own === undefined ? OWNER[dot] : own, dot);
  Plan.point(dot);
}

fill();
byId("colour").addEventListener("change", (event) => {
  way = WAYS[Number(event.target.value)];
  onlyClass = null;
  Plan.recolour();
  legend();
});
byId("find").addEventListener("submit", find);
byId("theme").addEventListener("click", () => { wished = theme === "dark" ? "light" : "dark"; paint(); });
// Printing is always in light colours, which the style sees to: what is drawn while it prints comes too late.
const printing = window.matchMedia("print");
dark.addEventListener("change", () => { if (!printing.matches) paint(); });
new ResizeObserver(() => { if (!printing.matches) Plan.resize(); }).observe(byId("map"));
Charts.coverage(byId("coverage"));
Charts.bounds(byId("bounds"));
Plan.resize();
paint();
Table.draw();
Detail.show(null, -1);
// What a test or a measurement wants to ask.
window.handful = { Plan, Table, Dots, RUN, PICKS };

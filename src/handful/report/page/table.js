// The table of picks: sortable, and as CSV.

const Table = (() => {
  const table = byId("picks"), more = byId("all-rows");
  const SHOWN = 200;
  const columns = [
    { name: "rank", number: true, of: (pick) => pick.rank, text: (pick) => (pick.rank === null ? "earlier" : String(pick.rank)) },
    { name: "id", words: true, of: (pick) => idOf(pick.dot), plain: !DATA.ids },
    { name: "index", number: true, of: (pick) => rowOf(pick.dot) },
    { name: "mass", number: true, of: (pick) => pick.mass, text: (pick) => percent(pick.mass) },
    { name: "stands for", number: true, of: (pick) => pick.count, text: (pick) => whole(pick.count) },
    { name: "mean distance", number: true, of: (pick) => pick.mean, text: (pick) => figure(pick.mean) },
    { name: "farthest", number: true, of: (pick) => (pick.farAway.length ? pick.farAway[0] : null), text: (pick) => figure(pick.farAway[0]) },
    ...WAYS.slice(2).map((way) => ({ name: way.name, number: way.kind === "scale", words: way.kind !== "scale", of: (pick) => (way.kind === "scale" ? way.of(pick.dot) : way.say(pick.dot)), text: (pick) => way.say(pick.dot) })),
    ...(DATA.texts ? [{ name: "text", words: true, of: (pick) => textOf(pick.dot) }] : []),
  ].filter((column) => !column.plain);
  const text = (column, pick) => (column.text ? column.text(pick) : String(column.of(pick)));

  let sorted = "rank", falling = false, rows = [], all = PICKS.length <= SHOWN;

  function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    return typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  }

  function order() {
    const column = columns.find(({ name }) => name === sorted);
    const places = PICKS.map((_, at) => at);
    return places.sort((a, b) => (falling ? -1 : 1) * compare(column.of(PICKS[a]), column.of(PICKS[b])) || a - b);
  }

  function draw() {
    const heads = columns.map(({ name, number }) => element("th", {
      scope: "col", class: number ? "number" : null, "aria-sort": name === sorted ? (falling ? "descending" : "ascending") : "none",
    }, element("button", { type: "button", onclick: () => sort(name) }, name)));
    const picture = DATA.images ? [element("th", { scope: "col" }, "image")] : [];
    rows = [];
    const lines = order().slice(0, all ? PICKS.length : SHOWN).map((at) => row(at));
    table.replaceChildren(
      element("caption", { class: "unseen" }, "The picks; the heads of the columns sort it"),
      element("thead", {}, element("tr", {}, element("td", {}), ...picture, ...heads)), element("tbody", {}, ...lines));
    more.hidden = all;
    more.textContent = `Show all ${whole(PICKS.length)} picks`;
    mark(Plan.chosen);
  }

  function row(at) {
    const pick = PICKS[at];
    const shown = element("button", {
      type: "button", "aria-label": `Show ${titleOf(pick).toLowerCase()}, ${nameOf(pick.dot)}, on the map`,
      onclick: () => { Plan.choose(at); Plan.goTo(at); byId("map").scrollIntoView({ block: "center" }); },
    }, "Show");
    const image = DATA.images ? [element("td", {}, thumbnail(pick.dot, 36) || "")] : [];
    const line = element("tr", {}, element("td", {}, shown), ...image,
      ...columns.map((column) => element("td", { class: column.number ? "number" : column.words ? "words" : null }, text(column, pick))));
    rows[at] = line;
    return line;
  }

  function sort(name) {
    falling = name === sorted ? !falling : false;
    sorted = name;
    draw();
    [...table.querySelectorAll("th button")].find((button) => button.textContent === name).focus();
  }

  function mark(at) {
    rows.forEach((line, place) => line.classList.toggle("chosen", place === at));
  }

  // RFC 4180, with the numbers in full.
  function csv() {
    const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const plain = columns.map((column) => (column.number && !WAYS.some(({ name }) => name === column.name)
      ? (pick) => (column.of(pick) === null ? "" : String(column.of(pick))) : (pick) => text(column, pick)));
    const lines = [columns.map(({ name }) => quoted(name)), ...PICKS.map((pick) => plain.map((of) => quoted(of(pick))))];
    return lines.map((line) => line.join(",")).join("\r\n") + "\r\n";
  }

  byId("download").addEventListener("click", () => {
    const link = element("a", { href: URL.createObjectURL(new Blob([csv()], { type: "text/csv" })), download: "picks.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  more.addEventListener("click", () => { all = true; draw(); });

  return { draw, mark, csv };
})();

// Beside the map: the chosen pick, and the points it stands for, nearest and farthest.

const Detail = (() => {
  const side = byId("detail");

  function show(at, dot) {
    side.replaceChildren(...(at === null ? nothing() : pick(at, dot)));
    side.scrollTop = 0;
  }

  function nothing() {
    return [element("p", { class: "faint" }, "Choose a pick, on the map or in the table, to see the points it stands for.")];
  }

  function pick(at, dot) {
    const it = PICKS[at];
    const parts = [
      element("div", { class: "head" },
        element("h3", {}, `${titleOf(it)}: ${nameOf(it.dot)}`),
        element("button", { type: "button", "aria-label": "Close", onclick: () => { Plan.choose(null); Plan.focus(); } }, "×")),
    ];
    const picture = thumbnail(it.dot, 112);
    if (picture) parts.push(picture);
    if (textOf(it.dot)) parts.push(element("blockquote", {}, textOf(it.dot)));
    parts.push(element("p", {},
      `Stands for ${whole(it.count)} point${it.count === 1 ? "" : "s"}, which is ${percent(it.mass)} of the pool, at a mean distance of ${figure(it.mean)}.`));
    for (const way of WAYS.slice(2)) parts.push(element("p", {}, `${way.name}: ${way.say(it.dot)}`));
    if (dot >= 0 && dot !== it.dot) parts.push(...listed("The point clicked", [dot], [AWAY[dot]]));
    parts.push(...listed("Nearest of its points", it.near, it.nearAway));
    parts.push(...listed("Farthest of its points", it.far, it.farAway));
    if (!it.near.length) parts.push(element("p", { class: "faint" }, "It stands for no point but itself."));
    return parts;
  }

  function listed(title, dots, away) {
    if (!dots.length) return [];
    const tiles = dots.map((dot, at) => {
      const picture = thumbnail(dot, 48);
      const words = textOf(dot) || idOf(dot);
      return element("li", {},
        element("button", {
          type: "button", title: `${nameOf(dot)}, at distance ${figure(away[at])}`,
          onmouseenter: () => Plan.point(dot), onmouseleave: () => Plan.point(-1),
          onfocus: () => Plan.point(dot), onblur: () => Plan.point(-1),
          onclick: () => Plan.point(dot),
        }, ...(picture ? [picture] : []), element("span", { class: "words" }, words), element("span", { class: "away" }, figure(away[at]))));
    });
    const kind = DATA.texts ? "long" : DATA.images ? "pictures" : "short";
    return [element("h4", {}, title), element("ul", { class: `tiles ${kind}` }, ...tiles)];
  }

  side.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { Plan.choose(null); Plan.focus(); }
  });

  return { show };
})();

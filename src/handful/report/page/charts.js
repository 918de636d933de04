// Charts as SVG, with their figures in a table for those who would rather read.

const Charts = (() => {
  const [HIGH, LEFT, BELOW, TOP, RIGHT] = [260, 64, 40, 14, 18];
  // As wide as there is room, so that letters are as large as elsewhere; printed, it is scaled.
  const WIDE = Math.min(560, Math.max(300, byId("coverage").clientWidth));

  function svg(name, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  // Round steps: 1, 2 or 5 times a power of ten.
  function ticks(low, high, about) {
    const raw = (high - low) / about || 1, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((times) => times * power >= raw) * power;
    const found = [];
    for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at++) found.push(Number((at * step).toPrecision(12)));
    return found;
  }

  // A frame with axes; x and y give the place of a value.
  function frame(title, [x0, x1], [y0, y1], xName, yText, { yTicks, whole: wholeX } = {}) {
    const x = (value) => LEFT + ((value - x0) / (x1 - x0 || 1)) * (WIDE - LEFT - RIGHT);
    const y = (value) => HIGH - BELOW - ((value - y0) / (y1 - y0 || 1)) * (HIGH - BELOW - TOP);
    const image = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": title });
    for (const value of yTicks || ticks(y0, y1, 4)) {
      image.append(
        svg("line", { class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: y(value), y2: y(value) }),
        svg("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, yText(value)));
    }
    for (const value of ticks(x0, x1, 6)) {
      if (wholeX && value % 1) continue;
      image.append(svg("text", { x: x(value), y: HIGH - BELOW + 18, "text-anchor": "middle" }, whole(value)));
    }
    image.append(
      svg("line", { class: "axis", x1: LEFT, x2: WIDE - RIGHT, y1: HIGH - BELOW, y2: HIGH - BELOW }),
      svg("text", { x: (LEFT + WIDE - RIGHT) / 2, y: HIGH - 4, "text-anchor": "middle" }, xName));
    return { image, x, y };
  }

  const nothingNearer = RUN.budget === 1 ? "no pick can be nearer" : `no ${whole(RUN.budget)} picks can be nearer`;
  // How high, or low, a line of steps goes where a label stands at its end.
  const reach = (points, extreme) => {
    const from = WIDE - RIGHT - 170;
    const level = points.filter(([x]) => x <= from).slice(-1);
    return extreme(...[...level, ...points.filter(([x]) => x > from)].map(([, y]) => y));
  };
  const line = (points) => points.map(([x, y], at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  const steps = (points) => line(points.flatMap(([x, y], at) => (at ? [[x, points[at - 1][1]], [x, y]] : [[x, y]])));

  function figures(summary, heads, rows) {
    const cells = (name, row) => element("tr", {}, ...row.map((cell) => element(name, name === "th" ? { scope: "col" } : {}, cell)));
    return element("details", {}, element("summary", {}, summary),
      element("div", { class: "wide" }, element("table", {}, element("thead", {}, cells("th", heads)), element("tbody", {}, ...rows.map((row) => cells("td", row))))));
  }

  function coverage(target) {
    const { counts, distances, points, bend, advice } = DATA.coverage;
    target.append(element("p", {}, advice));
    if (counts.length > 1) {
      const lowest = RUN.bound === null ? Math.min(...distances) : Math.min(RUN.bound, ...distances);
      const base = lowest > 0.5 * distances[0] ? lowest - 0.1 * (distances[0] - lowest) : 0;
      const last = counts[counts.length - 1];
      const title = `Distance of the first picks: ${figure(distances[0])} for 1, ${figure(distances[distances.length - 1])} for ${last}`;
      const { image, x, y } = frame(title, [counts[0], last], [base, distances[0]], RUN.earlier ? "new picks" : "picks", figure, { whole: true });
      const places = counts.map((count, at) => [x(count), y(distances[at])]);
      if (bend !== null) {
        const at = x(bend);
        image.append(
          svg("line", { class: "mark", x1: at, x2: at, y1: TOP, y2: HIGH - BELOW }),
          svg("text", { x: at + 6, y: TOP + 10, class: "strong" }, `${bend} picks`));
      }
      image.append(svg("path", { class: "first", d: line(places) }));
      for (const [px, py] of places) image.append(svg("circle", { class: "first", cx: px, cy: py, r: counts.length > 30 ? 2 : 3 }));
      if (RUN.bound !== null) {
        const [px, py] = [x(last), y(Math.max(base, RUN.bound))];
        image.append(
          svg("path", { class: "second", d: `M${px - 7} ${py}h14` }),
          svg("text", { x: px - 12, y: py + 14, "text-anchor": "end" }, nothingNearer));
      }
      target.append(image);
    }
    const sampled = points < RUN.points ? ` Computed from ${whole(points)} of the points, drawn by chance; the last distance is that of all.` : "";
    target.append(element("p", { class: "faint" },
      `Distance of the first picks alone, in their order. Picks chosen for a smaller budget would be a little nearer than the first of many.${sampled}`));
    target.append(figures("The figures", ["picks", "distance", "gained since the line above"],
      counts.map((count, at) => [whole(count), figure(distances[at]), at ? percent((distances[at - 1] - distances[at]) / (distances[at - 1] || 1)) : ""])));
  }

  function bounds(target) {
    const lines = DATA.trace;
    if (lines.length < 2) {
      byId("trace").hidden = true;
      return;
    }
    const end = Math.max(RUN.seconds || 0, lines[lines.length - 1][0]);
    const all = [...lines, [end, RUN.distance, RUN.bound === null ? 0 : RUN.bound]];
    const certain = RUN.bound !== null;
    const final = all[all.length - 1];
    // What happens near the end is what counts; far worse values of the first seconds are cut off.
    const span = Math.max(final[1] - final[2], final[1] * 0.02);
    const high = Math.min(Math.max(...all.map(([, distance]) => distance)), final[1] + 6 * span);
    const low = certain ? Math.max(Math.min(...all.map(([, , bound]) => bound)), final[2] - 6 * span, 0) : 0;
    const clip = (value) => Math.min(Math.max(value, low), high);
    const title = `Distance of the picks and its lower bound over ${figure(end)} seconds: ${figure(final[1])} and ${figure(final[2])} at the end`;
    const { image, x, y } = frame(title, [0, end], [low, high + (high - low) * 0.06], "seconds", figure);
    const upper = all.map(([time, distance]) => [x(time), y(clip(distance))]);
    image.append(svg("path", { class: "first", d: steps(upper) }), svg("text", { x: WIDE - RIGHT - 4, y: Math.max(TOP + 8, reach(upper, Math.min) - 7), "text-anchor": "end", class: "strong" }, "distance of the picks"));
    if (certain) {
      const lower = all.map(([time, , bound]) => [x(time), y(clip(bound))]);
      image.append(svg("path", { class: "second", d: steps(lower) }), svg("text", { x: WIDE - RIGHT - 4, y: Math.min(HIGH - BELOW - 6, reach(lower, Math.max) + 16), "text-anchor": "end", class: "strong" }, nothingNearer));
    }
    target.append(image);
    if (certain && RUN.distance > 0) target.append(gaps(all, end));
    target.append(figures("The figures", ["seconds", "distance", "lower bound", "gap"],
      all.map(([time, distance, bound]) => [time.toFixed(1), figure(distance), certain ? figure(bound) : "–", certain && distance > 0 ? percent(Math.max(0, distance - bound) / distance) : "–"])));
  }

  // The gap over time, on a scale of factors; a gap of 0 is drawn at the foot.
  function gaps(all, end) {
    const values = all.map(([, distance, bound]) => Math.min(1, Math.max(0, (distance - bound) / (distance || 1))));
    const least = Math.min(1, ...values.filter((value) => value > 0)), foot = Math.max(least / 2, 1e-7);
    const [low, high] = [Math.log10(foot), Math.log10(Math.max(...values, 2 * foot))];
    const marks = [];
    for (let power = Math.floor(low); power <= 0; power++) for (const times of [1, 2, 5]) {
      const at = Math.log10(times) + power;
      if (at >= low - 1e-9 && at <= high + 1e-9) marks.push(at);
    }
    const few = marks.length > 7 ? marks.filter((at) => Math.abs(at - Math.round(at)) < 1e-9) : marks;
    const { image, x, y } = frame(`The gap over time: ${percent(values[values.length - 1])} at the end`, [0, end], [low, high], "seconds", (at) => `${Number((100 * 10 ** at).toPrecision(2))}%`, { yTicks: few });
    image.append(svg("path", { class: "first", d: steps(all.map(([time], at) => [x(time), y(Math.log10(Math.max(values[at], foot)))])) }));
    return element("figure", {}, image, element("figcaption", { class: "faint" }, "The gap between the two, as a share of the distance."));
  }

  return { coverage, bounds };
})();

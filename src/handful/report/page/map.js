// The map: dots below, picks above; what part of it is seen, and what is chosen on it.

const MOST_NUMBERS = 400; // picks up to which ranks are written on their discs
const FARTHEST_ZOOM = 200;
const REACH = 14; // pixels within which the pointer finds a dot
const STEP = 1.5; // by which a key or button zooms

const Plan = (() => {
  const box = byId("map"), over = byId("discs"), cursor = byId("cursor"), tip = byId("tip");
  const pen = over.getContext("2d");
  let ratio = 1, across = 1, down = 1; // device pixels
  let view = null;
  let asked = false, lit = null;
  let chosen = null; // position of the pick that is shown
  let current = 0; // position of the pick that the keyboard stands on
  let looked = -1; // dot under the pointer, or chosen from a list

  // The whole map, with an edge in which discs have room.
  const home = () => {
    const room = 56 * ratio;
    const scale = Math.max(1e-4, Math.min((across - room) / extent.width, (down - room) / extent.height));
    return { scale, left: across / 2 - scale * extent.x, top: down / 2 + scale * extent.y };
  };
  // The part of the square that dots lie in; wide maps fill wide windows.
  const extent = (() => {
    const ends = (values) => values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [FINEST, 0]);
    const [[x0, x1], [y0, y1]] = [ends(X), ends(Y)];
    return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, width: Math.max(FINEST / 50, x1 - x0), height: Math.max(FINEST / 50, y1 - y0) };
  })();

  const screen = (dot) => [X[dot] * view.scale + view.left, view.top - Y[dot] * view.scale];
  const zoomed = () => view.scale / home().scale;
  const dotRadius = () => {
    const room = Math.sqrt((across * down) / (COUNT + 50)) * 0.19;
    const limits = [0.9 * ratio, 4.2 * ratio];
    return Math.min(limits[1] * 1.4, Math.min(limits[1], Math.max(limits[0], room)) * zoomed() ** 0.28);
  };

  // The area of a disc is the mass of its pick, within limits.
  const discRadius = (pick) => {
    const few = PICKS.length <= MOST_NUMBERS;
    const base = (few ? Math.min(13, Math.max(6.5, 90 / Math.sqrt(PICKS.length))) : 4.5) * ratio;
    return base * Math.sqrt(Math.min(6, Math.max(0.45, pick.mass * PICKS.length))) * Math.min(1.5, zoomed() ** 0.12);
  };

  function ask() {
    if (!asked) requestAnimationFrame(draw);
    asked = true;
  }

  function draw() {
    asked = false;
    Dots.draw(view, dotRadius(), lit);
    drawPicks();
  }

  function drawPicks() {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim(), paper = style.getPropertyValue("--map").trim();
    pen.clearRect(0, 0, across, down);
    if (chosen !== null) drawLines(PICKS[chosen], ink);
    for (let at = PICKS.length - 1; at >= 0; at--) if (at !== chosen) drawPick(at, ink, paper);
    if (chosen !== null) drawPick(chosen, ink, paper);
    if (looked >= 0) ring(looked, (PICK_OF_DOT.has(looked) ? discRadius(PICKS[PICK_OF_DOT.get(looked)]) : dotRadius()) + 3 * ratio, ink, paper);
    placeCursor();
  }

  function drawLines(pick, ink) {
    const [x, y] = screen(pick.dot);
    pen.strokeStyle = ink;
    pen.lineWidth = ratio;
    for (const [dots, dash] of [[pick.near, []], [pick.far, [3 * ratio, 4 * ratio]]]) {
      pen.setLineDash(dash);
      pen.globalAlpha = 0.55;
      for (const dot of dots) {
        pen.beginPath();
        pen.moveTo(x, y);
        pen.lineTo(...screen(dot));
        pen.stroke();
      }
    }
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  function drawPick(at, ink, paper) {
    const pick = PICKS[at], radius = discRadius(pick), [x, y] = screen(pick.dot);
    if (x < -radius || y < -radius || x > across + radius || y > down + radius) return;
    const colour = colourOf(pick.dot);
    const isDim = chosen !== null && at !== chosen;
    pen.globalAlpha = isDim ? 0.45 : 1;
    pen.beginPath();
    if (pick.rank === null) pen.rect(x - radius * 0.88, y - radius * 0.88, radius * 1.76, radius * 1.76);
    else pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = css(colour);
    pen.fill();
    pen.lineWidth = 2.5 * ratio;
    pen.strokeStyle = paper;
    pen.stroke();
    pen.lineWidth = ratio * (at === chosen ? 2.5 : 1);
    pen.strokeStyle = ink;
    pen.stroke();
    if (pick.rank !== null && PICKS.length <= MOST_NUMBERS) {
      const size = Math.min(radius * 1.05, (radius * 1.9) / (0.62 * String(pick.rank).length));
      pen.font = `600 ${size}px system-ui, sans-serif`;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.fillStyle = inkOn(colour);
      pen.fillText(pick.rank, x, y + size * 0.06);
    }
    pen.globalAlpha = 1;
  }

  function ring(dot, radius, ink, paper) {
    const [x, y] = screen(dot);
    for (const [wide, colour] of [[5, paper], [2, ink]]) {
      pen.beginPath();
      pen.arc(x, y, radius, 0, 2 * Math.PI);
      pen.lineWidth = wide * ratio;
      pen.strokeStyle = colour;
      pen.stroke();
    }
  }

  // A button that stands on the pick of the keyboard, so that focus is seen and heard there.
  function placeCursor() {
    const pick = PICKS[current], radius = discRadius(pick) / ratio + 5, [x, y] = screen(pick.dot);
    cursor.style.width = cursor.style.height = `${2 * radius}px`;
    cursor.style.transform = `translate(${x / ratio - radius}px, ${y / ratio - radius}px)`;
    cursor.setAttribute("aria-label", spoken(current));
    cursor.setAttribute("aria-pressed", String(chosen === current));
  }

  function spoken(at) {
    const pick = PICKS[at];
    return `${titleOf(pick)}, ${nameOf(pick.dot)}, stands for ${whole(pick.count)} points, mass ${percent(pick.mass)}`;
  }

  function resize() {
    const atHome = view === null || (view.scale === home().scale && view.left === home().left);
    ratio = Math.min(window.devicePixelRatio || 1, 2);
    across = Math.max(1, Math.round(box.clientWidth * ratio));
    down = Math.max(1, Math.round(box.clientHeight * ratio));
    over.width = across;
    over.height = down;
    Dots.resize(across, down);
    if (atHome) view = home();
    ask();
  }

  function zoom(factor, x = across / 2, y = down / 2) {
    const scale = Math.min(Math.max(view.scale * factor, home().scale * 0.5), home().scale * FARTHEST_ZOOM);
    const change = scale / view.scale;
    view = { scale, left: x - (x - view.left) * change, top: y - (y - view.top) * change };
    hideTip();
    ask();
  }

  function move(x, y) {
    view = { ...view, left: view.left + x, top: view.top + y };
    hideTip();
    ask();
  }

  function showAll() {
    view = home();
    hideTip();
    ask();
  }

  // Moves the map only as far as a dot that is out of sight needs.
  function reveal(dot) {
    const [x, y] = screen(dot), edge = 40 * ratio;
    const by = (at, size) => (at < edge || at > size - edge ? size / 2 - at : 0);
    const [right, lower] = [by(x, across), by(y, down)];
    if (right || lower) move(right, lower);
  }

  // What is at a place of the screen: a pick, or else a dot; -1 where nothing is.
  function under(x, y) {
    let found = -1;
    for (let at = 0; at < PICKS.length && found < 0; at++) {
      const [px, py] = screen(PICKS[at].dot);
      if (Math.hypot(px - x, py - y) <= discRadius(PICKS[at]) + ratio) found = PICKS[at].dot;
    }
    if (found >= 0) return found;
    return Dots.nearest((x - view.left) / view.scale, (view.top - y) / view.scale, (REACH * ratio) / view.scale);
  }

  function look(dot) {
    if (dot === looked) return;
    looked = dot;
    drawPicks();
  }

  function showTip(dot, x, y) {
    tip.replaceChildren(...told(dot));
    tip.hidden = false;
    const wide = box.clientWidth, high = box.clientHeight;
    const left = x + 16 + tip.offsetWidth > wide ? x - 16 - tip.offsetWidth : x + 16;
    const top = y + 12 + tip.offsetHeight > high ? y - 12 - tip.offsetHeight : y + 12;
    tip.style.left = `${Math.min(Math.max(4, left), Math.max(4, wide - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.min(Math.max(4, top), Math.max(4, high - tip.offsetHeight - 4))}px`;
  }

  function hideTip() {
    tip.hidden = true;
  }

  function told(dot) {
    const lines = [];
    const picture = thumbnail(dot, 72);
    if (picture) lines.push(picture);
    const words = element("div", {}, element("strong", {}, nameOf(dot)));
    if (textOf(dot)) words.append(element("p", {}, textOf(dot)));
    const own = PICK_OF_DOT.get(dot);
    if (own !== undefined) words.append(element("p", {}, `${titleOf(PICKS[own])}: stands for ${whole(PICKS[own].count)} points`));
    else words.append(element("p", {}, `${titleOf(PICKS[OWNER[dot]]).toLowerCase()} stands for it, at distance ${figure(AWAY[dot])}`));
    for (const [pick, part] of SHARED.get(dot) || []) words.append(element("p", {}, `${titleOf(PICKS[pick]).toLowerCase()} carries ${percent(part, 0)} of it`));
    for (const some of WAYS.slice(2)) words.append(element("p", {}, `${some.name}: ${some.say(dot)}`));
    lines.push(words);
    return lines;
  }

  function relit() {
    if (chosen === null && onlyClass === null) { lit = null; return; }
    lit = new Uint8Array(COUNT);
    for (let dot = 0; dot < COUNT; dot++) {
      lit[dot] = (chosen === null || OWNER[dot] === chosen) && (onlyClass === null || way.of(dot) === onlyClass) ? 1 : 0;
    }
    if (chosen !== null) for (const [dot, parts] of SHARED) if (parts.some(([pick]) => pick === chosen)) lit[dot] = 1;
  }

  // Shows a pick, or none; `dot` is a point of it that is looked at.
  function choose(at, dot = -1) {
    chosen = at;
    if (at !== null) current = at;
    looked = dot;
    relit();
    ask();
    Detail.show(at, dot);
    Table.mark(at);
    byId("status").textContent = at === null ? "No pick is chosen." : `${spoken(at)} is shown.`;
  }

  function goTo(at) {
    current = at;
    reveal(PICKS[at].dot);
    drawPicks();
    const pick = PICKS[at], [x, y] = screen(pick.dot);
    showTip(pick.dot, x / ratio, y / ratio);
    byId("status").textContent = spoken(at);
  }

  // The nearest pick in a direction: how far it is along it counts, and twice how far beside it.
  function towards(dx, dy) {
    const [x, y] = screen(PICKS[current].dot);
    let best = current, least = Infinity;
    PICKS.forEach((pick, at) => {
      const [px, py] = screen(pick.dot);
      const along = (px - x) * dx + (py - y) * dy, beside = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
      const cost = along + 2 * beside;
      if (at !== current && along > 0.5 && beside <= 3 * along && cost < least) { least = cost; best = at; }
    });
    return best;
  }

  function recolour() {
    Dots.recolour();
    relit();
    ask();
  }

  // Rings a dot from outside the map, and brings it into sight.
  function point(dot) {
    if (dot >= 0) reveal(dot);
    look(dot);
  }

  return {
    resize, recolour, choose, point, look, goTo, towards, showTip, hideTip, zoom, move, showAll, under,
    drawNow: draw,
    focus: () => cursor.focus(),
    get chosen() { return chosen; },
    get current() { return current; },
    get ratio() { return ratio; },
    // Where a dot is in the box of the map, in pixels of the page.
    placeOf: (dot) => { const [x, y] = screen(dot); return [x / ratio, y / ratio]; },
  };
})();

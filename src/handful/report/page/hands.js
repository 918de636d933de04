// What hands do on the map: keys on its cursor, a pointer, two fingers, and the buttons above it.

(() => {
  const box = byId("map"), cursor = byId("cursor");
  const next = (by) => Plan.goTo((Plan.current + by + PICKS.length) % PICKS.length);
  const turn = (x, y) => Plan.goTo(Plan.towards(x, y));
  const KEYS = {
    ArrowRight: () => turn(1, 0), ArrowLeft: () => turn(-1, 0), ArrowDown: () => turn(0, 1), ArrowUp: () => turn(0, -1),
    n: () => next(1), p: () => next(-1), Home: () => Plan.goTo(0), End: () => Plan.goTo(PICKS.length - 1),
    Enter: () => Plan.choose(Plan.current), " ": () => Plan.choose(Plan.current),
    Escape: () => { Plan.hideTip(); Plan.choose(null); },
    "+": () => Plan.zoom(STEP), "=": () => Plan.zoom(STEP), "-": () => Plan.zoom(1 / STEP), 0: () => Plan.showAll(),
  };

  cursor.addEventListener("keydown", (event) => {
    const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  let clicking = false; // focus that a click brings says nothing of its own
  cursor.addEventListener("focus", () => { if (!clicking) Plan.goTo(Plan.current); });
  cursor.addEventListener("blur", Plan.hideTip);

  // Pointers: one drags, two pinch; one that has not moved clicks.
  const pointers = new Map();
  let travelled = 0;
  const place = (event) => {
    const frame = box.getBoundingClientRect();
    return [(event.clientX - frame.left) * Plan.ratio, (event.clientY - frame.top) * Plan.ratio];
  };
  const spread = () => {
    const [[ax, ay], [bx, by]] = [...pointers.values()];
    return { x: (ax + bx) / 2, y: (ay + by) / 2, away: Math.max(1, Math.hypot(ax - bx, ay - by)) };
  };
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, place(event));
    if (pointers.size === 1) travelled = 0;
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (!pointers.has(event.pointerId)) {
      const dot = Plan.under(x, y);
      Plan.look(dot);
      if (dot >= 0) Plan.showTip(dot, x / Plan.ratio, y / Plan.ratio);
      else Plan.hideTip();
      box.classList.toggle("pointing", dot >= 0);
      return;
    }
    const [fromX, fromY] = pointers.get(event.pointerId);
    const before = pointers.size === 2 ? spread() : null;
    pointers.set(event.pointerId, [x, y]);
    travelled += Math.hypot(x - fromX, y - fromY);
    if (before) {
      const now = spread();
      Plan.zoom(now.away / before.away, now.x, now.y);
      Plan.move(now.x - before.x, now.y - before.y);
    } else if (travelled > 4 * Plan.ratio) Plan.move(x - fromX, y - fromY);
  });
  const release = (event) => {
    const held = pointers.delete(event.pointerId);
    if (!held || event.type === "pointercancel" || pointers.size || travelled > 4 * Plan.ratio) return;
    const [x, y] = place(event), dot = Plan.under(x, y);
    clicking = true;
    cursor.focus({ preventScroll: true });
    clicking = false;
    if (dot < 0) { Plan.hideTip(); Plan.choose(null); return; }
    const own = PICK_OF_DOT.get(dot);
    Plan.choose(own === undefined ? OWNER[dot] : own, own === undefined ? dot : -1);
    Plan.showTip(dot, x / Plan.ratio, y / Plan.ratio);
  };
  box.addEventListener("pointerup", release);
  box.addEventListener("pointercancel", release);
  box.addEventListener("pointerleave", () => { if (!pointers.size) { Plan.look(-1); Plan.hideTip(); } });
  box.addEventListener("wheel", (event) => {
    event.preventDefault();
    Plan.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...place(event));
  }, { passive: false });

  byId("closer").addEventListener("click", () => Plan.zoom(STEP));
  byId("wider").addEventListener("click", () => Plan.zoom(1 / STEP));
  byId("whole").addEventListener("click", Plan.showAll);
})();

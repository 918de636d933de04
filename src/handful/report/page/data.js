// What the report is about, unpacked once.

const DATA = JSON.parse(document.getElementById("data").textContent);
const ARRAYS = { u16: Uint16Array, u32: Uint32Array, f32: Float32Array };
const FINEST = 65535;
const MISSING = 65535;

function unpacked(packed) {
  const text = atob(packed.bytes);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return new ARRAYS[packed.kind](bytes.buffer);
}

const RUN = DATA.run;
const COUNT = DATA.dots.count;
const X = unpacked(DATA.dots.x);
const Y = unpacked(DATA.dots.y);
const OWNER = unpacked(DATA.dots.pick);
const AWAY = unpacked(DATA.dots.away);
const MASS = DATA.dots.mass && unpacked(DATA.dots.mass);
const ROWS = DATA.dots.rows && unpacked(DATA.dots.rows);
const PICKS = DATA.picks;
const PICK_OF_DOT = new Map(PICKS.map((pick, at) => [pick.dot, at]));
const SHARED = new Map();
for (const [dot, pick, part] of DATA.shared) {
  if (!SHARED.has(dot)) SHARED.set(dot, []);
  SHARED.get(dot).push([pick, part]);
}

const rowOf = (dot) => (ROWS ? ROWS[dot] : dot);
const idOf = (dot) => (DATA.ids ? DATA.ids[dot] : String(rowOf(dot)));
const nameOf = (dot) => (DATA.ids ? idOf(dot) : `row ${rowOf(dot)}`);
const textOf = (dot) => (DATA.texts ? DATA.texts[dot] : "");
const titleOf = (pick) => (pick.rank === null ? "Labelled earlier" : `Pick ${pick.rank}`);

const figure = (value) => (value === null || value === undefined ? "–" : Number(value.toPrecision(4)).toString());
const whole = (value) => value.toLocaleString("en");
const percent = (value, digits = 2) => `${(100 * value).toFixed(digits)}%`;

// An element with attributes and children; whatever comes from the pool stands in it as text, never as markup.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

const byId = (id) => document.getElementById(id);

// Thumbnails: tiles of sheets, drawn into small canvases.
const TILES = new Map();
const SHEETS = [];
if (DATA.images) {
  unpacked(DATA.images.dots).forEach((dot, tile) => TILES.set(dot, tile));
  for (const source of DATA.images.sheets) {
    const sheet = new Image();
    sheet.src = source;
    SHEETS.push(sheet);
  }
}

function thumbnail(dot, size) {
  const tile = TILES.get(dot);
  if (tile === undefined) return null;
  const { side, across } = DATA.images;
  const canvas = element("canvas", { width: side, height: side, class: "thumbnail", "aria-hidden": "true" });
  canvas.style.width = canvas.style.height = `${size}px`;
  const place = tile % (across * across);
  const sheet = SHEETS[Math.floor(tile / (across * across))];
  const draw = () => {
    const [left, top] = [(place % across) * side, Math.floor(place / across) * side];
    canvas.getContext("2d").drawImage(sheet, left, top, side, side, 0, 0, side, side);
  };
  if (sheet.complete) draw();
  else sheet.addEventListener("load", draw, { once: true });
  return canvas;
}

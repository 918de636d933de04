// The points as dots: stamped straight into the pixels of a canvas, so that many of them stay fluid.

const LEVELS = 16; // steps of the cover of a pixel
const CELLS = 256; // of the grid for looking dots up, on each side
const FADED = 0.16; // share of its colour that a dot keeps which is not looked at

const Dots = (() => {
  const canvas = byId("dots");
  const context = canvas.getContext("2d", { alpha: false });
  let image = null, pixels = null, width = 0, height = 0, margin = 0;
  let full = new Uint32Array(COUNT), faded = new Uint32Array(COUNT);
  let background = [255, 255, 255];

  const pack = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

  function recolour() {
    background = rgb(getComputedStyle(document.documentElement).getPropertyValue("--map").trim());
    const known = new Map();
    for (let dot = 0; dot < COUNT; dot++) {
      const value = way.of(dot);
      const key = way.kind === "scale" ? Math.round(value * 255) : value;
      if (!known.has(key)) {
        const colour = colourOf(dot);
        known.set(key, [pack(colour), pack(colour.map((part, k) => Math.round(background[k] + FADED * (part - background[k]))))]);
      }
      [full[dot], faded[dot]] = known.get(key);
    }
  }

  // Offsets of the pixels of a disc, with how much of each it covers.
  function stamp(radius) {
    const reach = Math.ceil(radius), offsets = [], covers = [];
    for (let y = -reach; y <= reach; y++) {
      for (let x = -reach; x <= reach; x++) {
        const cover = Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(x, y)));
        const level = Math.round(cover * LEVELS * 0.85);
        if (level) { offsets.push(y * width + x); covers.push(level * (256 / LEVELS)); }
      }
    }
    return [Int32Array.from(offsets), Int32Array.from(covers)];
  }

  function resize(across, down) {
    margin = 16;
    width = across + 2 * margin;
    height = down + 2 * margin;
    canvas.width = across;
    canvas.height = down;
    image = context.createImageData(width, height);
    pixels = new Uint32Array(image.data.buffer);
  }

  // Draws all dots; those for which `lit` is 0 first and faded, if it is given.
  function draw(view, radius, lit) {
    pixels.fill(pack(background));
    const [offsets, covers] = stamp(Math.min(radius, margin - 2));
    const pass = (colours, wanted) => {
      const { scale, left, top } = view;
      const count = offsets.length;
      for (let dot = 0; dot < COUNT; dot++) {
        if (lit && lit[dot] !== wanted) continue;
        const x = (X[dot] * scale + left + margin) | 0, y = (top - Y[dot] * scale + margin) | 0;
        if (x < margin - 14 || y < margin - 14 || x >= width - margin + 14 || y >= height - margin + 14) continue;
        const at = y * width + x, colour = colours[dot];
        const redBlue = colour & 0xff00ff, green = colour & 0xff00;
        for (let k = 0; k < count; k++) {
          const place = at + offsets[k], cover = covers[k], there = pixels[place];
          const rest = 256 - cover;
          const mixed = ((((there & 0xff00ff) * rest + redBlue * cover) >>> 8) & 0xff00ff)
            | ((((there & 0xff00) * rest + green * cover) >>> 8) & 0xff00);
          pixels[place] = 0xff000000 | mixed;
        }
      }
    };
    if (lit) pass(faded, 0);
    pass(full, 1);
    context.putImageData(image, -margin, -margin);
  }

  // Dots by the cell of a grid that they lie in.
  const cellOf = (dot) => (Y[dot] >> 8) * CELLS + (X[dot] >> 8);
  const starts = new Uint32Array(CELLS * CELLS + 1), inCells = new Uint32Array(COUNT);
  for (let dot = 0; dot < COUNT; dot++) starts[cellOf(dot) + 1]++;
  for (let cell = 0; cell < CELLS * CELLS; cell++) starts[cell + 1] += starts[cell];
  const next = starts.slice(0, -1);
  for (let dot = 0; dot < COUNT; dot++) inCells[next[cellOf(dot)]++] = dot;

  // The dot nearest to a place within a reach, both in the units of the coordinates; -1 if there is none.
  function nearest(x, y, reach) {
    const clamp = (value) => Math.min(CELLS - 1, Math.max(0, value >> 8));
    const [first, last] = [clamp(x - reach), clamp(x + reach)];
    let best = -1, least = reach * reach;
    for (let row = clamp(y - reach); row <= clamp(y + reach); row++) {
      for (let at = starts[row * CELLS + first]; at < starts[row * CELLS + last + 1]; at++) {
        const dot = inCells[at];
        const away = (X[dot] - x) ** 2 + (Y[dot] - y) ** 2;
        if (away <= least) { least = away; best = dot; }
      }
    }
    return best;
  }

  return { recolour, resize, draw, nearest };
})();

// Colours: told apart by people who see few of them, in light and in dark, and never the only sign of anything.

// Found by search: of all tens of colours with a contrast of 3 to the map, one whose least difference is largest, also as
// people without red, green or blue cones see them (CIE 1976; 24 and more, where 2 can just be told apart).
const CLASSES = {
  light: ["#5484fc", "#909c00", "#781830", "#f03084", "#3c18a8", "#d87860", "#9000fc", "#9c0000", "#c078cc", "#542460"],
  dark: ["#b4a8fc", "#9cf000", "#fc30a8", "#fcd878", "#188454", "#fc909c", "#9000fc", "#48fcf0", "#846c18", "#a830c0"],
};
// Viridis at eleven places: even steps for the eye, in grey too.
const SCALE = [
  [68, 1, 84], [72, 36, 117], [65, 68, 135], [53, 95, 141], [42, 120, 142], [33, 145, 140],
  [34, 168, 132], [68, 191, 112], [122, 209, 81], [189, 223, 38], [253, 231, 37],
];
const UNKNOWN = { light: "#b4b4b4", dark: "#6b6b6b" };
const MOST_NAMED = 40;

let theme = "light";

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// The same ten hues again, paler, then deeper, where there are more classes.
function classColour(number) {
  const base = rgb(CLASSES[theme][number % 10]);
  const turn = Math.floor(number / 10) % 3;
  const towards = turn === 1 ? 255 : 0;
  return turn === 0 ? base : base.map((part) => Math.round(part + 0.38 * (towards - part)));
}

function scaleColour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1);
  const low = Math.min(Math.floor(at), SCALE.length - 2);
  return SCALE[low].map((part, k) => Math.round(part + (at - low) * (SCALE[low + 1][k] - part)));
}

const css = (parts) => `rgb(${parts.join(",")})`;
const luminance = (parts) => {
  const [r, g, b] = parts.map((part) => ((part / 255 <= 0.03928) ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
// Black or white, whichever has more contrast.
const inkOn = (parts) => (luminance(parts) > 0.179 ? "#000" : "#fff");

// Ways to colour: by pick, by distance, by any column. Each tells a dot's class or share, and what to write of it.
const WAYS = [
  { name: "pick", kind: "classes", of: (dot) => OWNER[dot], names: null, say: () => "" },
  scaleWay("distance to its pick", AWAY, 0, AWAY.reduce((a, b) => Math.max(a, b), 0)),
  ...DATA.colours.map((column) => {
    const values = unpacked(column.values);
    if (column.kind === "scale") return scaleWay(column.name, values, ...column.ends);
    return {
      name: column.name, kind: "classes", names: column.names,
      of: (dot) => (values[dot] === MISSING ? -1 : values[dot]),
      say: (dot) => (values[dot] === MISSING ? "unknown" : column.names[values[dot]]),
    };
  }),
];

function scaleWay(name, values, low, high) {
  return {
    name, kind: "scale", ends: [low, high],
    of: (dot) => (Number.isFinite(values[dot]) ? (values[dot] - low) / (high - low || 1) : -1),
    say: (dot) => (Number.isFinite(values[dot]) ? figure(values[dot]) : "unknown"),
  };
}

let way = WAYS[0];
let onlyClass = null; // the class whose dots alone are in full colour

function colourOf(dot) {
  const value = way.of(dot);
  if (value < 0) return rgb(UNKNOWN[theme]);
  return way.kind === "scale" ? scaleColour(value) : classColour(value);
}

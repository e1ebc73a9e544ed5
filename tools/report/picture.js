// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The picture: where everything is, and what its colours mean.
//
// Every layout gives each switch a point on the screen, and each dimension a
// direction.  All else follows from these: a cable between neighbours is a
// line with a lane for each way (right-hand traffic), a cable that wraps
// round, or that leads out of a plane, a stub at both its ends.

const canvas = byId("canvas");
const pen = canvas.getContext("2d");
const paper = matchMedia("print");

const view = {
	layout: "ring",		// ring, flat, planes, turn
	axis: NONE,		// planes: the dimension that parts them
	plane: NONE,		// planes: the only one shown
	zoom: 1, panX: 0, panY: 0,
	yaw: 0.55, pitch: 0.42, turning: false,
	colour: null,		// one of `colourings`
	cursor: NONE,		// switch chosen by keyboard
	cable: NONE,		// cable chosen in a table
	marks: [],		// sites chosen in a table
};

// What is drawn over the picture: lists of {way, label}, or null.
const overlays = {
	worst: { title: "Cables with errors", steps: null, shown: true, arrows: false },
	fresh: { title: "New cables", steps: null, shown: true, arrows: false },
	job: { title: "Job", steps: null, shown: true, arrows: false },
	tree: { title: "Tree", steps: null, shown: true, arrows: false },
	path: { title: "Path", steps: null, shown: true, arrows: true },
	loop: { title: "Credit loop", steps: null, shown: true, arrows: true },
	deadlock: { title: "Deadlock", steps: null, shown: true, arrows: true },
};
const chosen = { from: NONE, to: NONE, members: new Set() };

const SCALES = {
	light: ["#bac3cc", "#b3c9e0", "#93b4d8", "#739fce", "#558ac2", "#3b73b3",
		"#275a9d", "#164281", "#082a5e"],
	dark: ["#3f4b58", "#34506f", "#37618d", "#3d74a9", "#4a8ac5", "#659fda",
		"#8ab9e9", "#b4d4f4", "#e2effc"],
};
const CLASSES = SCALES.light.length;

let theme = {};

function readTheme() {
	const style = getComputedStyle(document.documentElement);
	const colour = (name) => style.getPropertyValue("--" + name).trim();

	theme = {};
	for (const name of ["surface", "ink", "soft", "line", "node", "node-line",
		"path", "tree", "loop", "missing", "cable", "from", "fresh", "job", "worst",
		"accent"])
		theme[name] = colour(name);
	theme.dark = !paper.matches &&
		matchMedia("(prefers-color-scheme: dark)").matches;
	theme.scale = theme.dark ? SCALES.dark : SCALES.light;
	theme.deadlock = theme.loop;
}

// ---- what colours mean

// 0 stands alone; the rest of the scale is linear up to the largest value.
function classOf(value, most) {
	if (value <= 0)
		return 0;
	return Math.min(CLASSES - 1, Math.ceil((CLASSES - 1) * value / most));
}

function colouring(id, title, what, values, text, nodes) {
	const most = values.reduce((a, b) => Math.max(a, b), 0);

	const classes = Int8Array.from(values, (v) => classOf(v, most || 1));
	const sizes = new Array(CLASSES).fill(0);
	let least = CLASSES, above = 0;

	// From this class on a value stands out: one in twenty, at most.
	for (const k of classes)
		sizes[k]++;
	while (least > 1 && (above += sizes[least - 1]) <= values.length / 20)
		least--;
	return { id, title, what, values, text, most, nodes: !!nodes, classes, least };
}

const colourings = [colouring("flows", "Pairs per cable",
	"pairs of end ports that the tables send over this direction of a cable",
	doc.load.flows, count)];

// ---- layouts

const pointX = new Float32Array(nswitches), pointY = new Float32Array(nswitches);
const depth = new Float32Array(nswitches).fill(1);	// 0 far .. 1 near
const visible = new Uint8Array(nswitches).fill(1);
let cell = 50;			// pixels between neighbours
let originX = 0, originY = 0;
let flat = null;		// of flat layouts: dims, columns, size
const MARGIN = 20;		// pixels round the picture
const NUMBERED = 11;		// pixels between neighbours that have numbers

const unplaced = sites.flatMap((site, s) => (grid && site === NONE ? [s] : []));

function flatLayout() {
	const inPlane = usedDims.filter((d) => d !== view.axis);
	const [u, v] = [inPlane[0] ?? 0, inPlane[1] ?? NONE];
	const planes = view.axis === NONE || view.plane !== NONE ? 1 :
		grid.radix[view.axis];
	const width = grid.radix[u] + 1.3, height = (v === NONE ? 1 : grid.radix[v]) + 1.3;
	let best = null;

	// Between planes there are letters, too, which do not shrink with them.
	const fit = (columns, padX, padY) => {
		const rows = Math.ceil(planes / columns);
		const size = Math.min(
			(canvas.clientWidth - 2 * MARGIN - (columns - 1) * padX) /
				(columns * width - 0.8),
			(canvas.clientHeight - 2 * MARGIN - (rows - 1) * padY) /
				(rows * height - 0.8));

		return { u, v, planes, columns, rows, size, width: width + padX / size,
			height: height + padY / size };
	};
	for (let columns = 1; columns <= planes; columns++) {
		const small = fit(columns, 4, 14), large = fit(columns, 24, 30);
		const layout = large.size >= NUMBERED ? large : small;

		if (!best || layout.size > best.size)
			best = layout;
	}
	return best;
}

// The place of a coordinate (which need not be whole) in cells.
function flatPlace(c) {
	const k = view.axis === NONE || view.plane !== NONE ? 0 : c[view.axis];
	const y = flat.v === NONE ? 0 : grid.radix[flat.v] - 1 - c[flat.v];

	return [k % flat.columns * flat.width + c[flat.u],
		Math.floor(k / flat.columns) * flat.height + y];
}

function turned(c) {
	const x = c[0] - (grid.radix[0] - 1) / 2, y = c[1] - (grid.radix[1] - 1) / 2;
	const z = c[2] - (grid.radix[2] - 1) / 2;
	const cosY = Math.cos(view.yaw), sinY = Math.sin(view.yaw);
	const cosP = Math.cos(view.pitch), sinP = Math.sin(view.pitch);
	const x1 = cosY * x + sinY * z, z1 = cosY * z - sinY * x;
	const y2 = cosP * y - sinP * z1, z2 = sinP * y + cosP * z1;
	const far = 2.6 * Math.hypot(...grid.radix);
	const f = far / (far - z2);

	return [x1 * f, -y2 * f, z2];
}

const project = (c) => {
	const p = view.layout === "turn" ? turned(c) : flatPlace(c);

	return [originX + cell * p[0], originY + cell * p[1]];
};

// As high as the picture needs at this width; less on low displays.
function sizeStage() {
	const stage = byId("stage"), wide = stage.clientWidth;
	let high = wide;

	if (view.layout === "flat") {
		const [columns, rows] = [usedDims[0], usedDims[1]].map((d) =>
			(grid.radix[d] ?? 1) + 0.5);

		high = 2 * MARGIN + (wide - 2 * MARGIN) / columns *
			(rows + (unplaced.length ? 1.35 : 0));
	}
	stage.style.setProperty("--high", `${Math.round(high)}px`);
}

// Put this many cells on the stage, and leave so many pixels round them.
function fitStage(left, top, right, bottom, margin = 0) {
	const w = canvas.clientWidth, h = canvas.clientHeight;

	cell = Math.min((w - 2 * margin) / (right - left),
		(h - 2 * margin) / (bottom - top)) * view.zoom;
	originX = w / 2 + view.panX - cell * (left + right) / 2;
	originY = h / 2 + view.panY - cell * (top + bottom) / 2;
}

function placeRing() {
	const n = Math.max(1, nswitches), r = Math.max(1, n / 6);

	fitStage(-r - 1.2, -r - 1.2, r + 1.2, r + 1.2);
	for (let s = 0; s < nswitches; s++) {
		const a = 2 * Math.PI * s / n - Math.PI / 2;

		pointX[s] = originX + cell * r * Math.cos(a);
		pointY[s] = originY + cell * r * Math.sin(a);
	}
}

function placeTurned() {
	const r = 0.5 * Math.hypot(...grid.radix) + 0.3;
	const p = sites.map((site) => (site === NONE ? null : turned(siteCoord(site))));
	const z = p.flatMap((q) => (q ? [q[2]] : []));
	const near = z.reduce((a, b) => Math.max(a, b), -Infinity);
	const far = z.reduce((a, b) => Math.min(a, b), Infinity);

	fitStage(-r, -r, r, r);
	for (let s = 0; s < nswitches; s++) {
		const q = p[s] || [-r + 0.5 + unplaced.indexOf(s), r - 0.5, near];

		pointX[s] = originX + cell * q[0];
		pointY[s] = originY + cell * q[1];
		depth[s] = near > far ? (q[2] - far) / (near - far) : 1;
	}
}

function placeFlat() {
	flat = flatLayout();
	const last = (flat.rows - 1) * flat.height +
		(flat.v === NONE ? 0 : grid.radix[flat.v] - 1);
	fitStage(-0.75, -0.75, (flat.columns - 1) * flat.width + grid.radix[flat.u] - 0.25,
		last + (unplaced.length ? 2.1 : 0.75), MARGIN);
	for (let s = 0; s < nswitches; s++) {
		const c = coordOf(s);
		const p = c ? flatPlace(c) :
			[0.5 + unplaced.indexOf(s), last + 1.7];

		pointX[s] = originX + cell * p[0];
		pointY[s] = originY + cell * p[1];
		visible[s] = !c || view.plane === NONE || c[view.axis] === view.plane;
	}
}

function placeAll() {
	depth.fill(1);
	visible.fill(1);
	if (view.layout === "ring")
		placeRing();
	else if (view.layout === "turn")
		placeTurned();
	else
		placeFlat();
	hideAbsent();
}

// ---- cables: one or two lines for each way

const lane = new Uint8Array(ncables);	// among parallel cables
{
	const seen = new Map();

	for (let c = 0; c < ncables; c++) {
		const pair = fabric.cables[4 * c] * nswitches + fabric.cables[4 * c + 2];

		lane[c] = seen.get(pair) || 0;
		seen.set(pair, lane[c] + 1);
	}
}

const lines = new Float32Array(16 * ncables);	// 2 lines of 4 numbers a way
const nlines = new Uint8Array(2 * ncables);

const gap = () => Math.max(0.8, Math.min(4, cell * 0.045));
const nodeSize = () => Math.max(1.4, Math.min(23, cell * 0.21));

// The direction of a stub from the first end, in pixels, or null: a line.
function stubOf(c) {
	const s = steps[c];

	if (!s || view.layout === "ring")
		return null;
	if (view.layout === "turn") {
		if (!s.wraps)
			return null;
		const a = coordOf(fabric.cables[4 * c]), b = a.slice();
		b[s.dim] += s.sense * 0.55;
		const [x0, y0] = project(a), [x1, y1] = project(b);
		return [x1 - x0, y1 - y0];
	}
	// Too small to be distinguished, they are left out.
	if (s.dim === view.axis)
		return cell < 13 ? [0, 0] : [s.sense * cell * 0.34, -s.sense * cell * 0.34];
	if (!s.wraps)
		return null;
	return s.dim === flat.u ? [s.sense * cell * 0.62, 0] :
		[0, -s.sense * cell * 0.62];
}

function putLine(w, x0, y0, x1, y1) {
	const length = Math.hypot(x1 - x0, y1 - y0) || 1;
	const off = gap() * (0.62 + 1.15 * lane[w >> 1]);
	const ox = -(y1 - y0) / length * off, oy = (x1 - x0) / length * off;

	lines.set([x0 + ox, y0 + oy, x1 + ox, y1 + oy], 8 * w + 4 * nlines[w]++);
}

function layCables() {
	nlines.fill(0);
	for (let c = 0; c < ncables; c++) {
		const a = fabric.cables[4 * c], b = fabric.cables[4 * c + 2];
		const stub = stubOf(c);

		for (let w = absentCable(c) ? 2 * c + 2 : 2 * c; w < 2 * c + 2; w++) {
			const from = w & 1 ? b : a, to = w & 1 ? a : b;

			if (!stub) {
				if (visible[from] && visible[to])
					putLine(w, pointX[from], pointY[from],
						pointX[to], pointY[to]);
				continue;
			}
			const [dx, dy] = w & 1 ? [-stub[0], -stub[1]] : stub;
			if (visible[from])
				putLine(w, pointX[from], pointY[from],
					pointX[from] + dx, pointY[from] + dy);
			if (visible[to])
				putLine(w, pointX[to] - dx, pointY[to] - dy,
					pointX[to], pointY[to]);
		}
	}
}

function trace(w) {
	for (let i = 8 * w; i < 8 * w + 4 * nlines[w]; i += 4) {
		pen.moveTo(lines[i], lines[i + 1]);
		pen.lineTo(lines[i + 2], lines[i + 3]);
	}
}

// ---- adapters

const adaptersShown = () => cell >= 52 && view.layout !== "turn";

// Adapters sit in rows below and to the right of their switch, so many of them.
const ADAPTERS = 12;
function endPlace(e) {
	const sw = ends.sw[e];

	if (e < nswitches || !adaptersShown())
		return sw === NONE ? null : [pointX[sw], pointY[sw], true];
	const i = endsOf[sw].indexOf(e), row = Math.floor(i / 4);
	const start = nodeSize() + Math.max(5, cell * 0.06);
	return [pointX[sw] + start * 0.95 + (i % 4) * cell * 0.085,
		pointY[sw] + start * 0.95 + row * cell * 0.085, i >= ADAPTERS];
}

// ---- what is at a place of the screen

function hit(x, y) {
	const near = Math.max(7, nodeSize() + 2);
	let best = null, least = Infinity;

	for (let e = nswitches; adaptersShown() && e < nends; e++) {
		if (ends.sw[e] === NONE || !visible[ends.sw[e]])
			continue;
		const [ex, ey, hidden] = endPlace(e);
		if (!hidden && Math.hypot(ex - x, ey - y) <= Math.max(5, cell * 0.04))
			return { end: e };
	}
	for (let s = 0; s < nswitches; s++) {
		const d = Math.max(Math.abs(pointX[s] - x), Math.abs(pointY[s] - y));

		if (visible[s] && d <= near && d - depth[s] < least) {
			least = d - depth[s];
			best = { sw: s };
		}
	}
	if (best)
		return best;
	for (let w = 0; w < 2 * ncables; w++)
		for (let i = 8 * w; i < 8 * w + 4 * nlines[w]; i += 4) {
			const d = distance(x, y, lines[i], lines[i + 1], lines[i + 2],
				lines[i + 3]);

			if (d < 6 && d < least) {
				least = d;
				best = { way: w };
			}
		}
	return best;
}

function distance(x, y, x0, y0, x1, y1) {
	const dx = x1 - x0, dy = y1 - y0;
	const t = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1);
	const u = Math.max(0, Math.min(1, t));

	return Math.hypot(x - x0 - u * dx, y - y0 - u * dy);
}

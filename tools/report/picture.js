// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The picture: the fabric on a canvas.
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
	yaw: 0.55, pitch: 0.42,
	colour: null,		// one of `colourings`
	cursor: NONE,		// switch chosen by keyboard
	cable: NONE,		// cable chosen in a table
};

// What is drawn over the picture: lists of {way, label}, or null.
const overlays = {
	fresh: { title: "New cables", steps: null, shown: true, arrows: false },
	tree: { title: "Tree", steps: null, shown: true, arrows: false },
	path: { title: "Path", steps: null, shown: true, arrows: true },
	loop: { title: "Credit loop", steps: null, shown: true, arrows: true },
	deadlock: { title: "Deadlock", steps: null, shown: true, arrows: true },
};
const chosen = { from: NONE, to: NONE, members: new Set() };

const SCALES = {
	light: ["#cdd5dd", "#b3c9e0", "#93b4d8", "#739fce", "#558ac2", "#3b73b3",
		"#275a9d", "#164281", "#082a5e"],
	dark: ["#35404c", "#34506f", "#37618d", "#3d74a9", "#4a8ac5", "#659fda",
		"#8ab9e9", "#b4d4f4", "#e2effc"],
};
const CLASSES = SCALES.light.length;

let theme = {};

function readTheme() {
	const style = getComputedStyle(document.documentElement);
	const colour = (name) => style.getPropertyValue("--" + name).trim();

	theme = {};
	for (const name of ["surface", "ink", "soft", "line", "node", "node-line",
		"path", "tree", "loop", "missing", "cable", "from", "accent"])
		theme[name] = colour(name);
	theme.dark = !paper.matches &&
		matchMedia("(prefers-color-scheme: dark)").matches;
	theme.scale = theme.dark ? SCALES.dark : SCALES.light;
	theme.deadlock = theme.loop;
	theme.fresh = theme.accent;
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

	return { id, title, what, values, text, most, nodes: !!nodes,
		classes: Int8Array.from(values, (v) => classOf(v, most || 1)) };
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

const unplaced = sites.flatMap((site, s) => (grid && site === NONE ? [s] : []));

function flatLayout() {
	const inPlane = usedDims.filter((d) => d !== view.axis);
	const [u, v] = [inPlane[0] ?? 0, inPlane[1] ?? NONE];
	const planes = view.axis === NONE || view.plane !== NONE ? 1 :
		grid.radix[view.axis];
	const width = grid.radix[u] + 1.7;
	const height = (v === NONE ? 1 : grid.radix[v]) + (view.axis === NONE ? 1.5 : 2.1);
	const stage = canvas.clientWidth / Math.max(1, canvas.clientHeight);
	let columns = 1, best = Infinity;

	for (let c = 1; c <= planes; c++) {
		const rows = Math.ceil(planes / c);
		const size = Math.max(c * width / stage, rows * height);

		if (size < best - 1e-9) {
			best = size;
			columns = c;
		}
	}
	return { u, v, planes, columns, width, height,
		rows: Math.ceil(planes / columns) };
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
	const stage = byId("stage");
	let ratio = 1;

	if (view.layout === "flat" && view.axis === NONE) {
		const f = flatLayout();

		ratio = Math.max(0.35, (f.height + (unplaced.length ? 1.9 : 0.5)) /
			(f.width + 0.3));
	}
	stage.style.setProperty("--high", `${Math.round(ratio * stage.clientWidth)}px`);
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
		last + (unplaced.length ? 2.1 : 0.75), 20);
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
	// Too small to be told apart, they are left out.
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

		for (let w = 2 * c; w < 2 * c + 2; w++) {
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

// In a crowd, what is drawn over the picture makes the rest step back.
function faded() {
	const any = Object.values(overlays).some((o) => o.steps && o.shown);

	return any && nswitches > 300 ? (view.layout === "turn" ? 0.22 : 0.5) : 1;
}

function drawCables() {
	const c = view.colour && !view.colour.nodes ? view.colour : null;
	const thin = Math.max(0.6, Math.min(2.2, cell * 0.028));
	const bands = view.layout === "turn" ? 3 : 1;

	for (let k = 0; k < (c ? CLASSES : 1); k++)
		for (let band = 0; band < bands; band++) {
			pen.beginPath();
			for (let w = 0; w < 2 * ncables; w++) {
				if (c && c.classes[w] !== k)
					continue;
				const d = (depth[wayFrom(w)] + depth[wayTo(w)]) / 2;
				if (bands > 1 && Math.min(2, Math.floor(3 * d)) !== band)
					continue;
				trace(w);
			}
			pen.strokeStyle = c ? theme.scale[k] : theme.cable;
			pen.lineWidth = c ? thin * (0.8 + 1.1 * k / CLASSES) : thin;
			pen.globalAlpha = (bands > 1 ? 0.35 + 0.3 * band : 1) * faded();
			pen.stroke();
		}
	pen.globalAlpha = 1;
}

// ---- frame: plane titles, axes, datelines

function text(string, x, y, options = {}) {
	pen.font = `${options.bold ? "600 " : ""}${options.size || 12}px system-ui, ` +
		"\"DejaVu Sans\", sans-serif";
	pen.textAlign = options.align || "center";
	pen.textBaseline = options.base || "middle";
	if (options.halo) {
		pen.lineJoin = "round";
		pen.lineWidth = 4;
		pen.strokeStyle = theme.surface;
		pen.strokeText(string, x, y);
	}
	pen.fillStyle = options.colour || theme.soft;
	pen.fillText(string, x, y);
}

function dash(x0, y0, x1, y1, colour, width) {
	pen.beginPath();
	pen.setLineDash([5, 4]);
	pen.moveTo(x0, y0);
	pen.lineTo(x1, y1);
	pen.strokeStyle = colour;
	pen.lineWidth = width;
	pen.stroke();
	pen.setLineDash([]);
}

const closed = (d) => d !== NONE && grid.radix[d] > 2 && !grid.mesh[d];

function drawPlaneFrame(k) {
	const at = [0, 0, 0], { u, v } = flat;
	const ru = grid.radix[u], rv = v === NONE ? 1 : grid.radix[v];
	const size = Math.max(8, Math.min(13, cell * 0.28));

	if (view.axis !== NONE)
		at[view.axis] = k;
	const [x0, y1] = project(at);
	at[u] = ru - 1;
	if (v !== NONE)
		at[v] = rv - 1;
	const [x1, y0] = project(at);
	const half = 0.5 * cell;
	if (closed(u))
		for (const x of [x0 - half, x1 + half])
			dash(x, y0 - half * 0.8, x, y1 + half * 0.8, theme.soft, 1);
	if (closed(v))
		for (const y of [y0 - half, y1 + half])
			dash(x0 - half * 0.8, y, x1 + half * 0.8, y, theme.soft, 1);
	if (view.axis !== NONE)
		text(`${DIMS[view.axis]} = ${k}`, (x0 + x1) / 2, y0 - cell * 0.66 - 2,
			{ bold: true, size: Math.max(10, size), base: "bottom" });
	if (cell < 11)
		return;
	const every = cell < 18 ? 4 : 1;
	for (let i = 0; i < ru; i += every)
		text((i ? "" : DIMS[u] + " ") + i, x0 + i * cell, y1 + 0.66 * cell + 2,
			{ size, base: "top" });
	for (let i = 0; v !== NONE && i < rv; i += every)
		text((i ? "" : DIMS[v] + " ") + i, x0 - 0.66 * cell - 2, y1 - i * cell,
			{ size, align: "right" });
}

function drawCube() {
	const r = grid.radix, corner = (i) => [0, 1, 2].map((d) =>
		(i >> d & 1 ? r[d] - 0.45 : -0.55));

	for (let i = 0; i < 8; i++)
		for (let d = 0; d < 3; d++)
			if (!(i >> d & 1))
				dash(...project(corner(i)), ...project(corner(i | 1 << d)),
					theme.line, 1);
	for (let d = 0; d < 3; d++)
		for (let i = 0; i < r[d]; i += Math.max(1, Math.ceil(r[d] / 8))) {
			const at = [-0.9, -0.9, -0.9];

			at[d] = i;
			text((i ? "" : DIMS[d] + " ") + i, ...project(at), { size: 12 });
		}
}

function drawFrame() {
	if (view.layout === "turn")
		drawCube();
	else if (view.layout !== "ring")
		for (let k = 0; k < flat.planes; k++)
			drawPlaneFrame(view.plane === NONE ? k : view.plane);
	if (unplaced.length && view.layout !== "turn")
		text("no coordinates:", pointX[unplaced[0]] - cell * 0.3 - 4,
			pointY[unplaced[0]], { align: "right", size: 11 });
}

// ---- failures

function cross(x, y, size) {
	pen.beginPath();
	pen.moveTo(x - size, y - size);
	pen.lineTo(x + size, y + size);
	pen.moveTo(x + size, y - size);
	pen.lineTo(x - size, y + size);
	pen.strokeStyle = theme.missing;
	pen.lineWidth = Math.max(1, size / 3);
	pen.stroke();
}

const shownSite = (c) => view.plane === NONE || c[view.axis] === view.plane;

function drawMissingCable([site, dim, have, usual]) {
	const a = siteCoord(site), b = a.slice();
	const size = Math.max(2.5, nodeSize() * 0.3);

	if (!shownSite(a) && dim !== view.axis)
		return;
	b[dim] = (a[dim] + 1) % grid.radix[dim];
	const wraps = b[dim] < a[dim] && grid.radix[dim] > 2;
	const out = a.slice(), into = b.slice();
	out[dim] += 0.55;
	into[dim] -= 0.55;
	let parts = wraps ? [[a, out], [into, b]] : [[a, b]];
	if (view.layout !== "turn" && dim === view.axis) {
		const d = 0.34 * cell;
		for (const [c, sign] of [[a, 1], [b, -1]]) {
			if (!shownSite(c))
				continue;
			const [x, y] = project(c);
			dash(x, y, x + sign * d, y - sign * d, theme.missing, 1.5);
			cross(x + sign * d, y - sign * d, size);
		}
		return;
	}
	for (const [p, q] of parts) {
		const [x0, y0] = project(p), [x1, y1] = project(q);

		if (have === 0)
			dash(x0, y0, x1, y1, theme.missing, Math.max(1, gap() * 0.6));
		cross((x0 + x1) / 2, (y0 + y1) / 2, size);
		if (have && cell > 40)
			text(`${have} of ${usual}`, (x0 + x1) / 2, (y0 + y1) / 2 + 12,
				{ size: 10, halo: true, colour: theme.missing });
	}
}

function drawMissing() {
	if (view.layout === "ring")
		return;
	doc.missing.cables.forEach(drawMissingCable);
	for (const site of doc.missing.switches) {
		const c = siteCoord(site), r = Math.max(4, nodeSize());

		if (!shownSite(c))
			continue;
		const [x, y] = project(c);
		pen.setLineDash([4, 3]);
		pen.strokeStyle = theme.missing;
		pen.lineWidth = Math.max(1, r / 9);
		pen.strokeRect(x - r, y - r, 2 * r, 2 * r);
		pen.setLineDash([]);
		cross(x, y, r * 0.5);
	}
}

// ---- overlays

function arrow(x0, y0, x1, y1, at, size) {
	const a = Math.atan2(y1 - y0, x1 - x0);
	const x = x0 + (x1 - x0) * at, y = y0 + (y1 - y0) * at;

	pen.beginPath();
	for (const [r, turn] of [[1, 0], [0.9, 2.5], [0.9, -2.5]])
		pen.lineTo(x + r * size * Math.cos(a + turn),
			y + r * size * Math.sin(a + turn));
	pen.closePath();
	pen.fill();
}

function label(string, x, y, colour) {
	pen.font = "600 11px system-ui, \"DejaVu Sans\", sans-serif";
	const w = pen.measureText(string).width / 2 + 4;

	pen.fillStyle = theme.surface;
	pen.strokeStyle = colour;
	pen.lineWidth = 1;
	pen.beginPath();
	pen.roundRect(x - w, y - 8, 2 * w, 16, 3);
	pen.fill();
	pen.stroke();
	text(string, x, y + 0.5, { size: 11, bold: true, colour: theme.ink });
}

function drawOverlay(name) {
	const o = overlays[name], colour = theme[name];

	if (!o.steps || !o.shown)
		return;
	const wide = Math.max(2, Math.min(5, cell * 0.055));
	pen.beginPath();
	for (const { way } of o.steps)
		trace(way);
	pen.lineCap = "round";
	pen.strokeStyle = theme.surface;
	pen.lineWidth = wide + 3;
	pen.stroke();
	pen.strokeStyle = colour;
	pen.lineWidth = wide;
	pen.stroke();
	pen.lineCap = "butt";
	if (!o.arrows)
		return;
	for (const { way } of o.steps)
		for (let i = 8 * way; i < 8 * way + 4 * nlines[way]; i += 4) {
			pen.fillStyle = colour;
			arrow(...lines.subarray(i, i + 4), 0.62,
				Math.max(4, Math.min(10, cell * 0.11)));
		}
}

// In small pictures the switches on the way tell where it leads.
function drawStops(name) {
	const o = overlays[name], r = nodeSize();

	if (!o.steps || !o.shown || cell >= 30 || view.layout === "turn")
		return;
	pen.fillStyle = theme[name];
	for (const { way } of o.steps)
		for (const s of [wayFrom(way), wayTo(way)])
			if (visible[s])
				pen.fillRect(pointX[s] - r, pointY[s] - r, 2 * r, 2 * r);
}

// Labels come last, over the switches.
function drawLabels(name) {
	const o = overlays[name];

	// In small pictures there is room for the number alone, or for none.
	const brief = cell < 60;

	if (!o.steps || !o.shown || cell < 34)
		return;
	for (const step of o.steps) {
		const i = 8 * step.way;

		if (!step.label || !nlines[step.way])
			continue;
		const dx = lines[i + 2] - lines[i], dy = lines[i + 3] - lines[i + 1];
		const length = Math.hypot(dx, dy) || 1;
		const side = Math.abs(dx) > Math.abs(dy) ? 15 : brief ? 14 : 24;
		label(brief ? step.label.replace(/:.*/, "") : step.label, lines[i] + 0.5 * dx - dy / length * side,
			lines[i + 1] + 0.5 * dy + dx / length * side, theme[name]);
	}
}

// ---- switches and adapters

const adaptersShown = () => cell >= 52 && view.layout !== "turn";

// Adapters sit in rows below and to the right of their switch.
function endPlace(e) {
	const sw = ends.sw[e];

	if (e < nswitches || !adaptersShown())
		return sw === NONE ? null : [pointX[sw], pointY[sw], true];
	const i = endsOf[sw].indexOf(e), row = Math.floor(i / 4);
	const start = nodeSize() + Math.max(5, cell * 0.06);
	return [pointX[sw] + start * 0.95 + (i % 4) * cell * 0.085,
		pointY[sw] + start * 0.95 + row * cell * 0.085, row > 2];
}

function drawAdapters() {
	if (!adaptersShown())
		return;
	const r = Math.max(2.5, Math.min(5, cell * 0.032));
	pen.lineWidth = 1;
	for (let e = nswitches; e < nends; e++) {
		const sw = ends.sw[e];

		if (sw === NONE || !visible[sw])
			continue;
		const [x, y, hidden] = endPlace(e);
		if (hidden || x < -9 || y < -9 || x > canvas.clientWidth + 9 ||
			y > canvas.clientHeight + 9)
			continue;
		pen.beginPath();
		pen.arc(x, y, r, 0, 2 * Math.PI);
		pen.fillStyle = chosen.members.has(e) && overlays.tree.steps &&
			overlays.tree.shown ? theme.tree : theme.node;
		pen.fill();
		pen.strokeStyle = theme["node-line"];
		pen.stroke();
	}
}

function drawSwitch(s, r) {
	const x = pointX[s], y = pointY[s];
	const c = view.colour && view.colour.nodes ? view.colour : null;
	const k = c ? c.classes[s] : 0;

	if (!visible[s] || x < -r || y < -r || x > canvas.clientWidth + r ||
		y > canvas.clientHeight + r)
		return;
	if (view.layout === "turn")
		r *= 0.7 + 0.5 * depth[s];
	pen.beginPath();
	pen.roundRect(x - r, y - r, 2 * r, 2 * r, r * 0.22);
	pen.fillStyle = c ? theme.scale[k] : theme.node;
	pen.fill();
	pen.strokeStyle = theme["node-line"];
	pen.lineWidth = 1.2;
	pen.stroke();
	if (r < 12 || view.layout === "turn")
		return;
	const dark = c && k > CLASSES / 2;
	const where = coordOf(s);
	text(where ? shortCoord(where) : String(s + 1), x, y + 0.5, {
		size: Math.min(13, r * 0.66),
		colour: dark ? theme.surface : theme.ink });
}

// Thousands of little ones: all of a colour at once.
function drawLittleSwitches(r) {
	const c = view.colour && view.colour.nodes ? view.colour : null;

	for (let k = 0; k < (c ? CLASSES : 1); k++) {
		pen.beginPath();
		for (let s = 0; s < nswitches; s++)
			if (visible[s] && (!c || c.classes[s] === k))
				pen.rect(pointX[s] - r, pointY[s] - r, 2 * r, 2 * r);
		pen.fillStyle = c ? theme.scale[k] : theme.node;
		pen.fill();
		pen.strokeStyle = theme["node-line"];
		pen.lineWidth = 0.6;
		pen.stroke();
	}
}

function drawSwitches() {
	const r = nodeSize() * (view.layout === "turn" ? 0.62 : 1);
	const order = Array.from({ length: nswitches }, (_, s) => s);

	if (view.layout === "turn") {
		order.sort((a, b) => depth[a] - depth[b]);
		pen.globalAlpha = Math.sqrt(faded());
	}
	if (r < 4)
		drawLittleSwitches(r);
	else
		for (const s of order)
			drawSwitch(s, r);
	pen.globalAlpha = 1;
}

function ring(x, y, r, colour, width) {
	pen.beginPath();
	pen.arc(x, y, r, 0, 2 * Math.PI);
	pen.strokeStyle = colour;
	pen.lineWidth = width;
	pen.stroke();
}

function drawChosen() {
	for (const [which, string] of [["from", "from"], ["to", "to"]]) {
		const e = chosen[which];

		if (e === NONE || ends.sw[e] === NONE || !visible[ends.sw[e]])
			continue;
		const s = ends.sw[e], r = nodeSize();
		ring(pointX[s], pointY[s], r * 1.42 + 1, theme.from,
			Math.max(2, Math.min(3.5, r / 5)));
		if (e >= nswitches && adaptersShown() && !endPlace(e)[2]) {
			const [x, y] = endPlace(e);

			pen.beginPath();
			pen.arc(x, y, Math.max(3.5, cell * 0.042), 0, 2 * Math.PI);
			pen.fillStyle = theme.from;
			pen.fill();
		}
		text(string, pointX[s] - r * 1.1, pointY[s] - r * 1.5 - 4,
			{ halo: true, bold: true, size: 12, colour: theme.from });
	}
	if (view.cursor !== NONE && document.activeElement === canvas) {
		const r = nodeSize() + 4, x = pointX[view.cursor], y = pointY[view.cursor];

		pen.strokeStyle = theme.accent;
		pen.lineWidth = 2;
		pen.strokeRect(x - r, y - r, 2 * r, 2 * r);
	}
	if (view.cable !== NONE) {
		pen.beginPath();
		trace(view.cable);
		pen.strokeStyle = theme.ink;
		pen.lineWidth = Math.max(3, cell * 0.05);
		pen.stroke();
	}
}

// ---- all of it

let waiting = false;

function draw() {
	const scale = paper.matches ?
		3 : window.devicePixelRatio || 1;
	const w = canvas.clientWidth, h = canvas.clientHeight;

	waiting = false;
	if (!w || !h)
		return;
	if (canvas.width !== Math.round(w * scale) ||
		canvas.height !== Math.round(h * scale)) {
		canvas.width = Math.round(w * scale);
		canvas.height = Math.round(h * scale);
	}
	pen.setTransform(scale, 0, 0, scale, 0, 0);
	pen.clearRect(0, 0, w, h);
	placeAll();
	layCables();
	drawFrame();
	drawCables();
	if (view.layout === "turn")
		drawSwitches();
	drawMissing();
	for (const name of Object.keys(overlays))
		drawOverlay(name);
	drawAdapters();
	if (view.layout !== "turn")
		drawSwitches();
	for (const name of ["path", "loop", "deadlock"])
		drawStops(name);
	drawChosen();
	for (const name of ["path", "loop", "deadlock"])
		drawLabels(name);
}

function redraw() {
	if (!waiting)
		requestAnimationFrame(draw);
	waiting = true;
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

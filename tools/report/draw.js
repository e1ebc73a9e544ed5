// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Drawing: from the places that picture.js has given everything to the canvas,
// from the back to the front.

// ---- cables

// In a crowd, what is drawn over the picture makes the rest step back.
function faded() {
	const any = Object.values(overlays).some((o) => o.steps && o.shown);

	return any && nswitches > 300 ? (view.layout === "turn" ? 0.22 : 0.5) : 1;
}

// Among so many cables only those that stand out are drawn in full; in the turning
// view, where thousands of lines make patterns of their own, only these.
const crowded = () => nswitches > 1000;
const standsOut = (k) => !view.colour || view.colour.nodes || k >= view.colour.least;

function fadedClass(k) {
	return !crowded() || standsOut(k) ? 1 : view.layout === "turn" ? 0 : 0.3;
}

// In the turning view what is far away is paler: 0 far, 2 near.
const bandOf = (w) => Math.min(2, Math.floor(1.5 * (depth[wayFrom(w)] + depth[wayTo(w)])));
const bands = () => (view.layout === "turn" ? [0, 1, 2] : [2]);

function drawCables() {
	const c = view.colour && !view.colour.nodes ? view.colour : null;
	const thin = Math.max(0.6, Math.min(2.2, cell * 0.028));

	for (let k = 0; k < (c ? CLASSES : 1); k++)
		for (const band of bands()) {
			pen.beginPath();
			for (let w = 0; w < 2 * ncables; w++)
				if ((!c || c.classes[w] === k) && bandOf(w) === band)
					trace(w);
			pen.strokeStyle = c ? theme.scale[k] : theme.cable;
			pen.lineWidth = c ? thin * (0.8 + 1.1 * k / CLASSES) : thin;
			pen.globalAlpha = (view.layout === "turn" ? 0.35 + 0.3 * band : 1) *
				faded() * fadedClass(k);
			if (pen.globalAlpha > 0)
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
	if (cell < NUMBERED)
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
		numberEdge(d);
}

// Numbers stand along the edge that is farthest out in the picture.
function numberEdge(d) {
	const r = grid.radix, middle = project(r.map((n) => (n - 1) / 2));
	let best = null, most = -1;

	for (let k = 0; k < 4; k++) {
		const at = [0, 1, 2].map((e) => ((k >> (e > d ? e - 1 : e) & 1) ? r[e] - 0.1 : -0.9));

		at[d] = (r[d] - 1) / 2;
		const [x, y] = project(at);
		const out = Math.hypot(x - middle[0], y - middle[1]);
		if (out > most + 1e-6) {
			most = out;
			best = at;
		}
	}
	for (let i = 0; i < r[d]; i += Math.max(1, Math.ceil(r[d] / 8))) {
		best[d] = i;
		text((i ? "" : DIMS[d] + " ") + i, ...project(best), { size: 12 });
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
	const a = siteCoord(site), b = siteCoord(siteAfter(site, dim));
	const size = Math.max(3.5, nodeSize() * 0.3);

	if (!shownSite(a) && dim !== view.axis)
		return;
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
	missingShown().cables.forEach(drawMissingCable);
	for (const site of missingShown().switches) {
		const c = siteCoord(site), r = Math.max(4, nodeSize());

		if (!shownSite(c))
			continue;
		const [x, y] = project(c);
		if (r < 8) {
			pen.fillStyle = theme.missing;
			pen.fillRect(x - r, y - r, 2 * r, 2 * r);
			continue;
		}
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
	pen.lineCap = "round";
	for (const band of bands()) {
		pen.beginPath();
		for (const { way } of o.steps)
			if (bandOf(way) === band)
				trace(way);
		pen.globalAlpha = 0.6 + 0.2 * band;
		pen.strokeStyle = theme.surface;
		pen.lineWidth = wide * (0.5 + 0.25 * band) + 2;
		pen.stroke();
		pen.strokeStyle = colour;
		pen.lineWidth = wide * (0.5 + 0.25 * band);
		pen.stroke();
	}
	pen.globalAlpha = 1;
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

// In small pictures the switches on the route show where it leads.
function drawStops(name) {
	const o = overlays[name], r = nodeSize();

	if (!o.steps || !o.shown || cell >= 30 || view.layout === "turn")
		return;
	pen.fillStyle = pen.strokeStyle = theme[name];
	pen.lineWidth = 2;
	// A full square of some size looks like a missing switch.
	for (const { way } of o.steps)
		for (const s of [wayFrom(way), wayTo(way)])
			if (visible[s])
				pen[r < 4 ? "fillRect" : "strokeRect"](pointX[s] - r, pointY[s] - r,
					2 * r, 2 * r);
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
		const along = nlines[step.way] > 1 ? 0.8 : 0.5;
		label(brief ? step.label.replace(/:.*/, "") : step.label,
			lines[i] + along * dx - dy / length * side,
			lines[i + 1] + along * dy + dx / length * side, theme[name]);
	}
}

// ---- switches and adapters

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
	for (let s = 0; s < nswitches; s++) {
		if (!visible[s] || endsOf[s].length <= ADAPTERS)
			continue;
		const [x, y] = endPlace(endsOf[s][ADAPTERS]);
		text(`+${endsOf[s].length - ADAPTERS}`, x - r, y, { size: 11, align: "left" });
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
	text(placeText(s) || "?", x, y + 0.5, {
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
		pen.globalAlpha = Math.sqrt(faded()) * (crowded() ? 0.45 : 1);
	}
	if (r < 4)
		drawLittleSwitches(crowded() && view.layout === "turn" ? r * 0.55 : r);
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
	const at = (which) => (chosen[which] === NONE ? NONE : ends.sw[chosen[which]]);

	for (const which of ["from", "to"]) {
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
		text(at("from") === at("to") ? "from, to" : which, pointX[s] - r * 1.1,
			pointY[s] - r * 1.5 - 4,
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
		for (const s of [wayFrom(view.cable), wayTo(view.cable)])
			if (visible[s] && cell < 30)
				ring(pointX[s], pointY[s], nodeSize() + 7, theme.ink, 2);
	}
	for (const c of view.marks.map(siteCoord))
		if (shownSite(c))
			ring(...project(c), nodeSize() + 7, theme.ink, 2);
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
	// Ten thousand of them would be slow to follow a hand.
	if (!view.turning || ncables < 3000 || crowded())
		drawCables();
	if (view.layout === "turn")
		drawSwitches();
	drawVanished();
	drawMissing();
	for (const name of Object.keys(overlays))
		drawOverlay(name);
	drawAdapters();
	if (view.layout !== "turn")
		drawSwitches();
	for (const name of ["worst", "path", "loop", "deadlock"])
		drawStops(name);
	drawChosen();
	for (const name of ["worst", "path", "loop", "deadlock"])
		drawLabels(name);
	drawRuns();
}

function redraw() {
	if (!waiting)
		requestAnimationFrame(draw);
	waiting = true;
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Controls, pointer and keyboard; and what happens when the page opens.

const say = (string) => {
	byId("status").textContent = string;
};

// ---- layouts

const layouts = [];

function listLayouts() {
	if (!grid || !usedDims.length)
		layouts.push({ title: "Ring", layout: "ring", axis: NONE });
	else if (usedDims.length < 3)
		layouts.push({ title: "Grid", layout: "flat", axis: NONE });
	else {
		for (const d of [2, 1, 0])
			layouts.push({ title: `Planes of ${DIMS[d]}`, layout: "planes", axis: d });
		layouts.push({ title: "Turning view", layout: "turn", axis: NONE });
	}
	byId("layout").replaceChildren(...layouts.map((l, i) =>
		element("option", { value: i, text: l.title })));
	byId("layout-box").hidden = layouts.length < 2;
}

function setLayout(i) {
	Object.assign(view, { layout: layouts[i].layout, axis: layouts[i].axis,
		plane: NONE, zoom: 1, panX: 0, panY: 0 });
	byId("layout").value = i;
	byId("tip").hidden = true;
	byId("plane-box").hidden = view.layout !== "planes";
	for (const id of ["keys-turn", "keys-turn-too"])
		byId(id).hidden = view.layout !== "turn";
	if (view.layout === "planes")
		byId("plane").replaceChildren(element("option", { value: NONE, text: "all" }),
			...Array.from({ length: grid.radix[view.axis] }, (_, k) =>
				element("option", { value: k, text: `${DIMS[view.axis]} = ${k}` })));
	sizeStage();
	fillLegend();
	redraw();
}

function showPlane(k) {
	view.plane = k;
	byId("plane").value = k;
	byId("tip").hidden = true;
	fitAll();
}

function zoomBy(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
	const next = Math.max(0.5, Math.min(60, view.zoom * factor));
	const f = next / view.zoom;

	// The point under the pointer stays where it is.
	view.panX = (x - canvas.clientWidth / 2) * (1 - f) + view.panX * f;
	view.panY = (y - canvas.clientHeight / 2) * (1 - f) + view.panY * f;
	view.zoom = next;
	redraw();
}

function turnBy(yaw, pitch) {
	view.yaw += yaw;
	view.pitch = Math.max(-1.5, Math.min(1.5, view.pitch + pitch));
	view.turning = true;
	clearTimeout(turnBy.rest);
	turnBy.rest = setTimeout(() => {
		view.turning = false;
		redraw();
	}, 250);
	redraw();
}

function fitAll() {
	Object.assign(view, { zoom: 1, panX: 0, panY: 0 });
	redraw();
}

// ---- colours and overlays

function fillColours() {
	byId("colour").replaceChildren(...colourings.map((c, i) =>
		element("option", { value: i, text: c.title })),
	element("option", { value: NONE, text: "none" }));
	view.colour = colourings[0];
}

function fillOverlays() {
	byId("overlays").replaceChildren(...Object.entries(overlays)
		.filter(([, o]) => o.steps).map(([name, o]) => {
			const box = element("input", { type: "checkbox", id: `show-${name}`,
				onchange: () => {
					o.shown = box.checked;
					fillLegend();
					redraw();
				} });

			box.checked = o.shown;
			return element("label", {}, box, ` ${o.title}`);
		}));
}

function key(drawing, string) {
	return element("span", { class: "key" }, svg("svg",
		{ width: 24, height: 16, "aria-hidden": "true" }, ...drawing), string);
}

const strokeKey = (colour, string, dashes) => key([svg("path", { d: "M1 8h22",
	stroke: `var(--${colour})`, "stroke-width": 3,
	"stroke-dasharray": dashes || "none" })], string);

function scaleLegend(c) {
	const bar = svg("svg", { width: CLASSES * 18, height: 14, "aria-hidden": "true" },
		...theme.scale.map((fill, i) => svg("rect", { x: 18 * i, y: 1, width: 17,
			height: 12, fill, stroke: "var(--node-line)", "stroke-width": 0.5 })));

	return element("span", { class: "scale" }, `${c.title}:`, element("span",
		{ text: c.text(0) }), bar, element("span", { id: "scale-most",
		text: c.text(c.most) }));
}

function fillLegend() {
	const items = [];

	if (view.colour)
		items.push(scaleLegend(view.colour));
	if (crowded() && view.colour && !view.colour.nodes)
		items.push(element("span", { class: "note", text: view.layout === "turn" ?
			"drawn: what stands out, one direction in twenty at most" :
			"paler: what does not stand out" }));
	if (doc.missing.switches.length)
		items.push(key([svg("rect", { x: 5, y: 1, width: 14, height: 14, fill: "none",
			stroke: "var(--missing)", "stroke-dasharray": "3 2" }),
		svg("path", { d: "M9 5l6 6m0-6l-6 6", stroke: "var(--missing)",
			"stroke-width": 2 })], "missing switch"));
	if (doc.missing.cables.length)
		items.push(key([svg("path", { d: "M1 8h22", stroke: "var(--missing)",
			"stroke-width": 2, "stroke-dasharray": "4 3" }),
		svg("path", { d: "M9 5l6 6m0-6l-6 6", stroke: "var(--missing)",
			"stroke-width": 2 })], "missing cable"));
	if (moment !== lastMoment && (goneNow.switches.size || goneNow.hops.size))
		items.push(key([svg("path", { d: "M1 8h22", stroke: "var(--cable)",
			"stroke-width": 6 })], "there then, missing in the last moment"));
	for (const [name, o] of Object.entries(overlays))
		if (o.steps && o.shown)
			items.push(strokeKey(name === "deadlock" ? "loop" : name,
				o.title.toLowerCase()));
	if (grid && usedDims.some(closed))
		items.push(key([svg("path", { d: "M12 0v16", stroke: "var(--soft)",
			"stroke-dasharray": "4 3" })], grid.certain ?
			"dateline: a cable that crosses it leads to the other edge" :
			"edge: a cable that crosses it leads to the other edge"));
	byId("legend").replaceChildren(...items);
}

// ---- choosing ends

const lidEnds = new Map(doc.tables.lids.map((lid, i) => [lid, doc.tables.owner[i]]));

// A switch in the picture stands for its first adapter with a LID.
function endOfSwitch(sw) {
	return endsOf[sw].find((e) => ends.lid[e]) ?? sw;
}

function endByName(string) {
	const name = string.trim();
	const coord = name.replace(/^\(|\)$/g, "").split(",").map(Number);

	if (!name)
		return NONE;
	const listed = endTexts.indexOf(name);
	if (listed >= 0)
		return listed;
	if (/^\d+$/.test(name))
		return lidEnds.get(Number(name)) ?? NONE;
	if (/^0x[0-9a-f]+$/i.test(name))
		return endByGuid.get("0x" + name.slice(2).toLowerCase().padStart(16, "0")) ?? NONE;
	if (grid && coord.length > 1 && coord.every(Number.isInteger))
		return Array.from(sites.keys()).find((s) => coordOf(s) && [0, 1, 2].every(
			(d) => coordOf(s)[d] === (coord[d] || 0))) ?? NONE;
	const at = ends.name.indexOf(name), host = at < 0 ? endsOfHost(name) : [];
	return host.length === 1 ? host[0] : at;
}

// Descriptions often are a host's name and an adapter's: "node01 mlx5_0".
function endsOfHost(name) {
	return Array.from(ends.name.keys()).filter((e) => ends.name[e].startsWith(`${name} `));
}

// Unique, so that what is picked from the list is what is meant.
let endTexts = [];

function fillEndList() {
	if (endTexts.length)
		return;
	const seen = new Set();
	endTexts = Array.from({ length: nends }, (_, e) => {
		let name = endText(e);

		if (seen.has(name))
			name = `${name} [LID ${ends.lid[e]}]`;
		seen.add(name);
		return name;
	});
	const list = document.createDocumentFragment();
	for (const name of endTexts)
		list.append(element("option", { value: name }));
	byId("end-list").append(list);
}

function setEnd(which, end) {
	chosen[which] = end;
	byId(which).value = end === NONE ? "" : endText(end);
	byId(which).setCustomValidity("");
	if (which === "to") {
		const lids = end === NONE ? [] : lidsOf(end);

		byId("lid-box").hidden = lids.length < 2;
		byId("lid").replaceChildren(...lids.map((l, i) =>
			element("option", { value: i, text: doc.tables.lids[l] })));
	}
}

// The first choice is the source, the second the destination, the third a new
// source.
function choose(end) {
	const next = chosen.from !== NONE && chosen.to === NONE ? "to" : "from";

	if (next === "from")
		setEnd("to", NONE);
	setEnd(next, end);
	say(next === "from" ? `From ${endText(end)}: now choose where to` :
		`From ${endText(chosen.from)} to ${endText(end)}`);
	return showPath().then(() => {
		// Where the panels stand beside the picture, the result comes into sight.
		if (chosen.to !== NONE && byId("panels").getBoundingClientRect().left >
			canvas.getBoundingClientRect().right)
			byId("path").scrollIntoView({ block: "nearest" });
	});
}

function clearEnds() {
	setEnd("from", NONE);
	setEnd("to", NONE);
	say("");
	return showPath();
}

function typed(which) {
	fillEndList();
	const input = byId(which), end = endByName(input.value);

	if (end === NONE && input.value.trim()) {
		input.setCustomValidity("no switch or adapter of this name");
		input.reportValidity();
		return;
	}
	setEnd(which, end);
	showPath();
}

// ---- the pointer

const inOneLine = (string) => string.replaceAll("\n", "; ");

function switchTip(sw) {
	const lines = [switchText(sw), ends.guid[sw], `LID ${ends.lid[sw]}, ` +
		`${plural(fabric.switches.ports[sw], "port")}, ` +
		plural(endsOf[sw].length, "adapter")];

	if (view.colour && view.colour.nodes)
		lines.push(`${view.colour.title}: ${view.colour.text(view.colour.values[sw])}`);
	return lines.join("\n");
}

function endTip(e) {
	return [endText(e), ends.guid[e], `LID ${ends.lid[e]}, at ` +
		`${switchText(ends.sw[e])} port ${ends.port[e]}`].join("\n");
}

function wayTip(w) {
	const lines = [wayText(w)];

	for (const c of colourings)
		if (!c.nodes)
			lines.push(`${c.title}: ${c.text(c.values[w])} (back: ` +
				`${c.text(c.values[w ^ 1])})`);
	const vls = Object.entries(doc.emulation?.ways?.vl_bytes || {})
		.filter(([, bytes]) => bytes[w]);
	if (vls.length)
		lines.push(vls.map(([vl, bytes]) => `VL ${vl}: ${bytesText(bytes[w])}`).join(", "));
	return lines.join("\n");
}

function showTip(x, y) {
	const what = hit(x, y), tip = byId("tip");

	tip.hidden = !what;
	if (!what)
		return;
	tip.textContent = what.end !== undefined ? endTip(what.end) :
		what.sw !== undefined ? switchTip(what.sw) : wayTip(what.way);
	const left = Math.min(x + 14, canvas.clientWidth - tip.offsetWidth - 4);
	const below = y + 16 + tip.offsetHeight < canvas.clientHeight;
	tip.style.left = `${Math.max(0, left)}px`;
	tip.style.top = `${below ? y + 16 : y - tip.offsetHeight - 10}px`;
}

function watchPointer() {
	let drag = null;

	canvas.addEventListener("pointerdown", (event) => {
		drag = { x: event.offsetX, y: event.offsetY, moved: false };
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener("pointermove", (event) => {
		if (!drag) {
			showTip(event.offsetX, event.offsetY);
			return;
		}
		const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
		if (!drag.moved && Math.hypot(dx, dy) < 4)
			return;
		Object.assign(drag, { x: event.offsetX, y: event.offsetY, moved: true });
		byId("tip").hidden = true;
		if (view.layout === "turn" && !event.shiftKey) {
			turnBy(dx * 0.008, dy * 0.008);
		} else {
			view.panX += dx;
			view.panY += dy;
			redraw();
		}
	});
	canvas.addEventListener("pointerup", (event) => {
		const clicked = drag && !drag.moved;

		drag = null;
		if (!clicked)
			return;
		const what = hit(event.offsetX, event.offsetY);
		view.cursor = NONE;
		if (what && what.end !== undefined)
			choose(what.end);
		else if (what && what.sw !== undefined)
			choose(endOfSwitch(what.sw));
		else if (what)
			pointAtCable(what.way);
	});
	canvas.addEventListener("pointercancel", () => {
		drag = null;
	});
	canvas.addEventListener("pointerleave", () => {
		byId("tip").hidden = true;
	});
	// The wheel alone scrolls the page.
	canvas.addEventListener("wheel", (event) => {
		if (!event.ctrlKey && !event.metaKey)
			return;
		event.preventDefault();
		zoomBy(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
	}, { passive: false });
}

// ---- the keyboard

function moveCursor(sw) {
	if (!visible[sw])
		showPlane(NONE);
	view.cursor = sw;
	canvas.focus({ preventScroll: true });
	byId("stage").scrollIntoView({ block: "nearest" });
	say(inOneLine(switchTip(sw)));
	redraw();
}

// The nearest switch there in a dimension; missing ones are passed over.
function neighbour(sw, dim, sense) {
	const c = coordOf(sw), radix = grid.radix[dim];

	for (let i = 1; i < radix; i++) {
		const at = c.slice();

		at[dim] = (c[dim] + sense * i + i * radix) % radix;
		const site = at[0] + grid.radix[0] * (at[1] + grid.radix[1] * at[2]);
		const found = sites.indexOf(site);
		if (found >= 0)
			return found;
	}
	return sw;
}

function step(dim, sense) {
	const sw = view.cursor;

	if (sw === NONE)
		moveCursor(0);
	else if (coordOf(sw))
		moveCursor(neighbour(sw, dim, sense));
	else
		moveCursor((sw + sense + nswitches) % nswitches);
}

function pressed(event) {
	const turn = view.layout === "turn" && event.shiftKey;
	const across = view.layout === "planes" ? flat.u : 0;
	const up = view.layout === "planes" ? flat.v : 1;
	const through = view.layout === "planes" ? view.axis : 2;
	const keys = {
		ArrowRight: () => (turn ? turnBy(0.1, 0) : step(across, 1)),
		ArrowLeft: () => (turn ? turnBy(-0.1, 0) : step(across, -1)),
		ArrowUp: () => (turn ? turnBy(0, 0.1) : step(up, 1)),
		ArrowDown: () => (turn ? turnBy(0, -0.1) : step(up, -1)),
		PageUp: () => step(through, 1),
		PageDown: () => step(through, -1),
		Enter: () => view.cursor !== NONE && choose(endOfSwitch(view.cursor)),
		" ": () => view.cursor !== NONE && choose(endOfSwitch(view.cursor)),
		Escape: () => clearEnds(),
		"+": () => zoomBy(1.25),
		"=": () => zoomBy(1.25),
		"-": () => zoomBy(0.8),
		"0": fitAll,
	};

	if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey)
		return;
	event.preventDefault();
	keys[event.key]();
}

// ---- opening

function recolour() {
	readTheme();
	themed.forEach((make) => make());
	fillLegend();
	redraw();
}

// The browser prints what is there when this returns.
function recolourNow() {
	recolour();
	draw();
}

function connect() {
	byId("layout").addEventListener("change", (e) => setLayout(Number(e.target.value)));
	byId("plane").addEventListener("change", (e) => showPlane(Number(e.target.value)));
	byId("colour").addEventListener("change", (e) => {
		view.colour = colourings[Number(e.target.value)] || null;
		fillLegend();
		redraw();
	});
	byId("zoom-in").addEventListener("click", () => zoomBy(1.25));
	byId("zoom-out").addEventListener("click", () => zoomBy(0.8));
	byId("zoom-fit").addEventListener("click", fitAll);
	for (const which of ["from", "to"]) {
		byId(which).addEventListener("focus", fillEndList);
		byId(which).addEventListener("change", () => typed(which));
	}
	byId("lid").addEventListener("change", () => showPath());
	byId("swap").addEventListener("click", () => {
		const { from, to } = chosen;

		setEnd("from", to);
		setEnd("to", from);
		showPath();
	});
	byId("clear").addEventListener("click", clearEnds);
	byId("job-hosts").addEventListener("change", () => showJob());
	for (const form of ["controls", "ends", "job-form"])
		byId(form).addEventListener("submit", (event) => event.preventDefault());
	canvas.addEventListener("keydown", pressed);
	canvas.addEventListener("focus", redraw);
	canvas.addEventListener("blur", redraw);
	watchPointer();
	new ResizeObserver(() => {
		sizeStage();
		redraw();
	}).observe(canvas);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
	paper.addEventListener("change", recolourNow);
}

// When and by what the tables were made.
function madeText() {
	const { written, engine, mode } = doc.made;
	const when = written === null ? "" : `, snapshot of ${new Date(written * 1000)
		.toISOString().slice(0, 16).replace("T", " ")} UTC`;

	return `; routed by ${engine || "an engine that the snapshot does not name"}` +
		(mode ? ` (${mode})` : "") + when;
}

function open() {
	document.title = `${doc.title} \u2013 Dateline report`;
	byId("title").textContent = doc.title;
	byId("subtitle").textContent = "Dateline report: " +
		(grid ? gridText() : "no coordinates known") +
		(grid && !grid.certain ? ", coordinates found from the cabling" : "") + madeText();
	byId("footer").textContent = `Made by ${doc.program}. This file needs nothing ` +
		"else: no network, no server.";
	readTheme();
	fillTiles();
	fillVerdict();
	fillMissing();
	fillLoad();
	byId("cable-body").append(note("Choose a row of a table that names a cable, and " +
		"the pairs that use it are listed here."));
	fillMulticast();
	fillEmulation();
	fillCounters();
	fillChange();
	fillMoments();
	fillRecordings();
	listLayouts();
	fillColours();
	fillOverlays();
	connect();
	setLayout(0);
	showPath();
	recolour();
}

open();

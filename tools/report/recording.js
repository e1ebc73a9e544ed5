// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Recorded emulations, played: packets fill the buffers behind cables, credits
// return, and where there is a credit loop a ring of full buffers freezes.  Two
// recordings run side by side.
//
// A recording is a list of steps, SIZE numbers each: time, event, packet, the way that
// leaves the port where it happens, its switch, and VL and bytes.  A packet holds
// buffer from its arrival at a switch until its last copy is sent.  The picture is that
// of the fabric, at another scale.

const PLAY_SECONDS = 30;	// for all of it, at speed 1
const BLOCK = 64;		// bytes
const SIZE = 6;
const ARRIVED = 1, SENT = 2, DELIVERED = 3, DROPPED = 4, CREDIT = 5;
const VL_COLOURS = ["#2f7fd0", "#e08a00", "#00936b", "#c25b9a", "#5bb0e0", "#d55e00",
	"#a89a00", "#8a8a8a"];
const vlColour = (vl) => VL_COLOURS[vl % VL_COLOURS.length];

const player = { at: 0, from: 0, until: 0, playing: false, last: 0, speed: 1, runs: [] };

// A packet on a way: begin and end of its time on the cable, and when it leaves the
// buffer behind it; Infinity: not while it was recorded.
function hopsOf(steps, until) {
	const hops = [], begun = new Map(), inside = new Map();
	const key = (packet, way, vl) => (packet * 2 * ncables + way) * 16 + vl;

	for (let i = 0; i < steps.length; i += SIZE) {
		const [at, event, packet, way, sw, rest] = steps.slice(i, i + SIZE);
		const vl = rest & 15, there = packet * (nswitches + 1) + sw;

		if (event === SENT || event === DROPPED) {
			for (const hop of inside.get(there) ?? [])
				hop.leave = at;
			if (event === SENT && way !== NONE)
				begun.set(key(packet, way, vl), at);
		} else if (event === ARRIVED && way !== NONE && sw !== NONE) {
			const hop = { way: way ^ 1, vl, end: at, leave: Infinity,
				begin: begun.get(key(packet, way ^ 1, vl)) ?? at,
				blocks: Math.ceil((rest >> 4) / BLOCK) };

			hops.push(hop);
			begun.delete(key(packet, way ^ 1, vl));
			inside.set(there, [hop]);
		}
	}
	return hops.filter((h) => h.end <= until);
}

// Buffers, by way * 16 + VL: the most that was held, and since when nothing leaves them
// any more, where that is long before the end.
function readBuffers(run) {
	const all = new Map();

	for (const h of run.hops) {
		const id = h.way * 16 + h.vl;

		if (!all.has(id))
			all.set(id, { moves: [], last: 0, kept: Infinity });
		const b = all.get(id);
		b.moves.push([h.end, h.blocks], [h.leave, -h.blocks]);
		if (h.leave === Infinity)
			b.kept = Math.min(b.kept, h.end);
		else
			b.last = Math.max(b.last, h.leave);
	}
	for (const [id, b] of all) {
		const still = Math.max(b.kept, b.last);
		let held = 0;

		if (run.until - still >= (run.until - run.from) / 4)
			run.stuck.set(id, still);
		for (const [, n] of b.moves.sort((x, y) => x[0] - y[0]))
			run.size = Math.max(run.size, held += n);
	}
}

function readRun({ title, steps }) {
	const run = { from: steps[0] ?? 0, until: steps.at(-SIZE) ?? 0, size: 1, stuck: new Map(),
		arrivals: [], credits: [], box: element("canvas", { class: "run", role: "img",
			"aria-label": title }), words: element("p", { class: "note" }), title };

	for (let i = 0; i < steps.length; i += SIZE)
		if (steps[i + 1] === DELIVERED)
			run.arrivals.push(steps[i]);
		else if (steps[i + 1] === CREDIT && steps[i + 3] !== NONE)
			run.credits.push({ at: steps[i], way: steps[i + 3] });
	run.hops = hopsOf(steps, run.until);
	run.vls = [...new Set(run.hops.map((h) => h.vl))].sort((a, b) => a - b);
	readBuffers(run);
	return run;
}

// The loop that `dateline verify` found; what waits behind it is paler.
const loopIds = new Set((doc.verdict.steps || []).map(({ way, vl }) => way * 16 + vl));
const ringFrozen = (run) => loopIds.size > 0 && [...loopIds].every((id) => run.stuck.get(id) <= player.at);

// ---- the picture

// A point on a way, 0 at its beginning to 1 at its end; a stub at each end counts half.
function pointOn(w, f) {
	const n = nlines[w], part = Math.min(n - 1, Math.floor(f * n)), i = 8 * w + 4 * part;

	f = f * n - part;
	return [lines[i] + f * (lines[i + 2] - lines[i]), lines[i + 1] +
		f * (lines[i + 3] - lines[i + 1])];
}

// The buffer of a VL stands at the end of its way, beside it, and fills from the switch.
function drawBuffer(c, run, w, vl, held, frozen) {
	const i = 8 * w + 4 * (nlines[w] - 1), [x1, y1] = [lines[i + 2], lines[i + 3]];
	const dx = x1 - lines[i], dy = y1 - lines[i + 1], length = Math.hypot(dx, dy) || 1;
	const wide = Math.max(2, Math.min(7, cell * 0.06)), long = Math.min(length, cell) * 0.5;
	const off = gap() + wide * (0.3 + 1.2 * run.vls.indexOf(vl)) + wide / 2;
	const put = (from, to) => {
		c.beginPath();
		for (const at of [from, to])
			c.lineTo(x1 - dx / length * at - dy / length * off,
				y1 - dy / length * at + dx / length * off);
		c.stroke();
	};
	const start = nodeSize() + 1;

	c.lineWidth = wide;
	c.strokeStyle = theme.line;
	put(start, start + long);
	c.strokeStyle = frozen ? theme.loop : vlColour(vl);
	c.globalAlpha = frozen && ringFrozen(run) && !loopIds.has(w * 16 + vl) ? 0.45 : 1;
	put(start, start + long * Math.min(1, held / run.size));
	c.globalAlpha = 1;
}

function drawCredits(c, run) {
	const shown = (player.until - player.from) / 200;

	c.fillStyle = theme.soft;
	for (const { at, way } of run.credits) {
		if (at > player.at || at < player.at - shown || !nlines[way])
			continue;
		const [x, y] = pointOn(way, 0.15 + 0.7 * (player.at - at) / shown);
		c.fillRect(x - 1.5, y - 1.5, 3, 3);
	}
}

function drawRun(run) {
	const ratio = window.devicePixelRatio || 1, wide = run.box.clientWidth;
	const scale = wide / (canvas.clientWidth || 1), c = run.box.getContext("2d");
	const held = new Map(), t = player.at, arrived = run.arrivals.filter((at) => at <= t).length;
	let still = 0;

	run.box.width = wide * ratio;
	run.box.height = canvas.clientHeight * scale * ratio;
	run.box.style.height = `${canvas.clientHeight * scale}px`;
	c.setTransform(ratio * scale, 0, 0, ratio * scale, 0, 0);
	c.beginPath();
	for (let i = 0; i < lines.length; i += 4)
		if (i % 8 < 4 * nlines[i >> 3]) {
			c.moveTo(lines[i], lines[i + 1]);
			c.lineTo(lines[i + 2], lines[i + 3]);
		}
	c.strokeStyle = theme.cable;
	c.lineWidth = 1;
	c.stroke();
	drawCredits(c, run);
	for (const { way, vl, begin, end, leave, blocks } of run.hops) {
		if (end <= t && t < leave) {
			held.set(way * 16 + vl, (held.get(way * 16 + vl) ?? 0) + blocks);
		} else if (begin <= t && t < end && nlines[way]) {
			c.beginPath();
			c.arc(...pointOn(way, 0.15 + 0.7 * (t - begin) / (end - begin)),
				Math.max(2, Math.min(5, cell * 0.045)), 0, 2 * Math.PI);
			c.fillStyle = vlColour(vl);
			c.fill();
		}
	}
	for (const [id, n] of held) {
		const frozen = run.stuck.get(id) <= t;

		still += frozen;
		if (nlines[id >> 4])
			drawBuffer(c, run, id >> 4, id & 15, n, frozen);
	}
	const r = nodeSize();
	c.lineWidth = 1.2;
	c.font = `${Math.min(13, r * 0.66)}px system-ui, sans-serif`;
	c.textAlign = "center";
	c.textBaseline = "middle";
	for (let s = 0; s < nswitches; s++) {
		if (!visible[s])
			continue;
		c.fillStyle = theme.node;
		c.strokeStyle = theme["node-line"];
		c.beginPath();
		c.roundRect(pointX[s] - r, pointY[s] - r, 2 * r, 2 * r, r * 0.22);
		c.fill();
		c.stroke();
		c.fillStyle = theme.ink;
		if (r >= 12)
			c.fillText(placeText(s), pointX[s], pointY[s]);
	}
	run.words.replaceChildren(`${plural(arrived, "packet")} arrived. `, still ?
		word(false, `${plural(still, "buffer")} frozen: nothing leaves ` +
			`${still === 1 ? "it" : "them"} any more.`) : "");
}

function drawRuns() {
	if (!player.runs.length)
		return;
	byId("play-at").value = 1000 * (player.at - player.from) / (player.until - player.from || 1);
	byId("play-time").textContent = `${nsText(player.at)} of ${nsText(player.until)}`;
	player.runs.forEach(drawRun);
}

// ---- the controls

function play(on) {
	player.playing = on;
	byId("play").textContent = on ? "Pause" : "Play";
	if (!on)
		return;
	if (player.at >= player.until)
		player.at = player.from;
	player.last = performance.now();
	requestAnimationFrame(playOn);
}

function playOn(now) {
	if (!player.playing)
		return;
	player.at = Math.min(player.until, player.at + (now - player.last) / 1e3 * player.speed *
		(player.until - player.from) / PLAY_SECONDS);
	player.last = now;
	drawRuns();
	if (player.at < player.until)
		requestAnimationFrame(playOn);
	else
		play(false);
}

function seek(ns) {
	play(false);
	player.at = ns;
	drawRuns();
}

// To the next moment at which a packet goes on a cable, into a buffer, or out of it.
function playStep() {
	let next = player.until;

	for (const run of player.runs)
		for (const { begin, end, leave } of run.hops)
			for (const at of [begin, end, leave])
				if (at > player.at && at < next)
					next = at;
	seek(next);
}

function fillRecordings() {
	if (!doc.recordings)
		return;
	player.runs = doc.recordings.map(readRun);
	player.from = player.at = Math.min(...player.runs.map((r) => r.from));
	player.until = Math.max(...player.runs.map((r) => r.until));
	byId("player").hidden = false;
	byId("runs").append(...player.runs.map((r) => element("figure", {},
		element("figcaption", { text: r.title }), r.box, r.words)));
	const vls = [...new Set(player.runs.flatMap((r) => r.vls))].sort((a, b) => a - b);
	const key = (colour, text) => element("span", { class: "key" }, svg("svg", { width: 18,
		height: 8, "aria-hidden": "true" }, svg("path", { d: "M0 4h18", stroke: colour,
		"stroke-width": 7 })), text);
	byId("play-key").append(...vls.map((vl) => key(vlColour(vl), `VL ${vl}`)),
		key("var(--loop)", "frozen"), key("var(--soft)", "credits on their way back"));
	byId("play").addEventListener("click", () => play(!player.playing));
	byId("play-step").addEventListener("click", playStep);
	byId("play-speed").addEventListener("change", (e) => {
		player.speed = Number(e.target.value);
	});
	byId("play-at").addEventListener("input", (e) => seek(player.from + e.target.value / 1000 *
		(player.until - player.from)));
	new ResizeObserver(drawRuns).observe(byId("runs"));
}

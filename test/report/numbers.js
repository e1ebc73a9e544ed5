// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The numbers of tiles, tables and charts, worked out again: from the dumps,
// `dateline verify --json` and `dateline emulate --json`.
"use strict";

const assert = require("assert");
const { endPorts, loads } = require("./snapshot.js");

const number = (n, digits = 0) => n.toLocaleString("en-US",
	{ minimumFractionDigits: digits, maximumFractionDigits: digits });
const percent = (part, whole, digits) => `${number(100 * part / whole, digits)} %`;
const switchName = (name) => `${name} (${name.split("_").slice(1).join(",").replace(/,0$/, "")})`;

function time(ns) {
	const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]]
		.find(([u]) => ns >= u) || [1, "ns"];
	const n = ns / unit;

	return `${number(n, unit === 1 ? (n && n < 100 ? 1 : 0) :
		unit === 1e3 && n >= 10 ? 1 : 2)} ${name}`;
}

const textOf = (page, selector) => page.$eval(selector, (e) => e.innerText.replace(/\s+/g, " "));

// The tables of a panel, by caption or by the heads of their columns.
async function tablesOf(page, panel) {
	return new Map(await page.$$eval(`#${panel} table`, (list) => list.map((t) => [
		t.caption ? t.caption.textContent : [...t.tHead.rows[0].cells]
			.map((th) => th.textContent).join(" "),
		[...t.tBodies[0].rows].map((tr) => [...tr.cells].map((td) =>
			td.textContent.trim()))])));
}

// ---- tiles

async function agreeOnTiles(page, s, verdict, missing = []) {
	const l = loads(s), switches = s.switches.length;
	const shown = await page.$$eval("#tiles li", (list) =>
		list.slice(0, 6).map((li) => [...li.children].map((e) => e.textContent)));
	const cables = s.switches.flatMap((n) => [...n.peers.values()])
		.filter((p) => s.nodes.get(p.id).isSwitch).length / 2;

	assert.deepStrictEqual(shown.slice(0, 2), [
		["Delivery", "complete", `${number(verdict.pairs)} pairs`],
		verdict.credit_loop ?
			["Credit loops", "yes", `shortest: ${verdict.cycle.length} channels`] :
			["Credit loops", "none", `${number(verdict.channels)} channels`]]);
	assert.deepStrictEqual(shown[2].slice(0, 2), ["Switches", number(switches)]);
	if (missing.length)
		assert.strictEqual(shown[2][2],
			`${missing.length} of ${switches + missing.length} missing`);
	assert.deepStrictEqual(shown[3].slice(0, 2), ["Cables", number(cables)]);
	assert.deepStrictEqual(shown[4].slice(0, 2), ["Adapters",
		number(endPorts(s).filter((e) => !e.node.isSwitch).length)]);
	assert.deepStrictEqual(shown[5], ["Busiest cable", `${number(l.busiest)} pairs`,
		`${number(l.hops / l.pairs, 2)} hops on average`]);
}

// ---- charts

// Bars: how many values are there from .. to?
async function agreeOnBars(page, chart, values) {
	const bars = await page.$$eval(`${chart} rect title`, (list) =>
		list.map((t) => t.textContent));
	let all = 0;

	for (const bar of bars) {
		const [from, to, n] = /^([\d,]+)(?: to ([\d,]+))?: ([\d,]+)$/.exec(bar).slice(1)
			.map((v) => (v === undefined ? v : Number(v.replaceAll(",", ""))));

		assert.strictEqual(n, values.filter((v) => v >= from && v <= (to ?? from)).length, bar);
		all += n;
	}
	assert.strictEqual(all, values.length);
}

// The points of a chart's lines, read off with the help of its axes.
async function readLines(page, chart) {
	const { letters, paths } = await page.$eval(chart, (e) => ({
		letters: [...e.querySelectorAll("text")].map((t) => ({ text: t.textContent,
			x: Number(t.getAttribute("x")), y: Number(t.getAttribute("y")),
			down: t.getAttribute("text-anchor") === "end" })),
		paths: [...e.querySelectorAll("path:not(.axis)")].map((p) => p.getAttribute("d")) }));
	const units = { s: 1e9, ms: 1e6, "\u00b5s": 1e3, ns: 1, "%": 1 };
	const value = (t) => {
		const m = /^([\d.,]+)(?: (\S+))?$/.exec(t.text);

		return m && Number(m[1].replaceAll(",", "")) * (m[2] ? units[m[2]] : 1);
	};
	// Three numbers tell how an axis is divided, two where they are.
	const scale = (list, at) => {
		const marks = list.filter((t) => value(t) !== null).map((t) => [value(t), at(t)])
			.sort((a, b) => a[0] - b[0]);
		const [a, b, c] = [marks[0], marks[marks.length >> 1], marks.at(-1)];
		const log = marks.length > 2 && a[0] > 0 && Math.abs((b[1] - a[1]) / (c[1] - a[1]) -
			(b[0] - a[0]) / (c[0] - a[0])) > 0.02;
		const to = log ? Math.log : (v) => v;
		const back = log ? Math.exp : (v) => v;

		assert(marks.length > 1);
		return (p) => back(to(a[0]) + (to(c[0]) - to(a[0])) * (p - a[1]) / (c[1] - a[1]));
	};
	const x = scale(letters.filter((t) => !t.down), (t) => t.x);
	const y = scale(letters.filter((t) => t.down), (t) => t.y - 4);

	return paths.map((d) => d.slice(1).split("L").map((p) => {
		const [a, b] = p.split(" ").map(Number);

		return [x(a), y(b)];
	}));
}

// Coordinates have a tenth of a pixel, of some two hundred to an axis.
function samePoints(shown, expected, slack) {
	assert.strictEqual(shown.length, expected.length);
	shown.forEach((p, i) => p.forEach((v, k) => {
		const e = expected[i][k];

		assert(Math.abs(v - e) <= Math.abs(e) * 0.01 + slack[k], `${p}: not ${expected[i]}`);
	}));
}

// ---- an emulation

function betweenSwitches(s, e) {
	return e.ports.filter((p) => s.byGuid.get(p.guid).isSwitch &&
		s.nodes.get(s.byGuid.get(p.guid).peers.get(p.port).id).isSwitch);
}

function expectedLanes(ports) {
	const lanes = {};

	for (const p of ports)
		for (const [vl, v] of Object.entries(p.vl))
			lanes[vl] = (lanes[vl] || 0) + v.bytes;
	const all = Object.values(lanes).reduce((a, b) => a + b, 0);
	return Object.entries(lanes).map(([vl, n]) => [vl, number(n), percent(n, all, 1)]);
}

async function agreeOnCables(page, s, e, list) {
	const cables = betweenSwitches(s, e);
	const byName = new Map(cables.map((p) => [`${switchName(s.byGuid.get(p.guid).name)} ${p.port}`,
		p]));

	assert.deepStrictEqual(list.map((r) => r[0]), cables.map((p) => p.xmit_data_bytes)
		.filter((n) => n).sort((a, b) => b - a).slice(0, 20).map((n) => number(n)));
	for (const r of list) {
		const p = byName.get(`${r[1]} ${r[2]}`);
		const peer = s.byGuid.get(p.guid).peers.get(p.port);

		assert.deepStrictEqual([r[0], r[3], r[4], ...r.slice(6)], [number(p.xmit_data_bytes),
			switchName(s.nodes.get(peer.id).name), String(peer.port),
			percent(p.xmit_busy_ns, e.sim_seconds * 1e9 - e.counted_from_ns, 1),
			time(p.xmit_wait_ns)]);
	}
	const shown = await page.evaluate(() => doc.emulation.ways.bytes.map((n, w) =>
		[`${switchText(wayFrom(w))} ${wayOut(w)}`, n, doc.emulation.ways.wait_ns[w]]));
	assert.strictEqual(shown.length, cables.length);
	for (const [key, bytes, wait] of shown)
		assert.deepStrictEqual([bytes, wait], [byName.get(key).xmit_data_bytes,
			byName.get(key).xmit_wait_ns], key);
}

async function agreeOnRun(page, s, e) {
	const text = await textOf(page, "#emulation"), tables = await tablesOf(page, "emulation");
	const gbps = e.qos.reduce((a, q) => a + q.throughput_gbps, 0);
	const tile = await textOf(page, "#tiles");

	for (const part of [`${number(e.delivered_packets)} of ${number(e.injected_packets)} packets ` +
		`delivered, ${number(e.dropped_packets)} dropped, ${number(e.in_flight)} in flight ` +
		`at the end, in ${time(e.sim_seconds * 1e9)} of simulated time; throughput ` +
		`${percent(e.throughput_fraction, 1, 2)} of what the adapters can send, ` +
		`${percent(e.offered_fraction, 1, 2)} offered.`, ...e.warnings])
		assert(text.includes(part), text);
	assert.strictEqual(text.includes("Deadlock"), e.deadlock);
	assert.strictEqual(text.includes("interrupted"), e.interrupted);
	if (e.dropped_packets)
		assert(text.includes(`Dropped: ${Object.entries(e.drops).map(([why, n]) =>
			`${number(n)} ${why.replace("_", " ")}`).join(", ")}.`), text);
	const dropped = e.dropped_packets && `${number(e.dropped_packets)} dropped`;
	const how = (e.deadlock && "deadlock") || dropped || (e.interrupted && "interrupted") ||
		"no deadlock";
	assert(tile.includes(`Emulation ${how} throughput ${percent(e.throughput_fraction, 1, 1)}`),
		tile);
	assert.deepStrictEqual(tables.get("Delivered, by QoS level"), e.qos.map((q) =>
		[String(q.level), q.sl.join(", "), number(q.delivered_packets),
			number(q.delivered_bytes), number(q.throughput_gbps, 2),
			percent(q.throughput_gbps, gbps, 1)]));
	assert.deepStrictEqual(tables.get(
		"From a message's arrival at the adapter to its packet's last byte"),
	e.qos.map((q) => [String(q.level), ...["mean", "p50", "p99", "p999", "max"].map((k) =>
		time(q[`latency_ns_${k}`]))]));
	assert.deepStrictEqual(tables.get("VL Bytes sent Share"), expectedLanes(betweenSwitches(s, e)));
	await agreeOnCables(page, s, e, [...tables.entries()].find(([k]) => /busiest/.test(k))[1]);
	if (e.qos.length > 1)
		assert.deepStrictEqual(await page.$$eval("#emulation svg[aria-label^=Shares] text",
			(list) => list.map((t) => t.textContent)), e.qos.map((q) =>
			`Level ${q.level}: ${number(q.throughput_gbps, 2)} Gb/s`));
	if (e.pairs) {
		const [caption, list] = [...tables].find(([k]) => /slowest/.test(k));
		const name = (guid) => s.byGuid.get(guid).name;
		const slowest = [...e.pairs].sort((a, b) => b.latency_ns_mean - a.latency_ns_mean);

		assert(caption.startsWith(`The ${Math.min(100, e.pairs.length)} slowest of ` +
			`${number(e.pairs.length)} pairs`), caption);
		assert.deepStrictEqual(list.map((r) => r[4]), slowest.slice(0, 100).map((p) =>
			time(p.latency_ns_mean)));
		for (const r of list)
			assert(e.pairs.some((p) => name(p.from) === r[0] && name(p.to) === r[1] &&
				number(p.packets) === r[2] && number(p.bytes) === r[3] &&
				time(p.latency_ns_max) === r[5]), r.join());
	}
	const lines = await readLines(page, "#emulation svg[aria-label^='Share of']");
	e.qos.forEach((q, i) => {
		const all = q.latency_histogram_ns.reduce((a, [, n]) => a + n, 0);
		let seen = 0;

		assert.strictEqual(all, q.delivered_packets);
		samePoints(lines[i], q.latency_histogram_ns.map(([upTo, n]) =>
			[upTo, 100 * (seen += n) / all]), [0, 0.2]);
	});
	if (e.samples)
		samePoints((await readLines(page, "#emulation svg[aria-label^=Throughput]"))[0],
			e.samples.map((p) => [p.at_ns, p.throughput_gbps]),
			[e.samples.at(-1).at_ns / 1000, gbps / 200]);
}

async function agreeOnSweep(page, e) {
	const tables = await tablesOf(page, "emulation");
	const lines = await readLines(page, "#emulation svg[role=img]");

	assert.deepStrictEqual(tables.get("A run for each load"), e.sweep.map((p) =>
		[number(p.load, 3), number(p.throughput_fraction, 4), ...["mean", "p50", "p99", "p999"]
			.map((k) => time(p[`latency_ns_${k}`])), p.deadlock ? "yes" : "no"]));
	["mean", "p99"].forEach((k, i) => samePoints(lines[i], e.sweep.map((p) =>
		[p.load, p[`latency_ns_${k}`]]), [0.002, 0]));
	assert((await textOf(page, "#tiles")).includes(`Emulation ${e.deadlock ? "deadlock" :
		"no deadlock"} ${e.saturation_load === null ? "not saturated" :
		`saturates at load ${number(e.saturation_load, 3)}`}`));
	assert.match(await textOf(page, "#emulation"), e.saturation_load === null ?
		/does not saturate/ : new RegExp(`saturates at a load of ${number(e.saturation_load, 3)}\\.`));
}

// ---- the verdict

// The packets of a loop, in `dateline verify`'s words and in the page's.
async function agreeOnLoop(page, s, verdict) {
	const list = (await tablesOf(page, "verdict"))
		.get("Each waits for the next one, and the last for the first");
	const packets = [...(await page.$eval("#verdict pre", (e) => e.textContent)).split("\n\n")[0]
		.matchAll(/^ +"(\S+)" \(LID \d+\) to (?:multicast group (\S+)|"(\S+)" .*), SL (\d+)$/gm)];

	assert.strictEqual(packets.length, verdict.cycle.length);
	assert.deepStrictEqual(list, verdict.cycle.map((c, i) => {
		const sw = s.byGuid.get(c.guid), peer = sw.peers.get(c.port);
		const [, from, group, to, sl] = packets[i];

		return [String(i + 1), `${switchName(sw.name)} port ${c.port} \u2192 ` +
			`${switchName(s.nodes.get(peer.id).name)} port ${peer.port}` +
			`${from} to ${group ? `group ${group}` : to}, SL ${sl}`, String(c.vl)];
	}));
}

async function agreeOnLosses(page, s, verdict) {
	const [caption, list] = [...await tablesOf(page, "undelivered")][0];
	const name = (at) => {
		const n = s.byGuid.get(at.guid);

		return (n.isSwitch ? switchName(n.name) : n.name) + (at.port ? ` port ${at.port}` : "");
	};

	assert.strictEqual(caption,
		`${verdict.undelivered.length} failures of ${verdict.undelivered.length}`);
	assert.deepStrictEqual(list, verdict.undelivered.map((u) => [name(u.from), name(u.to),
		String(u.lid), u.sl === null ? "any" : String(u.sl), u.reason, name(u.at)]));
}

module.exports = { number, switchName, textOf, tablesOf, agreeOnTiles, agreeOnBars, agreeOnRun,
	agreeOnSweep, agreeOnLoop, agreeOnLosses };

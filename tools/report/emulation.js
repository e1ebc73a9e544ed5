// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The panel of an emulation: a run, or a sweep over loads.

// For the summary: what, more of it, and how good.
function emulationTile(e) {
	const more = !e.sweep ? `throughput ${fixed(100 * e.throughput_fraction, 1)} %` :
		e.saturation_load === null ? "not saturated" :
			`saturates at load ${fixed(e.saturation_load, 3)}`;

	if (e.deadlock)
		return ["deadlock", more, "bad"];
	if (e.dropped_packets)
		return [`${count(e.dropped_packets)} dropped`, more, "bad"];
	return e.interrupted ? ["interrupted", more, ""] : ["no deadlock", more, "good"];
}

function latencyChart(levels) {
	const points = (q) => {
		let seen = 0;
		const total = q.latency_histogram_ns.reduce((a, [, n]) => a + n, 0);

		return q.latency_histogram_ns.map(([upTo, n]) => {
			seen += n;
			return [upTo, 100 * seen / total];
		});
	};
	const used = levels.filter((q) => q.latency_histogram_ns.length);
	if (!used.length)
		return note("No packet was measured.");
	const curves = used.map(points), all = curves.flat().map((p) => p[0]);
	const low = all.reduce((a, b) => Math.min(a, b)) * 0.95;
	const high = all.reduce((a, b) => Math.max(a, b)) * 1.05;
	return lineChart("Share of packets that arrive within a time, by QoS level",
		used.map((q, i) => ({ points: curves[i], title: `QoS level ${q.level}`,
			colour: levelColour(q.level), dash: q.level ? "6 3" : null })),
		{ low, high, log: true, text: nsTick, title: "latency, at most" },
		{ low: 0, high: 100, text: (v) => `${v} %` });
}

const levelColour = (level) => (level ? "var(--path)" : "var(--from)");

function levelKey(levels) {
	return element("p", { class: "note" }, ...levels.flatMap((q) => [
		svg("svg", { width: 26, height: 10, "aria-hidden": "true" },
			svg("path", { d: "M1 5h24", stroke: levelColour(q.level),
				"stroke-width": 2, "stroke-dasharray": q.level ? "6 3" : "none" })),
		` QoS level ${q.level}\u2003`]));
}

function fillRun(e, body) {
	const total = e.qos.reduce((a, q) => a + q.throughput_gbps, 0);

	body.append(paragraph(e.deadlock ? word(false, "Deadlock: ") : "",
		e.deadlock ? "packets wait for each other in a circle. " : "",
		`${count(e.delivered_packets)} of ${count(e.injected_packets)} packets ` +
		`delivered, ${count(e.dropped_packets)} dropped, ${count(e.in_flight)} in ` +
		`flight at the end, in ${nsText(e.sim_seconds * 1e9)} of simulated time; ` +
		`throughput ${fixed(100 * e.throughput_fraction, 2)} % of what the adapters ` +
		`can send, ${fixed(100 * e.offered_fraction, 2)} % offered.`));
	if (e.deadlock) {
		body.append(loopTable(e.steps, true));
		overlays.deadlock.steps = loopSteps(e.steps);
		overlays.deadlock.shown = !doc.verdict.cycle.length;
	}
	for (const w of e.warnings)
		body.append(note(`Warning: ${w}`));
	if (e.interrupted)
		body.append(note("This run was interrupted."));
	if (e.dropped_packets)
		body.append(paragraph(`Dropped: ${Object.entries(e.drops).map(([why, n]) =>
			`${count(n)} ${why.replaceAll("_", " ")}`).join(", ")}.`));
	if (e.starved.length)
		body.append(table(["Port", "#VL", "#Since", "In a table"], e.starved.map((p) =>
			[nodePortText(p), String(p.vl), nsText(p.since_ns), p.unlisted ? "no" :
				"yes"]), "Virtual lanes that starve"));
	body.append(element("h3", { text: "QoS levels" }), table(["#Level", "SLs",
		"#Packets", "#Bytes", "#Gb/s", "#Share"],
	e.qos.map((q) => [String(q.level), q.sl.join(", "), count(q.delivered_packets),
		count(q.delivered_bytes), fixed(q.throughput_gbps, 2), total ?
			fixed(100 * q.throughput_gbps / total, 1) + " %" : "\u2013"]),
	"Delivered, by QoS level"));
	if (e.qos.length > 1)
		body.append(shareBar("Shares of the throughput", e.qos.map((q) => ({
			name: `Level ${q.level}`, value: q.throughput_gbps,
			text: `${fixed(q.throughput_gbps, 2)} Gb/s`,
			fill: levelColour(q.level) }))));
	body.append(element("h3", { text: "Latency" }), table(["#Level", "#Mean", "#p50",
		"#p99", "#p99.9", "#Max"], e.qos.map((q) => [String(q.level),
		...["mean", "p50", "p99", "p999", "max"].map((k) => nsText(q[`latency_ns_${k}`]))]),
	"From a message's arrival at the adapter to its packet's last byte"),
	levelKey(e.qos), latencyChart(e.qos));
	if (e.samples && e.samples.length > 1)
		body.append(element("h3", { text: "Throughput over time, in Gb/s" }), sampleChart(e));
	if (e.pairs)
		fillPairs(e, body);
	if (e.ways)
		fillEmulatedLoad(e, body);
}

function sampleChart(e) {
	const most = e.samples.reduce((a, s) => Math.max(a, s.throughput_gbps), 0);

	return lineChart("Throughput over time", [{ title: "throughput",
		points: e.samples.map((s) => [s.at_ns, s.throughput_gbps]),
		colour: "var(--from)" }],
	{ low: 0, high: e.samples.at(-1).at_ns, text: nsTick, title: "time" },
	{ low: 0, high: most || 1, text: (v) => fixed(v, most < 10 ? 2 : 0) });
}

// Of the time that is measured, how much of it was this way busy?
const utilisation = (w) => 100 * doc.emulation.ways.busy_ns[w] /
	(doc.emulation.sim_seconds * 1e9 - doc.emulation.counted_from_ns);
const percent = (share) => `${fixed(share, 1)} %`;

function fillPairs(e, body) {
	const name = (guid) => endText(endByGuid.get(guid) ?? NONE) || String(guid);

	body.append(table(["From", "To", "#Packets", "#Bytes", "#Mean", "#Max"],
		e.pairs.map((p) => [name(p.from), name(p.to), count(p.packets), count(p.bytes),
			nsText(p.latency_ns_mean), nsText(p.latency_ns_max)]),
		`The ${e.pairs.length} slowest of ${count(e.pairs_count)} pairs, by mean latency`));
}

function fillEmulatedLoad(e, body) {
	const vls = Object.entries(e.ways.vl_bytes).map(([vl, bytes]) => ({
		vl, sum: bytes.reduce((a, b) => a + b, 0) }));
	const all = vls.reduce((a, v) => a + v.sum, 0);

	colourings.push(colouring("bytes", "Bytes sent (emulation)",
		"bytes that the emulation sent over this direction of a cable",
		e.ways.bytes, bytesText));
	colourings.push(colouring("wait", "Time waited (emulation)",
		"time in which packets waited to be sent, and could not",
		e.ways.wait_ns, nsText));
	colourings.push(colouring("utilisation", "Utilisation (emulation)",
		"per cent of the time in which this direction of a cable was in use",
		e.ways.busy_ns.map((_, w) => utilisation(w)), percent));
	body.append(element("h3", { text: "Virtual lanes between switches" }),
		table(["#VL", "#Bytes sent", "#Share"], vls.map((v) => [v.vl,
			count(v.sum), fixed(100 * v.sum / (all || 1), 1) + " %"])),
		element("h3", { text: "Busiest cables" }),
		busiestTable(e.ways.bytes, "Bytes", count, [{ head: "Utilisation",
			cell: (w) => percent(utilisation(w)) }, { head: "Waited",
			cell: (w) => nsText(e.ways.wait_ns[w]) }]));
}

function fillSweep(e, body) {
	const points = e.sweep;
	const most = points.reduce((a, p) => Math.max(a, p.latency_ns_p99), 1);
	const least = points.reduce((a, p) => Math.min(a, p.latency_ns_mean), Infinity);
	const high = points.reduce((a, p) => Math.max(a, p.load), 0);

	body.append(paragraph(e.deadlock ? word(false, "Deadlock at some load. ") : "",
		e.saturation_load === null ? "The fabric does not saturate at these loads." :
			`The fabric saturates at a load of ${fixed(e.saturation_load, 3)}.`));
	if (points.length > 1)
		body.append(lineChart("Latency by load", [
			{ title: "mean", colour: "var(--from)",
				points: points.map((p) => [p.load, p.latency_ns_mean || least]) },
			{ title: "99 per cent", colour: "var(--path)", dash: "6 3",
				points: points.map((p) => [p.load, p.latency_ns_p99 || least]) }],
		{ low: 0, high, text: (v) => fixed(v, 2), title:
			"load; latency: mean (full line), 99 per cent of packets (dashes)" },
		{ low: least * 0.9, high: most * 1.1, log: true, ticks: logTicks(least, most, 8),
			text: nsTick }));
	body.append(table(["#Load", "#Throughput", "#Mean", "#p50", "#p99", "#p99.9",
		"Deadlock"], points.map((p) => [fixed(p.load, 3), fixed(p.throughput_fraction, 4),
		nsText(p.latency_ns_mean), nsText(p.latency_ns_p50), nsText(p.latency_ns_p99),
		nsText(p.latency_ns_p999), p.deadlock ? "yes" : "no"]), "A run for each load"));
}

function fillEmulation() {
	const e = doc.emulation, body = byId("emulation-body");

	if (!e)
		return;
	byId("emulation").hidden = false;
	if (e.sweep)
		fillSweep(e, body);
	else
		fillRun(e, body);
}

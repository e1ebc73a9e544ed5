// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The panels of what is broken: switches and cables that are missing, and what
// ports counted.

// ---- failures

// Ports that lead this way at half of all switches or more.
function usualPorts(dim, sense) {
	const seen = new Array(PORTS).fill(0);

	for (let w = 0; w < 2 * ncables; w++) {
		const s = steps[w >> 1];

		if (s && s.dim === dim && ((s.sense > 0) === !(w & 1)) === (sense > 0))
			seen[wayOut(w)]++;
	}
	return Array.from(seen.keys()).filter((port) => 2 * seen[port] >= nswitches);
}

// [switch, ports] where cables are missing; "" if its ports do not show which.
function missingEnd(site, dim, sense) {
	const sw = sites.indexOf(site), key = 2 * dim + (sense > 0);

	if (sw < 0)
		return [`${siteText(site)}, missing`, ""];
	missingEnd.usual ||= [];
	missingEnd.usual[key] ||= usualPorts(dim, sense);
	return [switchText(sw), missingEnd.usual[key].filter((port) =>
		port <= fabric.switches.ports[sw] && portWay[sw * PORTS + port] === NONE &&
		portEnd[sw * PORTS + port] === NONE).join(", ")];
}

function neighbourPorts(site) {
	const list = [];

	for (const dim of usedDims)
		for (const sense of [-1, 1]) {
			const at = siteCoord(site), r = grid.radix[dim];
			const open = grid.mesh[dim] && (at[dim] + sense < 0 || at[dim] + sense >= r);

			at[dim] = (at[dim] + sense + r) % r;
			const [name, ports] = missingEnd(
				at[0] + grid.radix[0] * (at[1] + grid.radix[1] * at[2]), dim, -sense);
			if (!open && ports)
				list.push(`${name} port ${ports}`);
		}
	return list.join("; ");
}

function fillSlow(body) {
	if (doc.slow.length)
		body.append(table(["From", "To", "Speed", "#Gbit/s", "#Others"],
			doc.slow.slice(0, 1000).map((c) => [nodePortText(c.from), nodePortText(c.to),
				c.speed, fixed(c.gbps, 1), fixed(c.usual_gbps, 1)]),
			`${plural(doc.slow.length, "slow cable")}: below the median of ` +
			`${doc.slow.length === 1 ? "its" : "their"} kind`));
}

function fillMissing() {
	const m = doc.missing, body = byId("missing-body");

	fillSlow(body);
	if (!grid) {
		body.append(note("No coordinates are known for this fabric, so nobody " +
			"can say what is missing. The switches are drawn in a ring and " +
			"numbered, in the order in which the snapshot lists them. A torus-2QoS.conf given " +
			"with --torus-config tells the coordinates."));
		return;
	}
	if (!m.switches.length && !m.cables.length && !unplaced.length) {
		body.append(paragraph(word(true, "Nothing is missing"),
			` in the ${gridText()}.`));
		return;
	}
	if (m.switches.length)
		body.append(table(["Missing switch at", "Ports that led to it"],
			m.switches.slice(0, 1000).map((site) => ({
				cells: [siteText(site), neighbourPorts(site)],
				pick: () => pointAt({ marks: [site] },
					`Missing switch at ${siteText(site)}`) })),
			plural(m.switches.length, "missing switch", "missing switches")));
	if (m.cables.length)
		body.append(table(["From", "Port", "To", "Port", "Leads", "#Cables", "#Elsewhere"],
			m.cables.slice(0, 1000).map(([site, dim, have, usual]) => ({
				cells: [...missingEnd(site, dim, 1),
					...missingEnd(siteAfter(site, dim), dim, -1),
					"+" + DIMS[dim], String(have), String(usual)],
				pick: () => pointAt({ marks: [site, siteAfter(site, dim)] },
					`${have} of ${usual} cables from ${siteText(site)} to ` +
					siteText(siteAfter(site, dim))) })),
			`${plural(m.cables.length, "hop")} with missing cables` +
			(m.switches.length ? ", those at missing switches among them" : "") +
			"; ports are those that lead there at most other switches"));
	if (unplaced.length)
		body.append(table(["Switch without a place in the grid"],
			unplaced.slice(0, 1000).map((s) => [ends.name[s]])));
}

// ---- counters

// What ports counted.  Their cables may lead to adapters, which are no ways.
function counterTable(list, caption, heads, cells) {
	const text = (end) => (end ? placedText(end) : "no cable");

	return table([...heads, "From", "#Port", "To", "#Port", "#Pairs"], list.map((p) => {
		const way = wayOfPort(p.from);

		return { pick: way === NONE ? null : () => pointAtCable(way),
			cells: [...cells(p), text(p.from), String(p.from.port), text(p.to),
				p.to ? String(p.to.port) : "", p.host ? "host\u2019s own" : count(p.flows)] };
	}), caption);
}

// "SymbolErrorCounter 5, far end: LinkDownedCounter 2"
function faultText({ out, in: far }) {
	const list = (end) => Object.entries(end ?? {}).filter(([name]) =>
		!/^Port(Xmit|Rcv)(Data|Pkts|Wait|Discards)$/.test(name)).map(([name, n]) =>
		`${name} ${count(n)}`).join(", ");

	return [list(out), list(far) && `far end: ${list(far)}`].filter(Boolean).join("; ");
}

// For the summary: what, more of it, and how good.
function countersTile(c) {
	if (!c)
		return ["not read", "by --counters"];
	return c.errors.length ?
		[plural(c.errors.length, "cable"), `with errors, worst: ${c.errors[0].kind}`, "bad"] :
		["no errors", plural(c.ports, "port"), "good"];
}

function wayOfPort({ guid, port }) {
	const e = endByGuid.get(guid) ?? NONE;

	return e >= 0 && e < nswitches ? portWay[e * PORTS + port] : NONE;
}

function fillCounters() {
	const c = doc.counters, body = byId("counters-body");

	if (!c)
		return;
	byId("counters").hidden = false;
	body.append(paragraph(`Counters of ${plural(c.ports, "port")}. `,
		word(!c.errors.length, c.errors.length ? "Some cables have errors." : "No cable has errors."),
		c.waiting.length ? "" : " No port waited to send."));
	if (c.errors.length)
		body.append(counterTable(c.errors, "Cables with errors, worst first",
			["Worst", "Errors"], (p) => [p.kind, faultText(p.counters)]));
	overlays.worst.steps = c.errors.flatMap((p, i) => {
		const way = wayOfPort(p.from);

		return way === NONE ? [] : [{ way, label: String(i + 1) }, { way: way ^ 1 }];
	});
	if (!overlays.worst.steps.length)
		overlays.worst.steps = null;
	if (c.waiting.length)
		body.append(counterTable(c.waiting,
			"Ports that discarded packets or waited to send, worst first",
			["#Discarded", "#Share of all waiting", "#In the emulation"], (p) =>
				[count(p.counters.out?.PortXmitDiscards ?? 0), percent(100 * p.share),
					p.predicted_share === null ? "\u2013" : percent(100 * p.predicted_share)]));
	colourings.push(colouring("counted", "Bytes sent (counters)",
		"bytes that the port of this direction of a cable counted", c.ways.bytes, bytesText));
	colourings.push(colouring("waited", "Time waited (counters)",
		"ticks in which packets waited at this direction of a cable", c.ways.wait, count));
	colourings.push(colouring("errors", "Errors (counters)",
		"errors that both ends of a cable counted", c.ways.errors, count));
}

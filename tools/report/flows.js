// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Which packets use a cable, and which cables the hosts of a job use.

const MAX_FLOWS = 200;	// listed
const MAX_JOB = 1000;	// hosts

// The switches whose packets to a LID come to `sw`, with it.  Each forwards them
// to one port, so none is met twice, unless they go in a circle.
function upstream(sw, lidIndex) {
	const n = doc.tables.lids.length, found = [sw], seen = new Set(found);

	for (const at of found)
		for (let p = 1; p <= fabric.switches.ports[at]; p++) {
			const way = portWay[at * PORTS + p];

			if (way === NONE || seen.has(wayTo(way)) ||
				tables.lft[wayTo(way) * n + lidIndex] !== wayIn(way))
				continue;
			seen.add(wayTo(way));
			found.push(wayTo(way));
		}
	return found;
}

// How many pairs of a source port and a LID use a way; the first of them.
function flowsThrough(way) {
	const n = doc.tables.lids.length, from = wayFrom(way), list = [];
	let flows = 0;

	for (let l = 0; l < n; l++) {
		if (tables.lft[from * n + l] !== wayOut(way) || walk(from, l, null).fault)
			continue;
		for (const sw of upstream(from, l))
			for (const e of [sw, ...endsOf[sw]]) {
				if (e === doc.tables.owner[l])
					continue;
				flows++;
				if (list.length < MAX_FLOWS)
					list.push([e, l]);
			}
	}
	return { flows, list };
}

async function showFlows(way) {
	const body = byId("cable-body");

	try {
		await loadTables();
	} catch (error) {
		body.replaceChildren(note("This browser cannot unpack the tables: " +
			error.message));
		return;
	}
	const { flows, list } = flowsThrough(way);
	body.replaceChildren(paragraph(`${wayText(way)}: ${plural(flows, "pair")}.`));
	if (doc.emulation && doc.emulation.ways)
		body.append(paragraph(`In the emulation: ${bytesText(doc.emulation.ways.bytes[way])}` +
			`, ${percent(utilisation(way))} of its time in use, packets waited ` +
			`${nsText(doc.emulation.ways.wait_ns[way])}.`));
	if (doc.counters)
		body.append(paragraph(`Counted: ${bytesText(doc.counters.ways.bytes[way])}, ` +
			`${count(doc.counters.ways.errors[way])} errors, waited for ` +
			`${plural(doc.counters.ways.wait[way], "tick")}.`));
	if (list.length)
		body.append(table(["From", "To", "#LID", "#SL"], list.map(([e, l]) => [endText(e),
			endText(doc.tables.owner[l]), String(doc.tables.lids[l]),
			String(pathSl(e, l) ?? "\u2013")]),
		flows > list.length ? `The first ${list.length} of ${count(flows)} pairs` :
			"Pairs through this direction of the cable"));
}

// ---- a job

// All pairs among the hosts, each with the first LID of its destination.
function jobLoad(hosts) {
	const flows = new Array(2 * ncables).fill(0), lost = [];
	let pairs = 0, hops = 0;

	for (const to of hosts)
		for (const from of hosts) {
			if (from === to)
				continue;
			const [lid] = lidsOf(to);
			const path = lid === undefined ? null : walk(from, lid, null);

			pairs++;
			if (!path || path.fault) {
				lost.push([from, to]);
				continue;
			}
			for (const hop of path.hops)
				if (hop.way !== NONE) {
					flows[hop.way]++;
					hops++;
				}
		}
	return { flows, pairs, hops, lost };
}

async function showJob() {
	const result = byId("job-result"), box = byId("job-hosts");
	const names = box.value.split("\n").map((line) => line.replace(/#.*/, "").trim())
		.filter((line) => line);

	fillEndList();
	const found = names.map((name) => endByName(name) === NONE ? endsOfHost(name) :
		[endByName(name)]);
	const hosts = [...new Set(found.flat())];
	const wrong = names.find((_, i) => !found[i].length);
	const complaint = wrong !== undefined ? `no switch or adapter: ${wrong}` :
		hosts.length > MAX_JOB ? `more than ${MAX_JOB} hosts: dateline path --job takes them` :
			"";
	box.setCustomValidity(complaint);
	box.reportValidity();
	if (complaint || hosts.length < 2) {
		result.replaceChildren();
		showOverlay("job", null);
		return;
	}
	await loadTables();
	const job = jobLoad(hosts), done = job.pairs - job.lost.length;
	const most = job.flows.reduce((a, b) => Math.max(a, b), 0);
	result.replaceChildren(paragraph(`${plural(hosts.length, "end port")}, ` +
		`${plural(job.pairs, "pair")}, ${fixed(done ? job.hops / done : 0, 2)} cables on ` +
		`average; the busiest direction of a cable carries ${plural(most, "pair")}.`));
	if (job.lost.length)
		result.append(paragraph(word(false, `${plural(job.lost.length, "pair")} not ` +
			`delivered, such as ${job.lost[0].map(endText).join(" to ")}.`)));
	if (most)
		result.append(busiestTable(job.flows, "Pairs", count));
	showOverlay("job", Array.from(job.flows.keys()).filter((w) => job.flows[w])
		.map((way) => ({ way })));
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The panels beside the picture: tables and words.  Failures and counters are in
// failures.js, an emulation is in emulation.js.

// Columns whose head begins with "#" hold numbers.  `groups` are heads above
// heads, as [text, columns].
const numeric = (h) => h.startsWith("#");

function table(head, rows, caption, groups) {
	const heads = [element("tr", {}, ...head.map((h) => element("th",
		{ scope: "col", class: numeric(h) && "n", text: h.replace("#", "") })))];
	if (groups)
		heads.unshift(element("tr", { class: "groups" }, ...groups.map(([text, columns]) =>
			element("th", { scope: "colgroup", colspan: columns, text }))));
	const body = rows.map((row) => {
		const tr = element("tr", row.pick ? { class: "pick", tabindex: 0,
			onclick: row.pick, onkeydown: (event) => {
				if (event.key !== "Enter" && event.key !== " ")
					return;
				event.preventDefault();
				row.pick();
			} } : {});

		(row.cells || row).forEach((cell, i) => tr.append(element("td",
			{ class: numeric(head[i]) && "n" }, cell ?? "")));
		return tr;
	});

	const name = caption || head.join(", ").replaceAll("#", "");

	// What scrolls must be within reach of the keyboard.
	return element("div", { class: "table", role: "region",
		tabindex: rows.some((row) => row.pick) ? null : 0, "aria-label": name },
	element("table", {}, ...(caption ? [element("caption", { text: caption })] : []),
		element("thead", {}, ...heads), element("tbody", {}, ...body)),
	element("button", { type: "button", class: "csv", text: "CSV",
		"aria-label": `Save as CSV: ${name}`, onclick: () => saveCsv(name,
			csvText(head, body)) }));
}

// Numbers without the commas that group digits; no cell that a spreadsheet would
// take for a formula.
function csvText(head, body) {
	const cell = (td, i) => {
		let s = td.textContent.trim();

		if (numeric(head[i]) && /^[\d,]+(\.\d+)?$/.test(s))
			s = s.replaceAll(",", "");
		else if (/^[=+\-@\t]/.test(s) && !/^[+-][xyz]$/.test(s))
			s = `'${s}`;
		return `"${s.replaceAll('"', '""')}"`;
	};

	return [head.map((h) => `"${h.replace("#", "")}"`),
		...body.map((tr) => [...tr.cells].map(cell))]
		.map((row) => row.join(",") + "\r\n").join("");
}

function saveCsv(name, text) {
	const href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));

	element("a", { href, download: `${name.replace(/[^a-z0-9]+/gi, "-").slice(0, 60)}.csv` })
		.click();
	setTimeout(() => URL.revokeObjectURL(href), 10000);
}

const word = (good, string) =>
	element("span", { class: good ? "good-word" : "bad-word", text: string });
const paragraph = (...children) => element("p", {}, ...children);
const note = (string) => element("p", { class: "note", text: string });

function showOverlay(name, list) {
	overlays[name].steps = list;
	overlays[name].shown = true;
	fillOverlays();
	fillLegend();
	redraw();
}

function wayText(w) {
	return `${switchText(wayFrom(w))} port ${wayOut(w)} \u2192 ` +
		`${switchText(wayTo(w))} port ${wayIn(w)}`;
}

// Point at a cable, or at sites, and describe it.
function pointAt({ cable = NONE, marks = [] }, string) {
	if (cable !== NONE ? !visible[wayFrom(cable)] && !visible[wayTo(cable)] :
		!marks.some((site) => shownSite(siteCoord(site))))
		showPlane(NONE);
	Object.assign(view, { cable, marks });
	say(string);
	byId("stage").scrollIntoView({ block: "nearest" });
	redraw();
}

function pointAtCable(cable) {
	pointAt({ cable }, inOneLine(wayTip(cable)));
	showFlows(cable);
}

// ---- the summary

const VERDICTS = {
	"proven free": { tile: "none", state: "good", text: "There is no credit loop." },
	"loop found": { tile: "yes", state: "bad", text: "There is a credit loop." },
	"loop possible": { tile: "possible", state: "", text: "A credit loop is possible." },
	"not judged": { tile: "not judged", state: "",
		text: "Whether there is a credit loop was not judged." },
};

function tile(what, value, more, state) {
	const li = element("li", { class: state || "" },
		element("span", { class: "what", text: what }),
		element("span", { class: "value", text: value }));

	if (more)
		li.append(element("span", { class: "more", text: more }));
	byId("tiles").append(li);
}

function fillTiles() {
	const v = doc.verdict, missing = doc.missing, load = doc.load;
	const all = grid ? grid.radix.reduce((a, b) => a * b) : nswitches;
	const adapters = nends - nswitches;

	tile("Delivery", v.delivered ? "complete" : "incomplete", v.delivered ?
		`${count(v.pairs)} pairs` :
		`${count(v.lost)} of ${count(v.pairs)} pairs, ` +
		`${v.groups_lost} of ${plural(v.multicast_groups, "group")} fail`,
	v.delivered ? "good" : "bad");
	if (v.starved.length)
		tile("Service", "incomplete", plural(v.starved.length, "VL") + " not served", "bad");
	tile("Credit loops", VERDICTS[v.verdict].tile, v.assumption ? `if ${v.assumption}` :
		v.credit_loop ? `shortest: ${plural(v.cycle.length, "channel")}` :
			`${count(v.channels)} channels`, VERDICTS[v.verdict].state);
	tile("Switches", count(nswitches), unplaced.length && grid ?
		`${count(unplaced.length)} without a place in the grid` :
		missing.switches.length ?
			`${count(missing.switches.length)} of ${count(all)} missing` :
		grid ? gridText() : "no coordinates",
	missing.switches.length ? "bad" : "");
	tile("Cables", count(ncables), missing.cables.length ?
		`${count(missing.cables.reduce((a, [, , have, usual]) => a + usual - have, 0))} ` +
		`missing at ${plural(missing.cables.length, "hop")}` :
		"between switches",
	missing.cables.length ? "bad" : "");
	tile("Adapters", count(adapters), "ports in use");
	tile("Busiest cable", `${count(load.busiest)} pairs`,
		`${fixed(load.pairs ? load.hops / load.pairs : 0, 2)} hops on average`);
	tile("Counters", ...countersTile(doc.counters));
	if (doc.emulation)
		tile("Emulation", ...emulationTile(doc.emulation));
	if (doc.change)
		tile("Changed", count(doc.change.lft_changed),
			`of ${count(doc.change.lft_compared)} forwarding entries`);
}

function gridText() {
	const open = usedDims.filter((d) => grid.mesh[d]).map((d) => DIMS[d]);

	if (!usedDims.length)
		return "single switch";
	if (usedDims.length === 1)
		return `${open.length ? "line" : "ring"} of ${grid.radix[usedDims[0]]}`;
	return usedDims.map((d) => grid.radix[d]).join("\u00d7") +
		(open.length === usedDims.length ? " mesh" : " torus" +
			(open.length ? `, open in ${open.join(" and ")}` : ""));
}

// ---- the path

const vlText = (vl) => (vl === null ? "\u2013" : vl.vl === 15 ? "15 (dropped)" :
	vl.vl + (vl.assumed ? " (assumed)" : ""));

// The VLs of a hop, in and out.
const vlPair = (hop) => (hop ? `${vlText(hop.vlIn)} \u2192 ${vlText(hop.vlOut)}` : "");

// The rows of the two ends, unless they are switches' own ports.
function endRow(e, isSource, vls) {
	const port = String(ends.num[e]);

	return ["", ends.name[e], "", isSource ? "" : port, isSource ? port : "", "",
		...vls.map((vl) => (isSource ? `\u2192 ${vlText(vl)}` : `${vlText(vl)} \u2192`))];
}

// One table for both QoS levels: the way is the same, SL and VL are not.
function pathTable(paths) {
	const first = paths[0], sls = paths.filter((p) => p.sl !== null);
	const head = ["#", "Switch or adapter", "At", "#In", "#Out", "Leads",
		...sls.map(() => "#VL")];
	const rows = first.hops.map((hop, i) => [
		String(i + 1), ends.name[hop.sw], coordText(hop.sw), String(hop.inPort),
		hop.out === null ? "\u2013" : String(hop.out),
		hop.way === NONE ? "" : wayStepText(hop.way),
		...sls.map((p) => vlPair(p.hops[i]))]);

	if (first.src >= nswitches)
		rows.unshift(endRow(first.src, true, sls.map((p) => p.hops[0].vlIn)));
	if (first.dst >= nswitches && !first.fault)
		rows.push(endRow(first.dst, false, sls.map((p) => p.hops.at(-1).vlOut)));
	return table(head, rows, `${endText(first.src)} to ${endText(first.dst)}` +
		(sls.length ? "; VL in \u2192 VL out" : ""), sls.length ? [["", 3], ["Port", 2], ["", 1],
			...sls.map((p) => [`SL ${p.sl}`, 1])] : null);
}

async function showPath() {
	const result = byId("path-result"), { from, to } = chosen;
	const number = (showPath.number = (showPath.number || 0) + 1);

	Object.assign(view, { cable: NONE, marks: [] });
	if (from === NONE || to === NONE) {
		result.replaceChildren(note("Choose two ends in the picture, or name " +
			"them here. Every hop is listed with its service level (SL) and " +
			"its virtual lanes (VL)."));
		showOverlay("path", null);
		return;
	}
	try {
		await loadTables();
	} catch (error) {
		result.replaceChildren(note("This browser cannot unpack the tables: " +
			error.message));
		return;
	}
	if (number !== showPath.number)
		return;
	const lids = lidsOf(to), which = Number(byId("lid").value) || 0;
	if (!lids.length) {
		result.replaceChildren(note(`${endText(to)} has no LID.`));
		showOverlay("path", null);
		return;
	}
	const lid = lids[Math.min(which, lids.length - 1)];
	const sl = pathSl(from, lid), levels = doc.verdict.levels;
	const sls = sl === null ? [null] : levels > 1 ? [sl, sl | 8] : [sl];
	const paths = from === to ? [] : sls.map((s) => walk(from, lid, s));
	result.replaceChildren();
	if (!paths.length) {
		result.append(note("A port does not send to itself."));
		showOverlay("path", null);
		return;
	}
	const p = paths[0], hops = p.hops.filter((h) => h.way !== NONE).length;
	const failed = paths.find((q) => q.fault);
	result.append(paragraph(failed ?
		word(false, `Not delivered: ${failed.fault}`) : word(true, "Delivered"),
	`, ${plural(hops, "cable")} between switches, to LID ${doc.tables.lids[lid]}` +
		(sl === null ? "; its path SL is not known, so neither are the VLs." :
			levels > 1 ? `; SL ${sls[0]} at QoS level 0, SL ${sls[1]} at level 1.` :
				`; SL ${sls[0]}.`)));
	if (p.hops.length)
		result.append(pathTable(paths));
	if (sl !== null)
		result.append(note("Where the picture has room for it, a number beside " +
			"each cable is its VL" + (levels > 1 ? ", at QoS level 0 / 1." : ".")));
	showOverlay("path", p.hops.filter((h) => h.way !== NONE).map((h, i) => ({
		way: h.way, label: sl === null ? null : paths.map((q) =>
			(q.hops[i] && q.hops[i].vlOut ? q.hops[i].vlOut.vl : "\u2013"))
			.join("/") })));
}

// ---- the verification

function loopTable(list, emulated) {
	const rows = list.map((s, i) => ({ pick: () => pointAtCable(s.way), cells: [
		String(i + 1), element("span", {}, wayText(s.way), ...(emulated ? [] :
			[element("span", { class: "under", text: packetText(s) })])),
		String(s.vl)] }));

	return table(["#", emulated ? "Cable" : "Cable, and the packet that waits there",
		"#VL"], rows, "Each waits for the next one, and the last for the first");
}

function packetText(s) {
	if (s.from === NONE)
		return "could not be found";
	return `${endText(s.from)} to ${s.to === NONE ? "group " + mlidText(s.dlid) :
		endText(s.to)}, SL ${s.sl}`;
}

// A long table is folded.
function folded(count, summary, content) {
	return count <= 8 ? content : element("details", {},
		element("summary", { text: summary }), content);
}

const loopSteps = (list) => list.map((s, i) => ({ way: s.way,
	label: `${i + 1}: VL ${s.vl}` }));

function fillVerdict() {
	const v = doc.verdict, body = byId("verdict-body");

	body.append(paragraph(word(v.delivered, v.delivered ? "Every packet arrives." :
		"Packets do not arrive."), " ",
	word(v.verdict === "proven free", VERDICTS[v.verdict].text),
	...(v.starved.length ? [" ", word(false, "Some VLs starve.")] : [])));
	for (const m of v.missing)
		body.append(note(`Missing: ${m.what}. To get it: ${m.command}`));
	if (doc.partial)
		body.append(note("This snapshot is partial: some of the fabric did not " +
			"answer when it was read."));
	if (v.cycle.length) {
		body.append(loopTable(v.steps, false));
		overlays.loop.steps = loopSteps(v.steps.filter((s) => s.way !== NONE));
	}
	if (v.undelivered.length)
		body.append(element("div", { id: "undelivered" }, table(["From", "To", "#LID", "#SL",
			"Reason", "At"],
			v.undelivered.slice(0, 100).map((l) => [nodePortText(l.from),
				nodePortText(l.to), String(l.lid), l.sl === null ? "any" :
					String(l.sl), l.reason, nodePortText(l.at)]),
			`${plural(Math.min(100, v.undelivered.length), "failure")} of ` +
			`${count(v.lost + v.groups_lost)}`)));
	if (v.starved.length)
		body.append(element("div", { id: "starved" }, table(["Port", "#VL"],
			v.starved.slice(0, 100).map((s) => [nodePortText(s), String(s.vl)]),
			`${plural(v.starved.length, "VL")} that no VL arbitration table serves`)));
	body.append(element("details", { open: v.delivered === false || v.verdict !== "proven free" ||
		v.starved.length > 0 },
		element("summary", { text: "In the words of dateline verify" }),
		element("pre", { text: v.words.trim(), tabindex: 0 })));
}

const endByGuid = new Map();
for (let e = nends - 1; e >= 0; e--)
	endByGuid.set(ends.guid[e], e);

function nodePortText(at) {
	if (!at)
		return "\u2013";
	const e = endByGuid.get(at.guid);
	const name = e === undefined ? at.guid : e < nswitches ? switchText(e) :
		ends.name[e];

	return at.port ? `${name} port ${at.port}` : name;
}

// ---- load

const BUSIEST = 20, ALIKE = 100;

// A table, or a sentence where its rows would all be alike.
function busiestTable(values, what, format, extra = []) {
	const order = Array.from(values.keys()).filter((w) => values[w] > 0)
		.sort((a, b) => values[b] - values[a] || a - b).slice(0, BUSIEST);
	const alike = values.filter((v) => v === values[order[0]]).length;

	if (alike > ALIKE && !extra.length)
		return paragraph(`${alike === values.length ? "All" : `${count(alike)} of`} ` +
			`${count(values.length)} directions carry the same, ` +
			`${format(values[order[0]])} ${what.toLowerCase()}` +
			(alike === values.length ? "." : "; no other carries more."));

	return table(["#" + what, "From", "Port", "To", "Port", "Leads",
		...extra.map((x) => "#" + x.head)],
	order.map((w) => ({ pick: () => pointAtCable(w), cells: [format(values[w]),
		switchText(wayFrom(w)), String(wayOut(w)), switchText(wayTo(w)),
		String(wayIn(w)), wayStepText(w), ...extra.map((x) => x.cell(w))] })),
	`The ${order.length} busiest of ${count(values.length)} directions`);
}

function fillLoad() {
	const l = doc.load, body = byId("load-body");
	const mean = l.flows.reduce((a, b) => a + b, 0) / l.flows.length;

	if (!ncables) {
		body.append(note("There are no cables between switches."));
		return;
	}
	body.append(paragraph(`Counted from the tables: each of ${count(l.pairs)} ` +
		"pairs of a source port and a LID that packets reach, switches' own ports " +
		`included. A packet crosses ${fixed(l.pairs ? l.hops / l.pairs : 0, 2)} ` +
		`cables on average; a direction of a cable carries ${fixed(mean, 1)} pairs ` +
		`on average and ${count(l.busiest)} at most.`));
	const chart = element("div", { id: "load-chart" });
	body.append(chart, busiestTable(l.flows, "Pairs", count));
	themed.push(() => chart.replaceChildren(barChart("How many directions of " +
		"cables carry how many pairs", l.flows, theme.scale,
	"pairs (across), directions of cables (up)")));
}

// Drawn again when the colours change.
const themed = [];

// ---- multicast

function fillMulticast() {
	const body = byId("multicast-body"), groups = doc.tables.groups;

	if (!groups.length) {
		body.append(note("This snapshot holds no multicast group."));
		return;
	}
	const select = element("select", { id: "group", onchange: () => showTree() },
		element("option", { value: "", text: "none" }),
		...groups.map((g, i) => element("option", { value: i, text: mlidText(g) })));
	body.append(element("label", {}, `${plural(groups.length, "group")}. Tree drawn: `,
		select), element("div", { id: "tree-result" }));
}

async function showTree() {
	const value = byId("group").value, result = byId("tree-result");

	chosen.members = new Set();
	if (value === "") {
		result.replaceChildren();
		showOverlay("tree", null);
		return;
	}
	const tree = await groupTree(Number(value));
	const cables = new Set(tree.ways.map((w) => w >> 1));
	if (byId("group").value !== value)
		return;
	chosen.members = new Set(tree.members);
	result.replaceChildren(paragraph(`${plural(tree.switches.length, "switch", "switches")}, ` +
		`${plural(cables.size, "cable")} between them, copies to ` +
		`${plural(tree.members.length, "end port")}.`));
	showOverlay("tree", tree.ways.map((way) => ({ way })));
}

// ---- change

const placedText = (n) => (n.coord && grid ? `${n.name} (${shortCoord(n.coord)})` : n.name);

function changedNodes(body, list, title) {
	if (list.length)
		body.append(folded(list.length, `${title}: ${count(list.length)}`,
			table(["Node", "GUID"], list.slice(0, 1000).map((n) =>
				[placedText(n), n.guid]), `${title}: ${count(list.length)}`)));
}

function changedCables(body, list, title) {
	if (list.length)
		body.append(folded(list.length, `${title}: ${count(list.length)}`,
			table(["From", "#Port", "To", "#Port"], list.slice(0, 1000).map(([a, b]) =>
				[placedText(a), String(a.port), placedText(b), String(b.port)]),
			`${title}: ${count(list.length)}`)));
}

function fillGroupChanges(c, body) {
	const say = (list, what) => list.length &&
		body.append(paragraph(`${plural(list.length, "group")} ${what}: ` +
			list.slice(0, 50).map(mlidText).join(", ")));

	say(c.groups_gone, "gone");
	say(c.groups_new, "new");
	if (c.groups_changed.length)
		body.append(table(["Group", "#Switches whose entry differs"],
			c.groups_changed.map(([mlid, n]) => [mlidText(mlid), count(n)]),
			"Multicast groups changed"));
}

// From the old tables to the new ones, with packets under way.
function fillTransition({ direct, phased }, body) {
	const safe = (good) => word(good, good ? "safe" : "not safe");
	const why = direct.safe ? "" : direct.maps_changed ? ": SL-to-VL maps change" :
		direct.cycle.length ? `: a credit loop of ${plural(direct.cycle.length, "channel")}` :
			direct.forwarding_loop.length ? ": packets go in a circle" : "";

	body.append(table(["Way from the old tables to the new ones", "Result", "#Writes",
		"#Entries closed", "#Pairs interrupted"],
	[["written over the old ones", element("span", {}, safe(direct.safe), why),
		count(direct.writes), "0", "0"],
	[`in ${plural(phased.steps.length, "step")}`, safe(phased.safe), count(phased.writes),
		count(phased.entries_closed), count(phased.pairs_interrupted)]],
	"Transition, as dateline transition checks it"));
}

function fillChange() {
	const c = doc.change, body = byId("change-body");

	if (!c)
		return;
	byId("change").hidden = false;
	const order = Array.from(c.lft.keys()).filter((s) => c.lft[s] > 0)
		.sort((a, b) => c.lft[b] - c.lft[a] || a - b);
	body.append(paragraph(`Compared with ${c.dir}: ${count(c.lft_changed)} of ` +
		`${count(c.lft_compared)} forwarding entries at ` +
		`${plural(order.length, "switch", "switches")} changed, ` +
		`${count(c.sl_changed)} of ${count(c.sl_compared)} path SLs, ` +
		`${count(c.sl2vl_changed)} SL-to-VL maps.`),
	paragraph(`Busiest cable: ${count(c.load.busiest)} pairs before, ` +
		`${count(doc.load.busiest)} now; hops on average: ` +
		`${fixed(c.load.pairs ? c.load.hops / c.load.pairs : 0, 2)} before, ` +
		`${fixed(doc.load.pairs ? doc.load.hops / doc.load.pairs : 0, 2)} now.`));
	if (c.transition)
		fillTransition(c.transition, body);
	changedNodes(body, c.switches_gone, "Switches gone");
	changedNodes(body, c.switches_new, "Switches that are new or came back");
	changedNodes(body, c.ends_gone, "Adapters gone");
	changedNodes(body, c.ends_new, "Adapters that are new or came back");
	changedCables(body, c.cables_gone, "Cables gone");
	changedCables(body, c.cables_new, "Cables that are new or came back");
	fillGroupChanges(c, body);
	if (c.lids_moved_count) {
		const title = `End ports with another LID: ${count(c.lids_moved_count)}`;

		body.append(folded(c.lids_moved.length, title,
			table(["End port", "#LID before", "#LID now"],
				c.lids_moved.map((n) => [placedText(n),
					String(n.before), String(n.now)]), title)));
	}
	if (order.length)
		body.append(table(["#Entries", "Switch"], order.slice(0, 100).map((s) => ({
			pick: () => moveCursor(s), cells: [count(c.lft[s]), switchText(s)] })),
		"Switches by forwarding entries changed" +
			(order.length > 100 ? ", the first 100" : "")));
	const fresh = c.cables_new.map(([a]) => portWay[(endByGuid.get(a.guid) ?? NONE) * PORTS +
		a.port]).filter((w) => w >= 0);
	if (fresh.length)
		overlays.fresh.steps = fresh.flatMap((w) => [{ way: w }, { way: w ^ 1 }]);
	colourings.push(colouring("changed", "Entries changed",
		"forwarding entries of this switch that differ from before",
		c.lft.map((n) => Math.max(0, n)), count, true));
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Several snapshots of one fabric: a slider chooses which of them the picture shows,
// and says what changed from it to the next one.

const moments = (doc.moments || []).map((m) => ({ ...m,
	flows: colouring("flows", "Pairs per cable", "pairs then", m.flows, count) }));
const lastMoment = moments.length;
let moment = lastMoment;	// the last one is the page's own

// What was not there: switches by site, hops as "site dim".
const goneAt = (missing) => ({
	switches: new Set(missing.switches),
	hops: new Set(missing.cables.filter(([, , have]) => !have)
		.map(([site, dim]) => `${site} ${dim}`)),
});
const goneNow = goneAt(doc.missing);
const missingShown = () => (moment === lastMoment ? doc.missing : moments[moment].missing ||
	{ switches: [], cables: [] });

// Switches and cables that are there now, and were not then.
function hideAbsent() {
	if (moment === lastMoment)
		return;
	const gone = goneAt(missingShown());
	for (let s = 0; s < nswitches; s++)
		if (gone.switches.has(sites[s]))
			visible[s] = 0;
}

const absentCable = (c) => moment !== lastMoment && moments[moment].flows.values[2 * c] < 0;

// What was there then, and is missing now.
function drawVanished() {
	if (moment === lastMoment || view.layout === "ring" || !moments[moment].missing)
		return;
	const gone = goneAt(missingShown());
	for (const hop of goneNow.hops) {
		const [site, dim] = hop.split(" ").map(Number);
		const a = siteCoord(site), b = siteCoord(siteAfter(site, dim));

		if (gone.hops.has(hop) || dim === view.axis || !shownSite(a))
			continue;
		const near = b[dim] > a[dim] || grid.radix[dim] < 3;
		const out = a.slice(), into = b.slice();
		out[dim] += 0.55;
		into[dim] -= 0.55;
		for (const [p, q] of near ? [[a, b]] : [[a, out], [into, b]]) {
			pen.beginPath();
			pen.moveTo(...project(p));
			pen.lineTo(...project(q));
			pen.strokeStyle = theme.cable;
			pen.lineWidth = 2 * gap();
			pen.stroke();
		}
	}
	for (const site of goneNow.switches) {
		const r = nodeSize(), c = siteCoord(site);

		if (gone.switches.has(site) || !shownSite(c))
			continue;
		const [x, y] = project(c);
		pen.fillStyle = theme.node;
		pen.strokeStyle = theme["node-line"];
		pen.lineWidth = 1.2;
		pen.beginPath();
		pen.roundRect(x - r, y - r, 2 * r, 2 * r, r * 0.22);
		pen.fill();
		pen.stroke();
		if (r >= 12)
			text(shortCoord(c), x, y + 0.5, { size: Math.min(13, r * 0.66), colour: theme.ink });
	}
}

// ---- the slider

const momentTitle = (m) => m.title + (m.written === null ? "" : ", " +
	new Date(m.written * 1000).toISOString().slice(0, 16).replace("T", " ") + " UTC");

function momentText(i) {
	const m = i === lastMoment ? null : moments[i];
	const v = m ? { delivered: m.delivered, lost: m.lost, loop: m.loop } :
		{ delivered: doc.verdict.delivered, lost: doc.verdict.lost,
			loop: doc.verdict.credit_loop };
	const missing = m ? m.missing : doc.missing;

	return [v.delivered ? "every packet arrives" : `${plural(v.lost, "pair")} cut off`,
		v.loop ? "a credit loop" : "no credit loop",
		...(missing ? [missing.switches.length || missing.cables.length ?
			plural(missing.switches.length, "missing switch", "missing switches") +
			` and ${plural(missing.cables.length, "hop")} with missing cables` :
			"nothing is missing"] : []),
		`busiest cable ${plural(m ? m.busiest : doc.load.busiest, "pair")}`].join("; ");
}

// "switch gone: S_3_2_0", "cable back or new: S_1_1_0 port 1 to S_2_1_0 port 2"
function changesOf(c) {
	const list = [];
	const say = (part, name, text) => {
		for (const n of part.removed)
			list.push([`${name} gone`, text(n)]);
		for (const n of part.added)
			list.push([`${name} back or new`, text(n)]);
	};

	say(c.switches, "switch", (n) => n.name);
	say(c.adapters, "adapter", (n) => n.name);
	say(c.cables, "cable", (n) => `${n.from.name} port ${n.from.port} to ${n.to.name} ` +
		`port ${n.to.port}`);
	return list;
}

function showMoment(i) {
	const m = i === lastMoment ? null : moments[i], body = byId("moment-body");
	const title = (k) => momentTitle(moments[k] || { ...doc.made, title: doc.title });

	moment = i;
	byId("moment").value = i;
	byId("moment").setAttribute("aria-valuetext", title(i));
	byId("moment-title").textContent = title(i);
	colourings[0] = m ? m.flows : ownFlows;
	if (view.colour?.id === "flows")
		view.colour = colourings[0];
	body.replaceChildren(paragraph(element("b", { text: title(i) }), `: ${momentText(i)}.`));
	if (m) {
		const list = changesOf(m.until_next), f = m.until_next.forwarding;

		body.append(paragraph(`The picture shows this moment, all else ${title(lastMoment)}.`));
		body.append(paragraph(`Then, until ${title(i + 1)}: ${count(f.changed)} of ` +
			`${count(f.compared)} forwarding entries changed` + (list.length ? "." :
			", and no node or cable.")));
		if (list.length)
			body.append(table(["What changed", "Where"], list.slice(0, 1000)));
	}
	fillLegend();
	redraw();
}

const ownFlows = colourings[0];

function fillMoments() {
	if (!moments.length)
		return;
	byId("moment-box").hidden = byId("moments").hidden = false;
	Object.assign(byId("moment"), { max: lastMoment });
	byId("moment").addEventListener("input", (e) => showMoment(Number(e.target.value)));
	showMoment(lastMoment);
}

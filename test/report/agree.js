// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What a page should say, from the dumps, and whether it does.
"use strict";

const assert = require("assert");
const { follow, endPorts, lidsOf, loads } = require("./snapshot.js");
const { rows } = require("./browser.js");
const { number, textOf, agreeOnBars } = require("./numbers.js");

// Rows of the path's table, from the dumps, for the SLs of both levels.
function expectedPath(s, src, dst, lid = dst.node.lids.get(dst.port)) {
	const sl = src.node.psl.get(lid);
	const both = [sl, sl + 8].map((l) => follow(s, src, dst, l, lid));
	const vl = (v) => (v === null ? "\u2013" : String(v));
	const list = both[0].hops.map((h, i) => [String(i + 1), h.name,
		`(${h.name.split("_").slice(1).join(",").replace(/,0$/, "")})`,
		String(h.inPort), String(h.out), undefined,
		...both.map((p) => `${vl(p.hops[i].vlIn)} \u2192 ${vl(p.hops[i].vlOut)}`)]);

	if (!src.node.isSwitch)
		list.unshift(["", src.node.name, "", "", String(src.port), "",
			...both.map((p) => `\u2192 ${vl(p.hops[0].vlIn)}`)]);
	if (!dst.node.isSwitch)
		list.push(["", dst.node.name, "", String(dst.port), "", "",
			...both.map((p) => `${vl(p.hops.at(-1).vlOut)} \u2192`)]);
	return list;
}

function samePath(shown, expected) {
	assert.deepStrictEqual(shown.map((r) => r.map((cell, i) => (i === 5 ? "" : cell))),
		expected.map((r) => r.map((cell, i) => (i === 5 ? "" : cell))));
}

// Every pair and both levels at once, inside the page, as one line each.
const allPaths = (page) => page.evaluate(async () => {
	const lines = [];

	await loadTables();
	for (let l = 0; l < doc.tables.lids.length; l++)
		for (let e = 0; e < nends; e++) {
			const base = pathSl(e, l);

			if (e === doc.tables.owner[l])
				continue;
			for (const sl of [base, base | 8]) {
				const p = walk(e, l, sl);

				lines.push(`${ends.name[e]} ${doc.tables.lids[l]} ${sl}: ` +
					p.hops.map((h) => `${ends.name[h.sw]} ${h.inPort} ${h.out} ` +
						`${h.vlIn ? h.vlIn.vl : null} ` +
						`${h.vlOut ? h.vlOut.vl : null}`).join(", ") +
					(p.fault ? " lost" : ""));
			}
		}
	return lines;
});

function expectedPaths(s) {
	const lines = [];

	for (const src of endPorts(s))
		for (const [dst, lid] of endPorts(s).flatMap((e) => lidsOf(e).map((l) => [e, l]))) {
			const sl = src.node.psl.get(lid);

			if (src === dst)
				continue;
			for (const level of [sl, sl | 8]) {
				const p = follow(s, src, dst, level, lid);

				lines.push(`${src.node.name} ${lid} ${level}: ` + p.hops.map((h) =>
					`${h.name} ${h.inPort} ${h.out} ${h.vlIn} ${h.vlOut}`)
					.join(", ") + (p.fault ? " lost" : ""));
			}
		}
	return lines;
}

async function agreeOnPaths(page, s) {
	const shown = (await allPaths(page)).sort(), expected = expectedPaths(s).sort();

	assert.strictEqual(shown.length, expected.length);
	for (let i = 0; i < shown.length; i++)
		assert.strictEqual(shown[i], expected[i]);
}

// Every direction of every cable, the totals, and the table of the busiest.
async function agreeOnLoad(page, s) {
	const l = loads(s);
	const shown = await page.evaluate(() => ({ load: doc.load, flows: Object.fromEntries(
		doc.load.flows.map((n, w) => [`${ends.name[wayFrom(w)]} ${wayOut(w)}`, n])) }));

	for (const [key, n] of Object.entries(shown.flows))
		assert.strictEqual(n, l.flows.get(key) || 0, key);
	for (const key of l.flows.keys())
		assert(key in shown.flows, key);
	assert.strictEqual(shown.load.pairs, l.pairs);
	assert.strictEqual(shown.load.hops, l.hops);
	assert.strictEqual(shown.load.busiest, l.busiest);
	if (!l.flows.size)
		return;
	await agreeOnBars(page, "#load-chart", Object.values(shown.flows));
	const text = await textOf(page, "#load"), ways = Object.keys(shown.flows).length;
	assert(text.includes(`each of ${number(l.pairs)} pairs`) && text.includes(
		`A packet crosses ${number(l.hops / l.pairs, 2)} cables on average; a direction of a ` +
		`cable carries ${number(l.hops / ways, 1)} pairs on average and ` +
		`${number(l.busiest)} at most.`) && text.includes(`busiest of ${number(ways)}`), text);
	const list = await rows(page, "#load");
	const order = [...l.flows.values()].sort((a, b) => b - a);
	assert(list.length > 0);
	list.forEach((r, i) => {
		const n = Number(r[0].replaceAll(",", ""));

		assert.strictEqual(n, order[i]);
		assert.strictEqual(n, l.flows.get(`${r[1].split(" ")[0]} ${r[2]}`));
	});
}

module.exports = { expectedPath, samePath, agreeOnPaths, agreeOnLoad };

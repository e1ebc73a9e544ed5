// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What the panel of changes should say of two snapshots with one LID to each
// end port, from their dumps; and whether it does.
"use strict";

const assert = require("assert");
const { endPorts, loads } = require("./snapshot.js");
const { number, switchName, textOf, tablesOf } = require("./numbers.js");

const placed = (n) => (n.isSwitch ? switchName(n.name) : n.name);

// Entries by switch: by destination, not by LID, which may have moved.
function changedEntries(now, then) {
	const list = new Map();
	let compared = 0;

	for (const sw of now.switches) {
		const was = then.byGuid.get(sw.guid);

		for (const dst of was ? endPorts(now) : []) {
			const before = then.byGuid.get(dst.node.guid);

			if (!before)
				continue;
			compared++;
			if (sw.lft.get(dst.node.lids.get(dst.port)) !==
				was.lft.get(before.lids.get(dst.port)))
				list.set(sw, (list.get(sw) || 0) + 1);
		}
	}
	return { compared, list, all: [...list.values()].reduce((a, b) => a + b, 0) };
}

// Maps between ports that had cables both times.
function changedMaps(now, then) {
	let n = 0;

	for (const sw of now.switches) {
		const was = then.byGuid.get(sw.guid);
		const used = (port) => port === 0 || (sw.peers.has(port) && was.peers.has(port));

		for (const [ports, map] of was ? sw.maps : [])
			n += ports.split(" ").map(Number).every(used) && was.maps.has(ports) &&
				String(was.maps.get(ports)) !== String(map);
	}
	return n;
}

function changedSls(now, then) {
	let compared = 0, changed = 0;

	for (const src of endPorts(now))
		for (const dst of endPorts(now)) {
			const a = then.byGuid.get(src.node.guid), b = then.byGuid.get(dst.node.guid);

			if (src === dst || !a || !b)
				continue;
			compared++;
			changed += src.node.psl.get(dst.node.lids.get(dst.port)) !==
				a.psl.get(b.lids.get(dst.port));
		}
	return { compared, changed };
}

const onlyNodes = (a, b, switches) => [...a.nodes.values()]
	.filter((n) => n.isSwitch === switches && !b.byGuid.has(n.guid))
	.map((n) => [placed(n), n.guid]);

function cablesOf(s) {
	const list = new Map();

	for (const n of s.nodes.values())
		for (const [port, peer] of n.peers) {
			const ends = [[n, port], [s.nodes.get(peer.id), peer.port]]
				.map(([node, p]) => [placed(node), String(p)]).sort();

			list.set(ends.join(), ends.flat());
		}
	return list;
}

const onlyCables = (a, b) => [...cablesOf(a)].filter(([key]) => !cablesOf(b).has(key))
	.map(([, ends]) => ends);

function changedGroups(now, then) {
	const ports = (s, mlid, guid) => (s.groups.get(mlid) || []).filter((m) => m.node.guid === guid)
		.map((m) => m.port).sort().join();

	return [...now.groups.keys()].filter((m) => then.groups.has(m)).map((m) => [
		`0x${m.toString(16).toUpperCase()}`, String(now.switches.filter((sw) =>
			then.byGuid.has(sw.guid) && ports(now, m, sw.guid) !== ports(then, m, sw.guid))
			.length)]).filter(([, n]) => n !== "0");
}

const movedLids = (now, then) => [...now.nodes.values()].filter((n) => then.byGuid.has(n.guid))
	.flatMap((n) => [...n.lids].map(([port, lid]) => [placed(n),
		String(then.byGuid.get(n.guid).lids.get(port)), String(lid)]))
	.filter(([, before, after]) => before !== after);

async function agreeOnChange(page, now, then) {
	const entries = changedEntries(now, then), sls = changedSls(now, then);
	const [a, b] = [loads(then), loads(now)], tables = await tablesOf(page, "change");
	const text = await textOf(page, "#change");
	const listed = (title, list) => {
		const found = [...tables].find(([caption]) => caption.startsWith(title));

		if (found && /: [\d,]+$/.test(found[0]))
			assert.strictEqual(found[0], `${title}: ${number(list.length)}`);
		assert.deepStrictEqual(found ? found[1].map((r) => r.join()).sort() : [],
			list.map((r) => r.join()).sort(), title);
		return list.length;
	};
	const cables = (title, list) => {
		for (const [caption, found] of tables)
			if (caption.startsWith(title))
				found.forEach((r) => r.splice(0, 4, ...[r.slice(0, 2), r.slice(2)]
					.sort().flat()));
		return listed(title, list);
	};

	for (const part of [`${number(entries.all)} of ${number(entries.compared)} forwarding entries ` +
		`at ${number(entries.list.size)} switches changed, ${number(sls.changed)} of ` +
		`${number(sls.compared)} path SLs, ${number(changedMaps(now, then))} SL-to-VL maps.`,
	`Busiest cable: ${number(a.busiest)} pairs before, ${number(b.busiest)} now; hops on ` +
		`average: ${number(a.hops / a.pairs, 2)} before, ${number(b.hops / b.pairs, 2)} now.`])
		assert(text.includes(part), `${part}\n${text}`);
	assert((await textOf(page, "#tiles")).includes(`Changed ${number(entries.all)} of ` +
		`${number(entries.compared)} forwarding entries`));
	listed("Switches by forwarding entries changed", [...entries.list].map(([sw, n]) =>
		[number(n), placed(sw)]));
	listed("Multicast groups changed", changedGroups(now, then));
	listed("End ports with another LID", movedLids(now, then));
	return {
		gone: [listed("Switches gone", onlyNodes(then, now, true)),
			listed("Adapters gone", onlyNodes(then, now, false)),
			cables("Cables gone", onlyCables(then, now))],
		fresh: [listed("Switches that are new or came back", onlyNodes(now, then, true)),
			listed("Adapters that are new or came back", onlyNodes(now, then, false)),
			cables("Cables that are new or came back", onlyCables(now, then))],
	};
}

module.exports = { agreeOnChange };

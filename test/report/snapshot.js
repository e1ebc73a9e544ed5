// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A snapshot read from its dumps, and packets followed through them, without
// anything of the report's: what the page shows must agree with this.
"use strict";

const fs = require("fs");
const path = require("path");

const DROP = 255;

function readNet(file) {
	const nodes = new Map();	// by the netlist's id
	let guid = 0n, node = null;

	for (const line of fs.readFileSync(file, "utf8").split("\n")) {
		let m;

		if ((m = /^(?:switch|ca)guid=0x([0-9a-f]+)/.exec(line))) {
			guid = "0x" + m[1].padStart(16, "0");
		} else if ((m = /^(Switch|Ca)\s+(\d+)\s+"([^"]+)"\s+# "([^"]*)"(.*)/.exec(line))) {
			node = { id: m[3], name: m[4], guid, isSwitch: m[1] === "Switch",
				ports: Number(m[2]), nlids: 1, peers: new Map(), lids: new Map() };
			nodes.set(node.id, node);
			const lid = / lid (\d+)/.exec(m[5]);
			if (node.isSwitch && lid)
				node.lids.set(0, Number(lid[1]));
		} else if ((m = /^\[(\d+)\](?:\(([0-9a-f]+)\))?\s+"([^"]+)"\[(\d+)\](.*)/
			.exec(line))) {
			node.peers.set(Number(m[1]), { id: m[3], port: Number(m[4]) });
			if (m[2] && !node.isSwitch)
				node.portGuid = "0x" + m[2].padStart(16, "0");
			const lid = /# lid (\d+) lmc (\d+)/.exec(m[5]);
			if (!node.isSwitch && lid) {
				node.lids.set(Number(m[1]), Number(lid[1]));
				node.nlids = 1 << Number(lid[2]);
			}
		}
	}
	return nodes;
}

function readLfts(file, byGuid) {
	let lft = null;

	for (const line of fs.readFileSync(file, "utf8").split("\n")) {
		let m;

		if ((m = /^Unicast lids .* guid (0x[0-9a-f]+)/.exec(line))) {
			lft = new Map();
			byGuid.get(m[1]).lft = lft;
		} else if ((m = /^0x([0-9a-f]{4}) (\d{3})/.exec(line))) {
			lft.set(parseInt(m[1], 16), Number(m[2]));
		}
	}
}

// OpenSM's form: a line for each input and output port.
function readMaps(file, byGuid) {
	let maps = null;

	for (const line of fs.readFileSync(file, "utf8").split("\n")) {
		let m;

		if ((m = /^(?:Switch|Channel Adapter)\s+(0x[0-9a-f]+)/.exec(line))) {
			maps = new Map();
			byGuid.get(m[1]).maps = maps;
		} else if ((m = /^(\d+)\s+(\d+)\s*: ([\d ]+)$/.exec(line)) && maps) {
			maps.set(`${m[1]} ${m[2]}`, m[3].trim().split(/\s+/).map(Number));
		}
	}
}

function readPsl(file, byGuid) {
	for (const line of fs.readFileSync(file, "utf8").split("\n")) {
		const m = /^(0x[0-9a-f]+) (\d+) (\d+)/.exec(line);

		if (!m)
			continue;
		const node = byGuid.get(m[1]);
		node.psl ||= new Map();
		node.psl.set(Number(m[2]), Number(m[3]));
	}
}

function readGroups(file, byGuid) {
	const groups = new Map();
	let node = null;

	for (const line of fs.readFileSync(file, "utf8").split("\n")) {
		let m;

		if ((m = /^Switch (0x[0-9a-f]+)/.exec(line))) {
			node = byGuid.get(m[1]);
		} else if ((m = /^(0xC[0-9A-F]{3}) : (.*)/i.exec(line))) {
			const mlid = parseInt(m[1], 16);

			if (!groups.has(mlid))
				groups.set(mlid, []);
			for (const port of m[2].trim().split(/\s+/).filter(Boolean))
				groups.get(mlid).push({ node, port: Number(port) });
		}
	}
	return groups;
}

function readSnapshot(dir) {
	const nodes = readNet(path.join(dir, "dateline.net"));
	const byGuid = new Map([...nodes.values()].map((n) => [n.guid, n]));
	// Adapters have one port each here, and some dumps call them by its GUID.
	const byPort = new Map([...nodes.values()].map((n) => [n.portGuid || n.guid, n]));
	const byLid = new Map();

	for (const n of nodes.values())
		for (const [port, lid] of n.lids)
			byLid.set(lid, { node: n, port });
	readLfts(path.join(dir, "opensm-lfts.dump"), byGuid);
	readMaps(path.join(dir, "opensm-sl2vl.dump"), byPort);
	readPsl(path.join(dir, "dateline-psl.dump"), byGuid);
	const groups = readGroups(path.join(dir, "opensm.mcfdbs"), byGuid);
	return { dir, nodes, byGuid, byLid, groups,
		switches: [...nodes.values()].filter((n) => n.isSwitch) };
}

// From one end port to another, at its base LID unless another is given: hops
// of switch, ports and VLs, or a fault.
function follow(s, src, dst, sl, lid = dst.node.lids.get(dst.port)) {
	const hops = [];
	let node = src.node, inPort = 0, vl = null;

	if (!node.isSwitch) {
		const peer = node.peers.get(src.port);

		vl = node.maps.get("0 0")[sl];
		node = s.nodes.get(peer.id);
		inPort = peer.port;
	}
	for (let i = 0; i < 1000; i++) {
		const out = node.lft.get(lid) ?? DROP;

		if (out === DROP)
			return { hops, fault: "no entry" };
		if (out && !node.peers.has(out)) {
			hops.push({ name: node.name, inPort, out, vlIn: vl, vlOut: null });
			return { hops, fault: "dead port" };
		}
		const vlOut = out ? node.maps.get(`${inPort} ${out}`)[sl] : null;
		hops.push({ name: node.name, inPort, out, vlIn: vl, vlOut });
		if (out === 0)
			return { hops, fault: node === dst.node ? null : "wrong end" };
		const peer = node.peers.get(out);
		const next = s.nodes.get(peer.id);
		if (!next.isSwitch)
			return { hops, fault: next === dst.node && peer.port === dst.port ?
				null : "wrong end" };
		node = next;
		inPort = peer.port;
		vl = vlOut;
	}
	return { hops, fault: "circle" };
}

// All end ports with a LID.
function endPorts(s) {
	return [...s.byLid.entries()].sort((a, b) => a[0] - b[0]).map(([, end]) => end);
}

// More than one with an LMC.
const lidsOf = (end) => Array.from({ length: end.node.nlids }, (_, i) =>
	end.node.lids.get(end.port) + i);

// Pairs by direction of a cable, counted packet by packet.
function loads(s) {
	const flows = new Map(), all = endPorts(s);
	let pairs = 0, hops = 0;

	for (const src of all)
		for (const [dst, lid] of all.flatMap((e) => lidsOf(e).map((l) => [e, l]))) {
			if (src === dst)
				continue;
			const p = follow(s, src, dst, 0, lid);

			if (p.fault)
				continue;
			pairs++;
			for (const h of p.hops.slice(0, -1)) {
				const key = `${h.name} ${h.out}`;

				flows.set(key, (flows.get(key) || 0) + 1);
				hops++;
			}
		}
	return { flows, pairs, hops, busiest: Math.max(0, ...flows.values()) };
}

module.exports = { readSnapshot, follow, endPorts, lidsOf, loads };

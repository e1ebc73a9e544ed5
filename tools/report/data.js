// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The data of the page, and packets followed through the tables.
//
// A "way" is one direction of a cable between two switches: 2 * cable, or that
// + 1 for the other direction.  An "end" is an end port: switches' own ports
// come first and have the switch's number.  See tools/report/report.h.
"use strict";

const doc = JSON.parse(document.getElementById("data").textContent);
const fabric = doc.fabric;
const grid = fabric.grid;
const ends = fabric.ends;
const sites = fabric.switches.site;
const nswitches = sites.length;
const nends = ends.guid.length;
const ncables = fabric.cables.length / 4;
const DIMS = "xyz";
const NO_PORT = 0xff;
const NO_ROW = 0xffff;
const NONE = -1;

const byId = (id) => document.getElementById(id);

function element(tag, attributes, ...children) {
	const e = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes || {})) {
		if (name === "text")
			e.textContent = value;
		else if (name.startsWith("on"))
			e.addEventListener(name.slice(2), value);
		else if (value === true)
			e.setAttribute(name, "");
		else if (value !== false && value !== null)
			e.setAttribute(name, value);
	}
	e.append(...children);
	return e;
}

// ---- numbers as people read them

const grouped = new Intl.NumberFormat("en-US");
const count = (n) => grouped.format(n);
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many || one + "s"}`;
const mlidText = (mlid) => "0x" + mlid.toString(16).toUpperCase().padStart(4, "0");

function fixed(n, digits) {
	return Number(n).toLocaleString("en-US", {
		minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function bytesText(n) {
	const units = ["B", "kB", "MB", "GB", "TB"];
	let unit = 0;

	for (; n >= 1000 && unit + 1 < units.length; unit++)
		n /= 1000;
	return `${unit ? fixed(n, n < 10 ? 2 : n < 100 ? 1 : 0) : n} ${units[unit]}`;
}

function nsText(n) {
	if (n >= 1e9)
		return fixed(n / 1e9, 2) + " s";
	if (n >= 1e6)
		return fixed(n / 1e6, 2) + " ms";
	if (n >= 1e3)
		return fixed(n / 1e3, n < 1e4 ? 2 : 1) + " \u00b5s";
	return fixed(n, n && n < 100 ? 1 : 0) + " ns";
}

// On an axis.
const nsTick = (n) => nsText(n).replace(/\.0+ /, " ");

// ---- the fabric

const wayFrom = (w) => fabric.cables[4 * (w >> 1) + (w & 1 ? 2 : 0)];
const wayTo = (w) => fabric.cables[4 * (w >> 1) + (w & 1 ? 0 : 2)];
const wayOut = (w) => fabric.cables[4 * (w >> 1) + (w & 1 ? 3 : 1)];
const wayIn = (w) => fabric.cables[4 * (w >> 1) + (w & 1 ? 1 : 3)];

// By switch and port: the way that leaves there, or the end attached.
const PORTS = 1 + fabric.switches.ports.reduce((a, b) => Math.max(a, b), 0);
const portWay = new Int32Array(nswitches * PORTS).fill(NONE);
const portEnd = new Int32Array(nswitches * PORTS).fill(NONE);
const endsOf = Array.from({ length: nswitches }, () => []);

for (let w = 0; w < 2 * ncables; w++)
	portWay[wayFrom(w) * PORTS + wayOut(w)] = w;
for (let e = 0; e < nends; e++) {
	if (ends.sw[e] === NONE)
		continue;
	portEnd[ends.sw[e] * PORTS + ends.port[e]] = e;
	if (e >= nswitches)
		endsOf[ends.sw[e]].push(e);
}

function siteCoord(site) {
	const r = grid.radix;

	return [site % r[0], Math.floor(site / r[0]) % r[1],
		Math.floor(site / r[0] / r[1])];
}

function siteAfter(site, dim) {
	const at = siteCoord(site), r = grid.radix;

	at[dim] = (at[dim] + 1) % r[dim];
	return at[0] + r[0] * (at[1] + r[1] * at[2]);
}

const coords = sites.map((site) => (grid && site !== NONE ? siteCoord(site) : null));
const coordOf = (sw) => coords[sw];

// Without the dimensions that the fabric does not have.
const usedDims = grid ? [0, 1, 2].filter((d) => grid.radix[d] > 1) : [];
const shortCoord = (c) => c.filter((v, d) => d < 2 || grid.radix[2] > 1).join(",");

// Without a grid, the picture numbers the switches.
const placeText = (sw) => (!grid ? String(sw + 1) :
	coordOf(sw) ? shortCoord(coordOf(sw)) : "");
const coordText = (sw) => placeText(sw) && `(${placeText(sw)})`;
const siteText = (site) => `(${shortCoord(siteCoord(site))})`;

function switchText(sw) {
	return `${ends.name[sw]} ${coordText(sw)}`.trim();
}

function endText(e) {
	if (e < nswitches)
		return switchText(e);
	return ends.num[e] > 1 || (e + 1 < nends &&
		ends.guid[e] === ends.guid[e + 1]) ?
		`${ends.name[e]} port ${ends.num[e]}` : ends.name[e];
}

// In which dimension, and which way, does a cable lead from its first end?
// null where its ends are no neighbours in the grid.
function cableStep(c) {
	const a = coordOf(fabric.cables[4 * c]), b = coordOf(fabric.cables[4 * c + 2]);
	let dim = NONE;

	if (!a || !b)
		return null;
	for (let d = 0; d < 3; d++) {
		if (a[d] === b[d])
			continue;
		if (dim !== NONE)
			return null;
		dim = d;
	}
	if (dim === NONE)
		return null;
	const step = b[dim] - a[dim], radix = grid.radix[dim];
	if (Math.abs(step) === 1)
		return { dim, sense: step, wraps: false };
	if (Math.abs(step) === radix - 1)
		return { dim, sense: -Math.sign(step), wraps: true };
	return null;
}

const steps = Array.from({ length: ncables }, (_, c) => cableStep(c));

function wayStepText(w) {
	const s = steps[w >> 1];

	if (!s)
		return "";
	return (s.sense > 0) === !(w & 1) ? "+" + DIMS[s.dim] : "\u2212" + DIMS[s.dim];
}

// ---- the tables: unpacked when they are first needed

const unpacked = {};

function unpack(id) {
	unpacked[id] ||= (async () => {
		const text = atob(byId(id).textContent);
		const bytes = new Uint8Array(text.length);

		for (let i = 0; i < text.length; i++)
			bytes[i] = text.charCodeAt(i);
		const stream = new Blob([bytes]).stream()
			.pipeThrough(new DecompressionStream("deflate"));
		return new Response(stream).arrayBuffer();
	})();
	return unpacked[id];
}

// Where each switch's map begins; the ends' own ones follow the last.
const mapFirst = new Uint32Array(nswitches + 1);
for (let s = 0; s < nswitches; s++)
	mapFirst[s + 1] = mapFirst[s] + (fabric.switches.ports[s] + 1) ** 2;

let tables = null;

async function loadTables() {
	if (!tables) {
		const [lft, sl2vl, psl] = await Promise.all(
			["lft", "sl2vl", "psl"].map(unpack));
		const maps = new DataView(sl2vl);

		tables = {
			lft: new Uint8Array(lft),
			psl: new Uint8Array(psl),
			row: (i) => maps.getUint16(2 * i, true),
		};
	}
	return tables;
}

// The path SL of QoS level 0, or null when the tables do not determine it.
function pathSl(src, lidIndex) {
	const psl = doc.tables.psl;
	const s = psl.src[src], d = psl.dst[lidIndex];

	if (s === undefined || d === undefined || s === NONE || d === NONE)
		return null;
	const sl = tables.psl[s * psl.width + d];
	return sl === 0xff ? null : sl;
}

// The VL that a map's row gives an SL; no row counts as VL 0 (and is marked).
function mapped(row, sl) {
	if (row === NO_ROW)
		return { vl: 0, assumed: true };
	return { vl: parseInt(doc.tables.rows[row][sl], 16), assumed: false };
}

const FAULTS = {
	entry: "no forwarding entry",
	dead: "forwarded to a port without a cable",
	wrong: "forwarded to the wrong end port",
	circle: "forwarded in a circle",
	vl: "the SL maps to no VL of the port",
	unattached: "not attached to any switch",
};

// Follow a packet; the tables are loaded.  Each hop has the switch, ports, VLs
// (null: none, or the SL is unknown) and the way it takes on, if any.
function walk(src, lidIndex, sl) {
	const dst = doc.tables.owner[lidIndex];
	const path = { src, dst, sl, hops: [], fault: null };
	let sw = ends.sw[src], inPort = ends.port[src], vl = null;

	if (sw === NONE || ends.sw[dst] === NONE) {
		path.fault = FAULTS.unattached;
		return path;
	}
	if (src >= nswitches && sl !== null) {
		const map = mapped(tables.row(mapFirst[nswitches] + src - nswitches), sl);

		vl = map;
		if (map.vl === 15) {
			path.fault = FAULTS.vl;
			return path;
		}
	}
	while (path.hops.length <= 2 * nswitches) {
		const out = tables.lft[sw * doc.tables.lids.length + lidIndex];
		const hop = { sw, inPort, out: null, vlIn: vl, vlOut: null, way: NONE };
		const ports = fabric.switches.ports[sw];

		path.hops.push(hop);
		if (out === NO_PORT) {
			path.fault = FAULTS.entry;
			return path;
		}
		hop.out = out;
		const way = portWay[sw * PORTS + out], end = portEnd[sw * PORTS + out];
		if (out > ports || (way === NONE && end === NONE)) {
			path.fault = FAULTS.dead;
			return path;
		}
		if (way === NONE && end !== dst) {
			path.fault = FAULTS.wrong;
			return path;
		}
		const row = tables.row(mapFirst[sw] + inPort * (ports + 1) + out);
		// Nothing arbitrates towards a switch's own port 0.
		if (sl !== null && (out || row !== NO_ROW)) {
			hop.vlOut = mapped(row, sl);
			if (hop.vlOut.vl === 15) {
				path.fault = FAULTS.vl;
				return path;
			}
		}
		if (way === NONE)
			return path;
		hop.way = way;
		vl = hop.vlOut;
		sw = wayTo(way);
		inPort = wayIn(way);
	}
	path.fault = FAULTS.circle;
	return path;
}

// The LIDs of an end, as places in doc.tables.lids.
function lidsOf(end) {
	const first = doc.tables.owner.indexOf(end);
	let last = first;

	if (first < 0)
		return [];
	while (doc.tables.owner[last + 1] === end)
		last++;
	return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

// ---- multicast

// The tree of a group: its ways, switches, and the ends that get a copy.
async function groupTree(index) {
	const masks = new Uint8Array(await unpack("mcast"));
	const size = doc.tables.mask_bytes;
	const tree = { ways: [], switches: [], members: [] };

	for (let s = 0; s < nswitches; s++) {
		const at = (index * nswitches + s) * size;
		let any = false;

		for (let p = 0; p <= fabric.switches.ports[s]; p++) {
			if (!(masks[at + (p >> 3)] >> (p & 7) & 1))
				continue;
			const way = portWay[s * PORTS + p], end = portEnd[s * PORTS + p];

			any = true;
			if (way !== NONE)
				tree.ways.push(way);
			else if (end !== NONE)
				tree.members.push(end);
		}
		if (any)
			tree.switches.push(s);
	}
	return tree;
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What a reader sees first: on a large fabric, on small and dark displays, on paper,
// and of several moments.
"use strict";

const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { readSnapshot, loads } = require("./snapshot.js");
const { T, SHOTS, dateline, attempt, output, opened, closed, settled, shoot, rows } = require("./browser.js");
const { number, textOf, tablesOf } = require("./numbers.js");

module.exports = (test) => {

test("a recorded emulation: packets fill buffers, leave them, or freeze there", async () => {
	const guid = (name) => [...readSnapshot(path.join(T, "grid")).byGuid].find(([, n]) =>
		n.name === name)[0];
	const line = (at, event, packet, name, port) => `${at}.000,${event},${packet},` +
		`${guid(name)},${port},0,${event === "credit" ? ",,," : "0,11,2074,0.000"},33,\n`;
	const head = "at_ns,event,packet,guid,port,vl,sl,lid,bytes,waited_ns,credit,cause\n";
	const run = [[0, "made", 1, "H_0_0_0_1", 1], [0, "sent", 2, "S_3_0_0", 1],
		[10, "sent", 1, "S_0_0_0", 1], [50, "arrived", 2, "S_4_0_0", 2],
		[100, "arrived", 1, "S_1_0_0", 2], [200, "sent", 1, "S_1_0_0", 1],
		[220, "credit", "", "S_1_0_0", 2], [300, "arrived", 1, "S_2_0_0", 2],
		[400, "sent", 1, "S_2_0_0", 5], [500, "delivered", 1, "H_2_0_0_1", 1],
		[1000, "credit", "", "S_2_0_0", 2]];

	fs.writeFileSync(path.join(T, "frozen.csv"), head + run.map((r) => line(...r)).join(""));
	fs.writeFileSync(path.join(T, "moved.csv"), head + run.filter(([, , packet]) =>
		packet !== 2).map((r) => line(...r)).join(""));
	dateline("report", "grid", "--recording", "frozen.csv", "--recording", "moved.csv", "-o",
		"played.html");
	const page = await opened("played.html");
	// What a buffer holds at a time, as "switch port blocks".
	const heldAt = (at, i = 0) => page.evaluate((t, k) => {
		seek(t);
		return player.runs[k].hops.filter((h) => h.end <= t && t < h.leave).map((h) =>
			`${ends.name[wayTo(h.way)]} ${wayIn(h.way)} ${h.blocks}`);
	}, at, i);
	const words = (i = 0) => page.$$eval("#runs .note", (list, k) => list[k].textContent.trim(), i);

	assert.deepStrictEqual(await page.$$eval("#runs figcaption", (l) => l.map((e) =>
		e.textContent)), ["frozen.csv", "moved.csv"]);
	assert.deepStrictEqual(await heldAt(150), ["S_4_0_0 2 33", "S_1_0_0 2 33"]);
	assert.strictEqual(await words(), "0 packets arrived. 1 buffer frozen: nothing leaves it any more.");
	assert.deepStrictEqual(await heldAt(350), ["S_4_0_0 2 33", "S_2_0_0 2 33"]);
	assert.deepStrictEqual(await heldAt(350, 1), ["S_2_0_0 2 33"]);
	await heldAt(999);
	assert.strictEqual(await words(), "1 packet arrived. 1 buffer frozen: nothing leaves it any more.");
	assert.strictEqual(await words(1), "1 packet arrived.");
	// From the beginning: a step is the next packet on a cable, or in a buffer.
	await heldAt(0);
	for (const at of [10, 50, 100]) {
		await page.click("#play-step");
		assert.strictEqual(await page.evaluate(() => player.at), at);
	}
	await page.click("#play");
	await page.waitForFunction(() => player.at > 110);
	await page.click("#play");
	assert.strictEqual(await page.evaluate(() => player.playing), false);
	await page.select("#play-speed", "4");
	await page.click("#play");
	await page.waitForFunction(() => !player.playing && player.at === player.until);
	await shoot(page, "played");
	await closed(page);
	for (const [change, why] of [[["sent", "bent"], /bad.csv:3: .*expected a step/],
		[[guid("S_3_0_0"), "0x1"], /bad.csv:3: the snapshot has no port 1 of 0x1/]]) {
		fs.writeFileSync(path.join(T, "bad.csv"), head + run.map((r) => line(...r)).join("")
			.replace(...change));
		const { status, stderr } = attempt("report", "grid", "--recording", "bad.csv", "-o", "x.html");
		assert.strictEqual(status, 2);
		assert.match(stderr, why);
	}
});

test("the example that is recorded: the loop that verify finds freezes, and is cured", async () => {
	const scenario = fs.readFileSync(path.join(process.env.DATELINE_TOP,
		"conf/examples/emulate-record.yaml"), "utf8");

	dateline("gen", "6", "5", "--fail-switch", "3,2,0", "-o", "film");
	for (const mode of ["classic", "proven"]) {
		dateline("route", "film.net", "--torus-config", "film.torus.conf", "--mode", mode,
			"--multicast", "all", "-o", mode);
		fs.writeFileSync(path.join(T, "film.yaml"), scenario.replace(/^record: .*/m,
			`record: ${mode}.csv`));
		attempt("emulate", mode, "--scenario", "film.yaml");
	}
	dateline("report", "classic", "--recording", "classic.csv", "--recording", "proven.csv",
		"-o", "film.html");
	const page = await opened("film.html");
	const [frozen, moving] = await page.evaluate(() => {
		seek(player.until);
		return player.runs.map((r) => [...r.stuck.keys()]);
	});
	const loop = await page.evaluate(() => [...loopIds]);

	assert(loop.length > 2 && loop.every((id) => frozen.includes(id)));
	assert.deepStrictEqual(moving, []);
	await closed(page);
});

test("what ports counted, beside an emulation", async () => {
	const guid = (name) => [...readSnapshot(path.join(T, "grid")).byGuid].find(([, n]) =>
		n.name === name)[0];
	const count = (name, port, what) => `Errors for "${name}"\n   GUID ${guid(name)} port ` +
		`${port}: ${what.map(([k, v]) => `[${k} == ${v}]`).join(" ")}\n`;

	fs.writeFileSync(path.join(T, "counted"), count("S_1_0_0", 1, [["SymbolErrorCounter", 5],
		["PortXmitWait", 3000], ["PortXmitData", 25000], ["PortXmitDiscards", 7]]) + count("S_2_3_0", 3,
		[["LinkDownedCounter", 2], ["PortXmitWait", 1000]]) + count("H_0_0_0_1", 1,
		[["PortRcvErrors", 1]]));
	dateline("report", "grid", "--counters", "counted", "--emulation", "mix.json", "-o",
		"counted.html");
	const { errors, waiting } = JSON.parse(output("path", "grid", "--counters", "counted",
		"--predicted", "mix.json", "--json")).fabric;
	const page = await opened("counted.html", { height: 3600 });
	const tables = await tablesOf(page, "counters");
	const where = ({ from, to, flows }) => [[from, 0], [to, 0]].flatMap(([end]) =>
		[end.coord ? `${end.name} (${end.coord.slice(0, 2)})` : end.name, String(end.port)])
		.concat(flows === null ? "host\u2019s own" : number(flows));
	assert.deepStrictEqual(tables.get("Cables with errors, worst first"), errors.map((p, i) =>
		[["link-down", "LinkDownedCounter 2"], ["errors", "SymbolErrorCounter 5"],
			["errors", "PortRcvErrors 1"]][i].concat(where(p))));
	assert.deepStrictEqual(tables.get("Ports that discarded packets or waited to send, worst first"),
		waiting.map((p, i) => [i ? "0" : "7", `${number(100 * p.share, 1)} %`,
			`${number(100 * p.predicted_share, 1)} %`, ...where(p)]));
	assert((await textOf(page, "#tiles")).includes("Counters 3 cables with errors, worst: link-down"));
	assert.deepStrictEqual(await page.evaluate(() => overlays.worst.steps.filter((e) => e.label)
		.map((e) => [e.label, ends.name[wayFrom(e.way)], wayOut(e.way)])),
	[["1", "S_2_3_0", 3], ["2", "S_1_0_0", 1]]);
	await page.click("#counters tr.pick");
	await page.waitForFunction(() => byId("cable-body").textContent.includes("Counted"));
	assert.match(await textOf(page, "#cable"),
		/Counted: 0 B, 2 errors, waited for 1,000 ticks\./);
	assert.deepStrictEqual(await page.evaluate(() => colourings.map((c) => [c.id, c.most])
		.filter(([id]) => ["counted", "waited", "errors"].includes(id))),
	[["counted", 100000], ["waited", 3000], ["errors", 5]]);
	await page.select("#colour", await page.evaluate(() =>
		String(colourings.findIndex((c) => c.id === "waited"))));
	await shoot(page, "counted");
	await closed(page);
});

test("light, dark and print", async () => {
	// Mean brightness of the picture's corner and of the page.
	const ground = (page) => page.evaluate(() => {
		const rgb = getComputedStyle(document.querySelector("#figure")).backgroundColor;
		const n = rgb.match(/\d+/g).map(Number);

		return n[0] + n[1] + n[2];
	});
	const page = await opened("hurt.html");
	assert(await ground(page) > 700);
	await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
	await settled(page);
	assert(await ground(page) < 200);
	assert(await page.evaluate(() => theme.dark));
	// On paper it is light, whatever the display.
	await page.emulateMediaType("print");
	await settled(page);
	assert(await ground(page) > 700);
	assert(!await page.evaluate(() => theme.dark));
	await shoot(page, "print");
	await page.emulateMediaType();
	const pdf = await page.pdf({ format: "a4" });
	assert.strictEqual(Buffer.from(pdf.subarray(0, 5)).toString(), "%PDF-");
	if (SHOTS !== T)
		fs.writeFileSync(path.join(SHOTS, "print.pdf"), pdf);
	await closed(page);
});

test("16x16x16: what stands out is drawn, and equal rows are a sentence", async () => {
	dateline("gen", "16", "16", "16", "--fail-switch", "3,3,3", "-o", "many");
	dateline("route", "many.net", "--torus-config", "many.torus.conf", "-o", "many.dls");
	dateline("report", "many.dls", "-o", "many.html");
	dateline("gen", "5", "5", "5", "-o", "even");
	dateline("route", "even.net", "--torus-config", "even.torus.conf", "-o", "even.dls");
	dateline("report", "even.dls", "-o", "even.html");
	const page = await opened("many.html", { width: 1366, height: 768 });
	const drawn = () => page.evaluate(() => [view.layout, doc.load.flows.filter((n, w) =>
		fadedClass(view.colour.classes[w]) === 1).length / doc.load.flows.length,
	fadedClass(0)]);
	const [layout, some, rest] = await drawn();
	assert.strictEqual(layout, "planes");
	assert(some > 0 && some <= 0.05 && rest < 0.5, `${some}`);
	await shoot(page, "many");
	await page.select("#layout", "3");
	assert.deepStrictEqual(await drawn(), ["turn", some, 0]);
	await shoot(page, "many-turned");
	await closed(page);
	const even = await opened("even.html");
	assert.match(await textOf(even, "#load"), /All 750 directions carry the same, [\d,]+ pairs\./);
	assert.strictEqual((await rows(even, "#load")).length, 0);
	await closed(even);
});

test("a narrow display", async () => {
	const page = await opened("hurt.html", { width: 420, height: 900 });

	assert(await page.evaluate(() => document.documentElement.scrollWidth <= 420));
	await shoot(page, "narrow");
	await closed(page);
});

test("several moments: a slider, and what changed between", async () => {
	const days = [["mon"], ["tue", "--fail-link", "1,1,0:+x"], ["wed", "--fail-switch", "3,2,0"]];

	for (const [name, ...fail] of days) {
		dateline("gen", "6", "5", "1", ...fail, "-o", name);
		dateline("route", `${name}.net`, "--torus-config", `${name}.torus.conf`, "-o", name);
		// Each is made in another second.
		await new Promise((done) => setTimeout(done, 1100));
	}
	dateline("report", "wed", "--earlier", "tue", "--earlier", "mon", "-o", "days.html");
	const page = await opened("days.html"), seen = [];
	const slide = async (to) => {
		await page.$eval("#moment", (e, value) => {
			e.value = value;
			e.dispatchEvent(new Event("input"));
		}, to);
		await settled(page);
		return [await textOf(page, "#moment-body"), await page.evaluate(() => ({
			drawn: missingShown(), flows: view.colour.values.filter((n) => n >= 0).length }))];
	};
	for (const to of [0, 1, 2])
		seen.push(await slide(to));
	assert.match(seen[0][0], /^mon.*: every packet arrives; no credit loop; nothing is missing;/);
	assert.match(seen[0][0], /cable gone S_1_1_0 port 1 to S_2_1_0 port 2/);
	assert.match(seen[1][0], /^tue.*; 0 missing switches and 1 hop with/);
	assert.match(seen[1][0], /switch gone S_3_2_0 adapter gone H_3_2_0_1 .*cable back or new S_1_1_0 port 1/);
	assert.match(seen[2][0], /^wed.*; 1 missing switch and 4 hops with/);
	assert.deepStrictEqual(seen.map(([, s]) => [s.drawn.switches.length, s.drawn.cables.length]),
		[[0, 0], [0, 1], [1, 4]]);
	assert.deepStrictEqual(seen.map(([, s]) => s.flows), [112, 110, 112]);
	for (const [k, name] of ["mon", "tue"].entries()) {
		const s = readSnapshot(path.join(T, name));
		const { flows } = loads(s);

		await slide(k);
		const shown = await page.evaluate(() => view.colour.values.map((n, w) =>
			[`${ends.name[wayFrom(w)]} ${wayOut(w)}`, n]).filter(([, n]) => n >= 0));
		for (const [key, n] of shown)
			assert.strictEqual(n, flows.get(key) || 0, `${name} ${key}`);
	}
	await shoot(page, "days");
	await closed(page);
});
};

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// usage: node report.js        (by `make check-report`)
//
// `dateline report` in a browser: clicks, keys, and every number of the page
// against the dumps, `dateline verify --json` and `dateline emulate --json`.
// Prints TAP.
//
//   DATELINE        the command
//   DATELINE_TOP    the source tree
//   DATELINE_SHOTS  a folder for screenshots; none are kept without it
//   CHROMIUM        the browser; else chromium in the path
//   DATELINE_SEED   picks the paths that are clicked
"use strict";

const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { readSnapshot, endPorts, loads } = require("./snapshot.js");
const { T, SHOTS, SEED, random, dateline, attempt, output, snapshot, opened, closed, settled,
	shoot, clickAt, type, rows, pathShown, launch, close } = require("./browser.js");
const { expectedPath, samePath, agreeOnPaths, agreeOnLoad } = require("./agree.js");
const { number, textOf, tablesOf, switchName, agreeOnTiles, agreeOnRun, agreeOnSweep, agreeOnLoop,
	agreeOnLosses } = require("./numbers.js");
const { agreeOnChange } = require("./change.js");

const TOP = process.env.DATELINE_TOP;
const cases = [];
const test = (name, run) => cases.push({ name, run });

// ---- the cases

test("6x5: clicks on adapters and switches draw the path that the dumps hold", async () => {
	const s = snapshot("grid", ["6", "5", "1", "--hosts", "2"], ["--multicast", "all"]);
	const all = endPorts(s);

	dateline("report", "./grid/.", "-o", "grid.html");
	const page = await opened("grid.html");
	assert.strictEqual(await page.$eval("#title", (e) => e.textContent), "grid");
	for (let i = 0; i < 8; i++) {
		const src = all[random(all.length)];
		const dst = all.filter((e) => e !== src && !e.node.isSwitch)[random(59)];
		// A click on a switch stands for its first adapter.
		const from = src.node.isSwitch ? s.nodes.get(src.node.peers.get(5).id) : src.node;

		if (from === dst.node)
			continue;
		await clickAt(page, src.node.name);
		await clickAt(page, dst.node.name);
		samePath(await pathShown(page, from.name, dst.node.name),
			expectedPath(s, { node: from, port: 1 }, dst));
	}
	await shoot(page, "grid-path");
	await closed(page);
});

test("6x5: ends named in the boxes, swapped and cleared", async () => {
	const s = readSnapshot(path.join(T, "grid"));
	const page = await opened("grid.html");
	const at = (name) => ({ node: [...s.nodes.values()].find((n) => n.name === name),
		port: name[0] === "S" ? 0 : 1 });
	const a = at("S_1_2_0"), b = at("H_4_4_0_2");

	await type(page, "#from", "1,2");
	await type(page, "#to", String(b.node.lids.get(1)));
	samePath(await pathShown(page, "S_1_2_0", "H_4_4_0_2"), expectedPath(s, a, b));
	await page.click("#swap");
	samePath(await pathShown(page, "H_4_4_0_2", "S_1_2_0"), expectedPath(s, b, a));
	await page.click("#clear");
	await page.waitForFunction(() => !document.querySelector("#path-result table"));
	await type(page, "#from", "nobody");
	assert(await page.$eval("#from", (e) => !e.checkValidity()));
	await closed(page);
});

test("6x5: every path, the load of every cable, nothing missing", async () => {
	const s = readSnapshot(path.join(T, "grid")), page = await opened("grid.html");

	await agreeOnPaths(page, s);
	await agreeOnLoad(page, s);
	await agreeOnTiles(page, s, JSON.parse(output("verify", "grid", "--json")));
	assert.match(await page.$eval("#missing", (e) => e.innerText), /Nothing is missing/);
	await closed(page);
});

test("6x5: the keyboard alone finds a path", async () => {
	const s = readSnapshot(path.join(T, "grid")), page = await opened("grid.html");
	const host = (name) => ({ port: 1, node: [...s.nodes.values()]
		.find((n) => n.name === name) });

	await page.focus("#canvas");
	// The first key stands at the first switch, the others move.
	for (const key of ["ArrowUp", "ArrowUp", "Enter", "ArrowLeft", "ArrowDown",
		"ArrowDown", "Enter"])
		await page.keyboard.press(key);
	samePath(await pathShown(page, "H_0_1_0_1", "H_5_4_0_1"),
		expectedPath(s, host("H_0_1_0_1"), host("H_5_4_0_1")));
	await page.keyboard.press("Escape");
	await page.waitForFunction(() => !document.querySelector("#path-result table"));
	await closed(page);
});

test("6x5: what is under the pointer, or chosen in a table, tells its numbers", async () => {
	const s = readSnapshot(path.join(T, "grid")), page = await opened("grid.html");
	const [a, b] = ["S_1_2_0", "S_2_2_0"].map((name) => s.switches.find((n) => n.name === name));
	const out = (n, to) => [...n.peers].find(([, peer]) => peer.id === to.id)[0];
	const { flows } = loads(s);
	const pointed = async (x, y) => {
		const [left, top] = await page.evaluate(() => {
			const box = canvas.getBoundingClientRect();

			return [box.left, box.top];
		});

		await page.mouse.move(left + x, top + y);
		return page.$eval("#tip", (e) => (e.hidden ? "" : e.textContent));
	};
	const [x, y] = await page.evaluate((n) => endPlace(ends.name.indexOf(n)), a.name);

	assert.strictEqual(await pointed(x, y), `S_1_2_0 (1,2)\n${a.guid}\nLID ${a.lids.get(0)}, ` +
		`${a.ports} ports, 2 adapters`);
	// Right-hand traffic: the way there is below, the way back above.
	const cell = await page.evaluate(() => cell);
	for (const [from, to, side] of [[a, b, 4], [b, a, -4]])
		assert.strictEqual(await pointed(x + cell / 2, y + side),
			`${switchName(from.name)} port ${out(from, to)} \u2192 ` +
			`${switchName(to.name)} port ${out(to, from)}\nPairs per cable: ` +
			`${flows.get(`${from.name} ${out(from, to)}`)} (back: ` +
			`${flows.get(`${to.name} ${out(to, from)}`)})`);
	await page.focus("#load tr.pick");
	await page.keyboard.press("Enter");
	const [first] = await rows(page, "#load");
	assert.match(await textOf(page, "#status"), new RegExp(`^${first[1].replace(/[()]/g, "\\$&")} ` +
		`port ${first[2]} .*; Pairs per cable: ${first[0]} `));
	await closed(page);
});

test("6x5: the multicast tree is that of the dump", async () => {
	const s = readSnapshot(path.join(T, "grid")), page = await opened("grid.html");
	const group = s.groups.get(0xc000), ways = [], members = [];

	for (const { node, port } of group) {
		const peer = s.nodes.get(node.peers.get(port).id);

		(peer.isSwitch ? ways : members).push(`${node.name} ${port}`);
	}
	await page.select("#group", "0");
	await page.waitForFunction(() => overlays.tree.steps);
	const shown = await page.evaluate(() => ({
		ways: overlays.tree.steps.map(({ way }) => `${ends.name[wayFrom(way)]} ${wayOut(way)}`),
		members: [...chosen.members].map((e) => `${ends.name[ends.sw[e]]} ${ends.port[e]}`),
		text: byId("tree-result").innerText }));
	assert.deepStrictEqual(shown.ways.sort(), ways.sort());
	assert.deepStrictEqual(shown.members.sort(), members.sort());
	assert.strictEqual(shown.text, "30 switches, 29 cables between them, copies to 60 end ports.");
	await shoot(page, "grid-tree");
	await closed(page);
});

test("a credit loop: verify's list and words, drawn in its order", async () => {
	const s = snapshot("hurt", ["6", "5", "1", "--fail-switch", "3,2,0", "--fail-link",
		"0,0,0:+x"], ["--mode", "classic", "--multicast", "all"]);
	const verdict = JSON.parse(output("verify", "hurt", "--json"));
	const words = output("verify", "hurt", "--explain");

	dateline("report", "hurt", "-o", "hurt.html");
	const page = await opened("hurt.html", { scheme: "dark" });
	assert(verdict.credit_loop);
	const loop = verdict.cycle.map((c) => `${s.byGuid.get(c.guid).name} ${c.port} ${c.vl}`);
	const shown = await page.evaluate(() => ({ words: document.querySelector(
		"#verdict pre").textContent, drawn: overlays.loop.steps.map(({ way, label }) =>
		`${ends.name[wayFrom(way)]} ${wayOut(way)} ${/VL (\d+)/.exec(label)[1]}`),
	json: doc.verdict }));
	// The page adds what applications must do.
	const [said, demand] = shown.words.split(/\n\n(?=applications )/);
	assert.strictEqual(said, words.trim());
	assert.match(demand, /^applications must use the SL of each path record/);
	assert.deepStrictEqual(shown.drawn, loop);
	for (const key of Object.keys(verdict))
		if (!["format", "seconds", "warnings"].includes(key))
			assert.deepStrictEqual(shown.json[key], verdict[key], key);
	await agreeOnLoop(page, s, verdict);
	await agreeOnTiles(page, s, verdict, ["3,2"]);
	await agreeOnPaths(page, s);
	await agreeOnLoad(page, s);
	const missing = await rows(page, "#missing");
	const gone = "(3,2), missing", ends = ["0", "1"];
	assert.deepStrictEqual(missing, [["(3,2)", "S_2_2_0 (2,2) port 1; S_4_2_0 (4,2) port 2; " +
		"S_3_1_0 (3,1) port 3; S_3_3_0 (3,3) port 4"],
	["S_0_0_0 (0,0)", "1", "S_1_0_0 (1,0)", "2", "+x", ...ends],
	["S_3_1_0 (3,1)", "3", gone, "", "+y", ...ends], ["S_2_2_0 (2,2)", "1", gone, "", "+x", ...ends],
	[gone, "", "S_4_2_0 (4,2)", "2", "+x", ...ends], [gone, "", "S_3_3_0 (3,3)", "4", "+y", ...ends]]);
	// What is broken comes first, what is looked up comes below.
	assert.deepStrictEqual((await page.$$eval("#panels section", (list) => list.map((e) => e.id)))
		.slice(1, 7), ["verdict", "missing", "counters", "path", "cable", "job"]);
	assert((await textOf(page, "#tiles")).includes("Counters not read by --counters"));
	assert.strictEqual(await page.$eval("#tiles li:nth-child(4) .more", (e) => e.textContent),
		"5 missing at 5 hops");
	for (const [i, string] of ["Missing switch at (3,2)", "0 of 1 cables from (0,0) to (1,0)"]
		.entries()) {
		await (await page.$$("#missing tr.pick"))[i].click();
		assert.strictEqual(await textOf(page, "#status"), string);
	}
	await shoot(page, "hurt-dark");
	await closed(page);
});

test("packets that do not arrive: followed as far as they get", async () => {
	const s = snapshot("lost", ["4", "3", "1"]);
	const file = path.join(T, "lost", "opensm-lfts.dump");
	const dst = [...s.nodes.values()].find((n) => n.name === "H_3_2_0_1");
	const lid = "0x" + dst.lids.get(1).toString(16).padStart(4, "0");
	let at = "";

	// The last switch sends these packets to a port without a cable.
	fs.writeFileSync(file, fs.readFileSync(file, "utf8").split("\n").map((line) => {
		at = (/^Unicast.*'(.*)'/.exec(line) || [0, at])[1];
		return at === "S_3_2_0" && line.startsWith(lid) ? `${lid} 030` : line;
	}).join("\n"));
	fs.rmSync(path.join(T, "lost", "dateline-manifest.txt"));
	const hurt = readSnapshot(path.join(T, "lost"));
	const verdict = JSON.parse(output("verify", "lost", "--json"));
	dateline("report", "lost", "-o", "lost.html");
	const page = await opened("lost.html");
	await agreeOnPaths(page, hurt);
	await type(page, "#from", "H_0_0_0_1");
	await type(page, "#to", "H_3_2_0_1");
	await pathShown(page, "H_0_0_0_1", "H_3_2_0_1");
	assert.match(await page.$eval("#path-result", (e) => e.innerText),
		/Not delivered: forwarded to a port without a cable/);
	assert.strictEqual(verdict.undelivered.length, 23);
	assert.deepStrictEqual(await page.evaluate(() => doc.verdict.undelivered),
		verdict.undelivered);
	await agreeOnLosses(page, hurt, verdict);
	assert.match(await textOf(page, "#tiles"), new RegExp("Delivery incomplete 23 of " +
		`${number(verdict.pairs)} pairs, 0 of 0 groups fail`));
	await closed(page);
});

test("an emulation: its numbers, its deadlock over the picture", async () => {
	const scenario = path.join(TOP, "conf/examples/emulate-deadlock-6x5.yaml");
	const run = output("emulate", "hurt", "--scenario", scenario, "--json");
	const e = JSON.parse(run), s = readSnapshot(path.join(T, "hurt"));

	fs.writeFileSync(path.join(T, "run.json"), run);
	dateline("report", "hurt", "--emulation", "run.json", "-o", "run.html");
	const page = await opened("run.html");
	assert(e.deadlock);
	assert.deepStrictEqual(await page.evaluate(() => overlays.deadlock.steps.map(
		({ way, label }) => `${ends.name[wayFrom(way)]} ${wayOut(way)} ` +
			/VL (\d+)/.exec(label)[1])), e.cycle.map((c) =>
		`${s.byGuid.get(c.guid).name} ${c.port} ${c.vl}`));
	await agreeOnRun(page, s, e);
	await shoot(page, "run");
	await closed(page);
});

test("both QoS levels, and a sweep, in charts", async () => {
	const example = (name) => ["--scenario", path.join(TOP, `conf/examples/emulate-${name}.yaml`)];
	// The SLs of that mix are its own choice: not the path SLs of "grid".
	const mixed = snapshot("mixed", ["6", "5", "1", "--hosts", "2"], ["--mode", "any-sl"]);
	const grid = readSnapshot(path.join(T, "grid"));

	for (const [file, ...how] of [["mix", ...example("qos-mix")],
		["series", ...example("tornado")],
		["faults", ...example("faults")], ["cut", ...example("qos-mix")],
		["sweep", ...example("uniform"), "--sweep", "load=0.1:0.5:0.2"]]) {
		const on = /qos-mix/.test(how) ? "mixed" : "grid";
		const e = JSON.parse(output("emulate", on, "--json", ...how));

		if (file === "cut")
			Object.assign(e, { interrupted: true, warnings: ["Take care"] });
		fs.writeFileSync(path.join(T, `${file}.json`), JSON.stringify(e));
		dateline("report", on, "--emulation", `${file}.json`, "-o", `${file}.html`);
		const page = await opened(`${file}.html`, { height: 3600 });
		await (e.sweep ? agreeOnSweep(page, e) : agreeOnRun(page, on === "grid" ? grid : mixed, e));
		await shoot(page, file);
		await closed(page);
	}
});

test("the change against an earlier snapshot", async () => {
	const then = readSnapshot(path.join(T, "hurt"));
	const now = snapshot("whole", ["6", "5", "1"], ["--multicast", "all"]);

	dateline("report", "hurt", "--earlier", "whole", "-o", "back.html");
	const back = await opened("back.html");
	assert.deepStrictEqual(await agreeOnChange(back, then, now),
		{ gone: [1, 1, 6], fresh: [0, 0, 0] });
	await closed(back);
	dateline("report", "whole", "--earlier", "hurt", "-o", "change.html");
	const page = await opened("change.html");
	assert.deepStrictEqual(await agreeOnChange(page, now, then),
		{ gone: [0, 0, 0], fresh: [1, 1, 6] });
	await page.select("#colour", await page.evaluate(() =>
		String(colourings.findIndex((c) => c.id === "changed"))));
	await shoot(page, "change");
	await closed(page);
});

test("the way from one snapshot's tables to another's", async () => {
	const net = fs.readFileSync(path.join(T, "whole", "dateline.net"), "utf8");
	// Without a cable; the LIDs stay.
	const [line, id, port] = /^\[\d+\]\t"(S[^"]+)"\[(\d+)\].*\n/m.exec(net);
	const back = net.indexOf(`\n[${port}]`, net.indexOf(` "${id}"\t`)) + 1;
	const lines = [line, net.slice(back, net.indexOf("\n", back) + 1)];

	fs.writeFileSync(path.join(T, "kept.net"), lines.reduce((n, l) => n.replace(l, ""), net));
	dateline("route", "kept.net", "--torus-config", "whole.torus.conf", "--multicast", "all",
		"-o", "kept");
	dateline("report", "kept", "--earlier", "whole", "-o", "kept.html");
	const page = await opened("kept.html");
	const t = JSON.parse(output("transition", "whole", "kept", "--json"));
	const [, list] = [...await tablesOf(page, "change")].find(([c]) => c.startsWith("Transition"));
	assert.deepStrictEqual(list.map((r) => [/^safe/.test(r[1]), ...r.slice(2)]), [
		[t.direct.safe, number(t.direct.writes), "0", "0"],
		[t.phased.safe, ...["writes", "entries_closed", "pairs_interrupted"].map((k) =>
			number(t.phased[k]))]]);
	assert.strictEqual(list[1][0], `in ${t.phased.steps.length} step${t.phased.steps.length === 1 ? "" : "s"}`);
	await shoot(page, "transition");
	await closed(page);
});

test("the pairs that use a cable: as many as the load says, and those of path", async () => {
	for (const name of ["grid", "hurt"]) {
		const page = await opened(`${name}.html`);
		const differ = await page.evaluate(async () => {
			await loadTables();
			return doc.load.flows.map((n, w) => [n, flowsThrough(w).flows])
				.filter(([a, b]) => a !== b);
		});

		assert.deepStrictEqual(differ, []);
		await page.focus("#load tr.pick");
		await page.keyboard.press("Enter");
		await page.waitForSelector("#cable-body table");
		const [first] = await rows(page, "#load");
		assert((await textOf(page, "#cable-body")).includes(
			`${first[1]} port ${first[2]} \u2192 ${first[3]} port ${first[4]}: ${first[0]} pairs.`));
		const there = JSON.parse(output("path", name, "--through",
			`${first[1].split(" ")[0]}/${first[2]}`, "--top", "100000", "--json"));
		const pairs = new Set(there.through.paths.map((p) => `${p.from.name} ${p.lid} ${p.sl}`));
		for (const [from, , lid, sl] of await rows(page, "#cable-body"))
			assert(from.startsWith("S_") || pairs.has(`${from} ${lid} ${sl}`), `${from} ${lid}`);
		await closed(page);
	}
});

test("the cables of a job's hosts are those of dateline path", async () => {
	const page = await opened("hurt.html"), hosts = ["H_0_0_0_1", "H_4_4_0_1", "H_2_1_0_1",
		"H_5_0_0_1"];

	fs.writeFileSync(path.join(T, "job"), hosts.join("\n"));
	const { job } = JSON.parse(output("path", "hurt", "--job", "job", "--json"));
	const write = async (text) => {
		await page.$eval("#job-hosts", (e) => { e.value = ""; });
		await page.type("#job-hosts", text);
		await page.$eval("#job-hosts", (e) => e.blur());
	};
	await write(["# a job", ...hosts].join("\n"));
	await page.waitForSelector("#job-result table");
	const text = await textOf(page, "#job-result");
	assert(text.includes(`4 end ports, ${job.pairs} pairs, ${number(job.hops_mean, 2)} cables on ` +
		`average; the busiest direction of a cable carries ${job.busiest_flows} pairs.`), text);
	assert.deepStrictEqual((await rows(page, "#job-result")).map((r) => Number(r[0])),
		job.cables.map((c) => c.flows).sort((a, b) => b - a).slice(0, 20));
	await shoot(page, "job-dark");
	await write("H_0_0_0_1\nnobody");
	assert(await page.$eval("#job-hosts", (e) => !e.checkValidity()));
	// A host's name: one adapter, or all of them in a job.
	assert.deepStrictEqual(await page.evaluate(() => {
		ends.name[endByName("H_0_0_0_1")] = "n0 mlx5_0";
		ends.name[endByName("H_1_0_0_1")] = "n1 mlx5_0";
		ends.name[endByName("H_2_0_0_1")] = "n1 mlx5_1";
		return [ends.name[endByName("n0")], endByName("n1"), endByName("n")];
	}), ["n0 mlx5_0", -1, -1]);
	await write("n0\nn1");
	await page.waitForFunction(() => byId("job-result").textContent.startsWith("3 end ports"));
	await closed(page);
});

test("when and by what the tables were made; tables as CSV", async () => {
	const page = await opened("hurt.html");
	const made = fs.readFileSync(path.join(T, "hurt", "dateline-manifest.txt"), "utf8");
	const seconds = Number(/^written (\d+)/m.exec(made)[1]);

	assert((await textOf(page, "#subtitle")).includes("routed by dateline (classic), snapshot of " +
		`${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`));
	const [csv, buttons, tables] = await page.evaluate(() => {
		let text = null;

		URL.createObjectURL = (blob) => {
			text = blob.text();
			return "#";
		};
		document.querySelector("#missing .csv").click();
		return text.then((t) => [t, document.querySelectorAll(".table > .csv").length,
			document.querySelectorAll(".table > table").length]);
	});
	assert.strictEqual(csv, '"Missing switch at","Ports that led to it"\r\n"(3,2)","S_2_2_0 (2,2) ' +
		'port 1; S_4_2_0 (4,2) port 2; S_3_1_0 (3,1) port 3; S_3_3_0 (3,3) port 4"\r\n');
	assert.strictEqual(buttons, tables);
	assert.strictEqual(await page.evaluate(() => {
		const body = [element("tr", {}, element("td", { text: "=1+2" }),
			element("td", { text: "1,234" }), element("td", { text: 'a "b"' }))];

		return csvText(["Name", "#Pairs", "What"], body);
	}), '"Name","Pairs","What"\r\n"\'=1+2","1234","a ""b"""\r\n');
	await closed(page);
	fs.cpSync(path.join(T, "hurt"), path.join(T, "unnamed"), { recursive: true });
	fs.rmSync(path.join(T, "unnamed", "dateline-manifest.txt"));
	dateline("report", "unnamed", "-o", "unnamed.html");
	const plain = await opened("unnamed.html");
	assert((await textOf(plain, "#subtitle")).includes("an engine that the snapshot does not name"));
	await closed(plain);
});

test("4x4x4: planes in each direction, and the view that turns", async () => {
	const s = snapshot("cube", ["4", "4", "4", "--fail-switch", "1,1,1", "--fail-link",
		"2,2,2:+z", "--scramble", "5"], ["--multicast", "all"]);

	dateline("report", "cube", "-o", "cube.html");
	const page = await opened("cube.html");
	const names = s.switches.map((n) => n.name);
	await agreeOnPaths(page, s);
	await agreeOnLoad(page, s);
	for (let layout = 0; layout < 4; layout++) {
		await page.select("#layout", String(layout));
		if (layout === 3) {
			const box = await (await page.$("#canvas")).boundingBox();

			await page.mouse.move(box.x + 40, box.y + 40);
			await page.mouse.down();
			await page.mouse.move(box.x + 140, box.y + 60, { steps: 4 });
			await page.mouse.up();
		}
		await settled(page);
		// Only switches that nothing hides can be clicked in the turned view.
		const free = await page.evaluate((list) => list.filter((n) => {
			const e = ends.name.indexOf(n), at = hit(pointX[e], pointY[e]);

			return at && at.sw === e;
		}), names);
		assert(layout === 3 ? free.length > 20 : free.length === names.length);
		const [a, b] = [free[random(free.length - 1)], free.at(-1)];
		const host = async (n) => page.evaluate((name) =>
			ends.name[endOfSwitch(ends.name.indexOf(name))], n);
		const [from, to] = [await host(a), await host(b)];
		await page.click("#clear");
		for (const n of [a, b]) {
			const at = await page.evaluate((name) => {
				const e = ends.name.indexOf(name), r = canvas.getBoundingClientRect();

				return [r.left + pointX[e], r.top + pointY[e]];
			}, n);
			await page.mouse.click(...at);
		}
		const end = (n) => ({ port: 1, node: [...s.nodes.values()].find((x) =>
			x.name === n) });
		const shown = await pathShown(page, from, to);
		const expected = expectedPath(s, end(from), end(to));
		// Scrambled names say nothing of coordinates.
		for (const list of [shown, expected])
			list.forEach((r) => { r[2] = ""; });
		samePath(shown, expected);
		await shoot(page, `cube-${layout}`);
	}
	await page.select("#layout", "0");
	await page.select("#plane", "1");
	await shoot(page, "cube-plane");
	await closed(page);
});

test("parallel cables, an open dimension, several hosts", async () => {
	const s = snapshot("mesh", ["4", "3", "1", "--mesh", "x", "--parallel", "2",
		"--hosts", "3", "--fail-link", "1,1,0:+y"]);

	dateline("report", "mesh", "-o", "mesh.html");
	const page = await opened("mesh.html");
	await agreeOnPaths(page, s);
	await agreeOnLoad(page, s);
	await shoot(page, "mesh");
	await closed(page);
});

test("a ring, a line, the smallest torus, no adapters, many", async () => {
	for (const [name, title, ...gen] of [["single", "single switch", "1", "1", "1", "--hosts",
		"3"], ["ring", "ring of 8", "8", "1", "1"],
		["line", "line of 5", "5", "1", "1", "--mesh", "x"], ["least", "2\u00d72 torus", "2", "2", "1"],
		["bare", "4\u00d73 torus", "4", "3", "1", "--hosts", "0"],
		["many", "3\u00d73 torus", "3", "3", "1", "--hosts", "20"]]) {
		const s = snapshot(name, gen);

		dateline("report", name, "-o", `${name}.html`);
		const page = await opened(`${name}.html`, { width: 390, height: 844 });
		assert.strictEqual((await textOf(page, "#subtitle")).split(";")[0],
			`Dateline report: ${title}`);
		assert(await page.evaluate(() => document.documentElement.scrollWidth <= 390));
		await agreeOnPaths(page, s);
		await agreeOnLoad(page, s);
		await agreeOnTiles(page, s, JSON.parse(output("verify", name, "--json")));
		const [a, b] = [endPorts(s)[0], endPorts(s).at(-1)];
		await type(page, "#from", String(a.node.lids.get(a.port)));
		await type(page, "#to", String(b.node.lids.get(b.port)));
		samePath(await pathShown(page, a.node.name, b.node.name), expectedPath(s, a, b));
		await shoot(page, name);
		await closed(page);
	}
});

test("several LIDs of an adapter: each has its own path", async () => {
	const s = snapshot("lmc", ["4", "4", "1", "--parallel", "2"], ["--lmc", "1"]);
	const at = (name) => ({ port: 1, node: [...s.nodes.values()]
		.find((n) => n.name === name) });
	const [a, b] = [at("H_0_0_0_1"), at("H_2_1_0_1")];
	const base = b.node.lids.get(1);

	dateline("report", "lmc", "-o", "lmc.html");
	const page = await opened("lmc.html");
	await agreeOnPaths(page, s);
	await agreeOnLoad(page, s);
	await agreeOnTiles(page, s, JSON.parse(output("verify", "lmc", "--json")));
	await clickAt(page, a.node.name);
	await clickAt(page, b.node.name);
	for (const lid of [base, base + 1]) {
		await page.select("#lid", String(lid - base));
		await page.waitForFunction((l) => byId("path-result").innerText
			.includes(`to LID ${l};`), {}, lid);
		samePath(await pathShown(page, a.node.name, b.node.name),
			expectedPath(s, a, b, lid));
	}
	await closed(page);
});

test("no coordinates: a ring, and it says so", async () => {
	const s = snapshot("plain", ["4", "4", "1"]);
	const dir = path.join(T, "plain");

	// Three odd cables, and no list of places: a torus no more.
	fs.rmSync(path.join(dir, "dateline-torus.dump"));
	fs.rmSync(path.join(dir, "dateline-manifest.txt"));
	const net = fs.readFileSync(path.join(dir, "dateline.net"), "utf8");
	const odd = [["S_0_0_0", "S_2_2_0"], ["S_1_0_0", "S_3_1_0"], ["S_0_3_0", "S_2_1_0"]];
	fs.writeFileSync(path.join(dir, "dateline.net"), net.split("\n").map((line) => {
		const m = /^Switch\s+\d+ "(\S+)"/.exec(line);
		const pair = m && odd.find((p) => p.includes(m[1]));

		return pair ? `${line}\n[20]\t"${pair[pair[0] === m[1] ? 1 : 0]}"[20]` : line;
	}).filter((line) => !/"S_(0_0|1_2|3_3)_0"\[1\]|^\[1\]\t"S_(1_0|2_2|0_3)_0"/.test(line))
		.join("\n"));
	fs.rmSync(path.join(dir, "dateline-psl.dump"));
	const done = attempt("report", "plain", "-o", "plain.html");
	assert.strictEqual(done.status, 0, done.stderr);
	const page = await opened("plain.html");
	assert.strictEqual(await page.evaluate(() => view.layout), "ring");
	assert.match(await page.$eval("#missing", (e) => e.innerText), /No coordinates are known/);
	assert.strictEqual(await page.evaluate(() => nswitches), s.switches.length);
	// Without path SLs there is a way, but nobody knows its VLs.
	await clickAt(page, "H_3_0_0_1");
	await clickAt(page, "H_2_3_0_1");
	const shown = await pathShown(page, "H_3_0_0_1", "H_2_3_0_1");
	assert.strictEqual(shown[0].length, 6);
	// The numbers of the picture.
	const place = await page.evaluate((n) => ends.name.indexOf(n) + 1, shown[1][1]);
	assert.strictEqual(shown[1][2], `(${place})`);
	assert.match(await page.$eval("#path-result", (e) => e.innerText),
		/Delivered.*path SL is not known/);
	await shoot(page, "plain");
	await closed(page);
});

test("a switch without a place in the grid", async () => {
	const s = snapshot("some", ["4", "3", "1"]);
	const file = path.join(T, "some", "dateline-torus.dump");

	fs.writeFileSync(file, fs.readFileSync(file, "utf8").split("\n")
		.filter((line) => !line.startsWith("switch 1,1,0")).join("\n"));
	fs.rmSync(path.join(T, "some", "dateline-manifest.txt"));
	dateline("report", "some", "-o", "some.html");
	const page = await opened("some.html");
	const text = await page.$eval("#missing", (e) => e.innerText);
	assert.match(text, /1 missing switch/);
	assert.match(text, /Switch without a place in the grid\s+S_1_1_0/);
	await agreeOnPaths(page, s);
	await clickAt(page, "S_1_1_0");
	await clickAt(page, "S_3_2_0");
	await pathShown(page, "H_1_1_0_1", "H_3_2_0_1");
	await shoot(page, "some");
	await closed(page);
});

test("names that look like markup stay text", async () => {
	snapshot("odd", ["3", "3", "1"]);
	const file = path.join(T, "odd", "dateline.net");
	const name = "</script><img src=x onerror=alert(1)>&amp;'";

	fs.unlinkSync(path.join(T, "odd", "dateline-manifest.txt"));
	// One of them in another character set than the page's.
	fs.writeFileSync(file, fs.readFileSync(file, "latin1")
		.replace(/# "H_0_0_0_1"\n/, `# "${name}"\n`)
		.replace(/# "H_2_0_0_1"\n/, `# "${Buffer.from("H\u00f6st \u65e5").toString("latin1")}"\n`)
		.replace(/# "H_1_0_0_1"\n/, "# \"H\u00f6st\"\n"), "latin1");
	dateline("report", "odd", "--title", "<b>&", "-o", "odd.html");
	const page = await opened("odd.html");
	assert.strictEqual(await page.$eval("#title", (e) => e.textContent), "<b>&");
	assert(await page.evaluate((n) => ends.name.includes(n), name));
	assert(await page.evaluate(() => ends.name.includes("H?st")));
	assert(await page.evaluate(() => ends.name.includes("H\u00f6st \u65e5")));
	await type(page, "#from", name);
	await type(page, "#to", "2,2");
	await pathShown(page, name, "S_2_2_0");
	await closed(page);
});

require("./looks.js")(test);

test("a page is the same every time, and opens without its tables", async () => {
	dateline("report", "grid", "-o", "again.html");
	const [a, b] = ["grid.html", "again.html"].map((f) => fs.readFileSync(path.join(T, f)));
	const page = await opened("grid.html");

	assert(a.equals(b));
	assert.deepStrictEqual(await page.evaluate(() => Object.keys(unpacked)), []);
	await closed(page);
});

test("wrong input is refused with a reason", () => {
	const refused = (pattern, ...args) => {
		const done = attempt("report", ...args);

		assert.strictEqual(done.status, 2, done.stderr);
		assert.match(done.stderr, pattern);
		assert(!fs.existsSync(path.join(T, "x.html")));
	};

	fs.writeFileSync(path.join(T, "broken.json"), "{\n\"qos\": [,]}");
	fs.writeFileSync(path.join(T, "other.json"), "{\"packets\": []}");
	refused(/which snapshot/, "-o", "x.html");
	refused(/-o FILE is needed/, "grid");
	refused(/nowhere: No such file/, "nowhere", "-o", "x.html");
	refused(/nowhere: No such file/, "grid", "--earlier", "nowhere", "-o", "x.html");
	refused(/broken.json:2: /, "grid", "--emulation", "broken.json", "-o", "x.html");
	refused(/emulate --json/, "grid", "--emulation", "other.json", "-o", "x.html");
	// Some of its ports are not there; it lacks some.
	refused(/no such port.*another fabric/, "hurt", "--emulation", "mix.json", "-o", "x.html");
	refused(/168 ports.* 240 with.*another fabric/, "grid", "--emulation", "run.json", "-o",
		"x.html");
	const full = attempt("report", "grid", "-o", "/dev/full");
	assert.strictEqual(full.status, 3);
	assert.match(full.stderr, /cannot write .*full: No space left on device/);
	// What is no file is not removed; a link is replaced, and not followed.
	assert(fs.lstatSync("/dev/full").isCharacterDevice());
	fs.symlinkSync("elsewhere.html", path.join(T, "link.html"));
	assert.strictEqual(attempt("report", "grid", "-o", "link.html").status, 0);
	assert(fs.lstatSync(path.join(T, "link.html")).isFile());
	assert(!fs.existsSync(path.join(T, "elsewhere.html")));
});

test("the dashboard is what Grafana's types say", () => require("../metrics/dashboard.js"));

// ---- all of them

async function main() {
	let failed = 0;

	console.log(`1..${cases.length}`);
	console.log(`# DATELINE_SEED=${SEED}`);
	await launch();
	for (const [i, { name, run }] of cases.entries()) {
		try {
			await run();
			console.log(`ok ${i + 1} ${name}`);
		} catch (error) {
			failed++;
			console.log(`not ok ${i + 1} ${name}`);
			console.log(String(error.stack).replace(/^/gm, "# "));
		}
	}
	return failed;
}

main().catch((error) => {
	console.log(`Bail out! ${error.message}`);
	return 1;
}).then(async (failed) => {
	await close();
	process.exitCode = failed ? 1 : 0;
});

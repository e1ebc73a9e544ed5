// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// usage: node make.js FOLDER        (by `make pictures`)
//
// The pictures of README.md, from what the command itself prints: a fabric with
// a failed switch, the same traffic over the tables of torus-2QoS's rules and
// over those of proven mode, recorded and played, and the report of a larger one.
"use strict";

const fs = require("fs");
const path = require("path");
const { T, dateline, attempt, opened, closed, settled, launch, close } =
	require("../../test/report/browser.js");

const TOP = process.env.DATELINE_TOP;
const TO = path.resolve(process.argv[2]);

async function shootPart(page, selector, name) {
	await settled(page);
	await (await page.$(selector)).screenshot({ path: path.join(TO, name) });
	await closed(page);
}

// The deadlock and its cure, when the ring has frozen.
async function deadlock() {
	const scenario = fs.readFileSync(path.join(TOP, "conf/examples/emulate-record.yaml"), "utf8");
	const modes = { classic: "torus-2QoS", proven: "Dateline" };

	dateline("gen", "6", "5", "--fail-switch", "3,2,0", "-o", "hurt");
	for (const [mode, name] of Object.entries(modes)) {
		dateline("route", "hurt.net", "--torus-config", "hurt.torus.conf", "--mode", mode,
			"--multicast", "all", "-o", mode);
		fs.writeFileSync(path.join(T, "record.yaml"), scenario.replace(/^record: .*/m, `record: ${name}`));
		attempt("emulate", mode, "--scenario", "record.yaml");
	}
	dateline("report", "classic", ...Object.values(modes).flatMap((name) =>
		["--recording", name]), "-o", "film.html");
	const page = await opened("film.html", { width: 1100, height: 900 });
	await page.evaluate(() => seek(player.from + 0.95 * (player.until - player.from)));
	await shootPart(page, "#player", "deadlock.png");
}

async function report() {
	dateline("gen", "8", "8", "4", "--hosts", "2", "--fail-switch", "5,2,1", "--fail-link",
		"1,6,0:+x", "-o", "cluster");
	dateline("route", "cluster.net", "--torus-config", "cluster.torus.conf", "--multicast",
		"all", "-o", "cluster");
	dateline("report", "cluster", "--title", "cluster", "-o", "cluster.html");
	const page = await opened("cluster.html", { width: 1300, height: 820 });
	await settled(page);
	await page.screenshot({ path: path.join(TO, "report.png") });
	await closed(page);
}

launch().then(deadlock).then(report).then(close).catch(async (error) => {
	console.error(error);
	await close();
	process.exitCode = 1;
});

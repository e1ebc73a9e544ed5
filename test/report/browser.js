// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The browser, snapshots and pages for the tests of `dateline report`, and
// what a person does with them.
"use strict";

const assert = require("assert");
const { execFileSync, spawnSync } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");
const puppeteer = require("puppeteer-core");
const { readSnapshot } = require("./snapshot.js");

const DATELINE = process.env.DATELINE;
const PATIENCE_MS = 60000;
const T = fs.mkdtempSync(path.join(os.tmpdir(), "dateline-report-"));
const SHOTS = process.env.DATELINE_SHOTS || T;
const SEED = Number(process.env.DATELINE_SEED || process.env.DATELINE_LIVE_SEED ||
	Math.floor(Math.random() * 1e6));

// ---- snapshots and pages

let state = SEED;
function random(n) {
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
	return Math.floor(state / 2 ** 32 * n);
}

function dateline(...args) {
	return execFileSync(DATELINE, args, { cwd: T, encoding: "utf8",
		stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 });
}

// Whatever becomes of it.
function attempt(...args) {
	return spawnSync(DATELINE, args, { cwd: T, encoding: "utf8", maxBuffer: 1 << 28 });
}

// Also for commands that report a finding.
function output(...args) {
	const done = attempt(...args);

	assert(done.status === 0 || done.status === 1, done.stderr);
	return done.stdout;
}

function snapshot(name, gen, route = []) {
	dateline("gen", ...gen, "-o", name);
	dateline("route", `${name}.net`, "--torus-config", `${name}.torus.conf`, ...route,
		"-o", name);
	return readSnapshot(path.join(T, name));
}

let browser = null;

// Open a report; whatever the page complains about, or asks the network for,
// is an error.
async function opened(file, options = {}) {
	const page = await browser.newPage();

	page.complaints = [];
	page.on("console", (m) => page.complaints.push(`console: ${m.text()}`));
	page.on("pageerror", (e) => page.complaints.push(`error: ${e.message}`));
	page.on("requestfailed", (r) => page.complaints.push(`failed: ${r.url()}`));
	page.on("request", (r) => {
		if (!/^(file|data|blob):/.test(r.url()) || (r.url().startsWith("file:") &&
			r.url() !== `file://${T}/${file}`))
			page.complaints.push(`request: ${r.url()}`);
	});
	page.setDefaultTimeout(PATIENCE_MS);
	await page.setViewport({ width: options.width || 1400, height: options.height || 1000 });
	await page.emulateMediaFeatures([{ name: "prefers-color-scheme",
		value: options.scheme || "light" }]);
	await page.goto(`file://${T}/${file}`, { waitUntil: "load" });
	await settled(page);
	return page;
}

async function closed(page) {
	await settled(page);
	assert.deepStrictEqual(page.complaints, []);
	await page.close();
}

// Two frames later everything is drawn.
const settled = (page) => page.evaluate(() => new Promise((done) =>
	requestAnimationFrame(() => requestAnimationFrame(done))));

async function shoot(page, name) {
	await settled(page);
	const file = path.join(SHOTS, `${name}.png`);
	await page.screenshot({ path: file });
	assert(fs.statSync(file).size > 10000);
}

// ---- what a person does

async function clickAt(page, name) {
	const at = await page.evaluate((n) => {
		const e = ends.name.indexOf(n), box = canvas.getBoundingClientRect();
		const [x, y] = endPlace(e);

		return [box.left + x, box.top + y];
	}, name);

	await page.mouse.click(...at);
}

async function type(page, box, string) {
	await page.click(box, { count: 3 });
	await page.type(box, string);
	await page.keyboard.press("Enter");
}

// The table below a heading, as rows of text.
const rows = (page, selector) => page.$$eval(`${selector} tbody tr`, (list) =>
	list.map((tr) => [...tr.cells].map((td) => td.innerText.trim())));

async function pathShown(page, from, to) {
	await page.waitForFunction((a, b) => {
		const caption = document.querySelector("#path-result caption");

		return caption && caption.textContent.startsWith(a) &&
			caption.textContent.includes(`to ${b}`);
	}, {}, from, to);
	return rows(page, "#path-result");
}

// Chromium's own requests to the network at its start are disabled, so that a
// start depends on this machine alone; a busy machine may need minutes.
async function launch() {
	browser = await puppeteer.launch({
		executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
		headless: true, timeout: 5 * PATIENCE_MS, protocolTimeout: 5 * PATIENCE_MS,
		args: ["--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
			"--disable-background-networking", "--disable-component-update",
			"--disable-sync", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])] });
}

async function close() {
	if (browser)
		await browser.close();
	fs.rmSync(T, { recursive: true, force: true });
}

module.exports = { T, SHOTS, SEED, random, dateline, attempt, output, snapshot, opened, closed,
	settled, shoot, clickAt, type, rows, pathShown, launch, close };

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Small charts as SVG: distributions, shares, lines.

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, ...children) {
	const e = document.createElementNS(SVG, tag);

	for (const [name, value] of Object.entries(attributes || {}))
		if (name === "text")
			e.textContent = value;
		else
			e.setAttribute(name, value);
	e.append(...children);
	return e;
}

// As wide as the panels, so that letters keep their size on a narrow display.
const CHART = { width: Math.max(270, Math.min(560, byId("panels").clientWidth - 40)),
	height: 210, left: 56, right: 30, top: 12, bottom: 34 };

// The next round number.
function roundUp(n) {
	const power = 10 ** Math.floor(Math.log10(n));

	return [1, 2, 5, 10].find((m) => m * power >= n * (1 - 1e-9)) * power;
}

// Round numbers that part [low, high].
function ticks(low, high, n) {
	const unit = roundUp((high - low || 1) / n), list = [];

	for (let k = Math.ceil(low / unit - 1e-9); k * unit <= high + unit * 1e-9; k++)
		list.push(k * unit || 0);	// never -0
	return list;
}

function logTicks(low, high, n) {
	const list = [];

	for (let p = Math.floor(Math.log10(low)); p <= Math.log10(high) + 1; p++)
		for (const m of [1, 2, 5])
			if (m * 10 ** p >= low && m * 10 ** p <= high)
				list.push(m * 10 ** p);
	return list.length > n ? list.filter((v) => Number.isInteger(
		Math.round(Math.log10(v) * 1e6) / 1e6)) : list;
}

// Axes and lines.  `lines` are [{points: [[x, y]], colour, dash, title}].
function lineChart(title, lines, x, y) {
	const c = CHART, w = c.width - c.left - c.right, h = c.height - c.top - c.bottom;
	const place = (v, axis) => (axis.log ?
		(Math.log(v) - Math.log(axis.low)) / (Math.log(axis.high) - Math.log(axis.low) || 1) :
		(v - axis.low) / (axis.high - axis.low || 1));
	const px = (v) => c.left + w * place(v, x), py = (v) => c.top + h * (1 - place(v, y));
	const g = svg("svg", { viewBox: `0 0 ${c.width} ${c.height}`, class: "chart",
		role: "img", "aria-label": title });

	for (const v of y.ticks || ticks(y.low, y.high, 5)) {
		g.append(svg("path", { class: "axis", d: `M${c.left} ${py(v)}h${w}` }));
		g.append(svg("text", { x: c.left - 6, y: py(v) + 4, "text-anchor": "end",
			text: y.text(v) }));
	}
	for (const v of (x.log ? logTicks : ticks)(x.low, x.high, Math.floor(w / 48))) {
		g.append(svg("path", { class: "axis", d: `M${px(v)} ${c.top + h}v4` }));
		g.append(svg("text", { x: px(v), y: c.top + h + 16, "text-anchor": "middle",
			text: x.text(v) }));
	}
	g.append(svg("text", { x: c.left + w / 2, y: c.height - 4,
		"text-anchor": "middle", text: x.title }));
	for (const line of lines) {
		const d = line.points.map(([a, b], i) =>
			`${i ? "L" : "M"}${px(a).toFixed(1)} ${py(b).toFixed(1)}`).join("");

		g.append(svg("path", { d, fill: "none", stroke: line.colour,
			"stroke-width": 2, "stroke-linejoin": "round",
			"stroke-dasharray": line.dash || "none" },
		svg("title", { text: line.title })));
	}
	return g;
}

// How often each value occurs, in some twenty steps.
function barChart(title, values, colours, xTitle) {
	const c = CHART, w = c.width - c.left - c.right, h = 150 - c.top - c.bottom;
	const most = values.reduce((a, b) => Math.max(a, b), 0);
	const step = Math.max(1, roundUp((most + 1) / 24));
	const bins = new Array(Math.floor(most / step) + 1).fill(0);

	for (const v of values)
		bins[Math.floor(v / step)]++;
	const unit = Math.max(1, roundUp(Math.max(1, ...bins) / 3));
	const top = unit * Math.ceil(Math.max(1, ...bins) / unit), each = w / bins.length;
	const named = [1, 2, 5, 10].find((n) => bins.length / n * 50 < w) || 20;
	const g = svg("svg", { viewBox: `0 0 ${c.width} 150`, class: "chart",
		role: "img", "aria-label": title });
	for (let v = 0; v <= top; v += unit) {
		const y = c.top + h * (1 - v / top);

		g.append(svg("path", { class: "axis", d: `M${c.left} ${y}h${w}` }));
		g.append(svg("text", { x: c.left - 6, y: y + 4, "text-anchor": "end",
			text: count(v) }));
	}
	bins.forEach((n, i) => {
		const range = step > 1 ? `${count(i * step)} to ${count(i * step + step - 1)}` :
			count(i);

		if (n)
			g.append(svg("rect", { x: c.left + i * each + 0.5,
				y: c.top + h * (1 - n / top), width: Math.max(1, each - 1),
				height: h * n / top,
				fill: colours[classOf(i * step, most || 1)],
				stroke: "var(--node-line)", "stroke-width": 0.5 },
			svg("title", { text: `${range}: ${count(n)}` })));
		if (i % named === 0)
			g.append(svg("text", { x: c.left + (step > 1 ? i : i + 0.5) * each,
				y: c.top + h + 15,
				"text-anchor": "middle", text: count(i * step) }));
	});
	g.append(svg("text", { x: c.left + w / 2, y: 146, "text-anchor": "middle",
		text: xTitle }));
	return g;
}

// One bar, in two parts: [{name, value, text, fill}].
function shareBar(title, parts) {
	const total = parts.reduce((a, p) => a + p.value, 0);
	const g = svg("svg", { viewBox: `0 0 ${CHART.width} 44`, class: "chart", role: "img",
		"aria-label": title });
	let x = 0;

	parts.forEach((p, i) => {
		const w = total ? CHART.width * p.value / total : 0;

		g.append(svg("rect", { x, y: 2, width: Math.max(0, w - 1.5), height: 22,
			fill: p.fill, stroke: "var(--node-line)", "stroke-width": 0.7 },
		svg("title", { text: `${p.name}: ${p.text}` })));
		g.append(svg("text", { x: i && CHART.width, y: 38, text: `${p.name}: ${p.text}`,
			"text-anchor": i ? "end" : "start" }));
		x += w;
	});
	return g;
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// conf/dateline.grafana.json as Grafana's published types want it (npm package
// @grafana/schema): no key that they do not have, no value of another type.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const ts = require("typescript");

const file = path.join(process.env.DATELINE_TOP, "conf/dateline.grafana.json");
const types = path.join(path.dirname(require.resolve("@grafana/schema/package.json")),
	"dist/types/raw");

// The types have enums where a file has their values; Grafana adds its defaults to
// a panel's options.
const PRELUDE = `
import type { Dashboard } from "${types}/dashboard/x/types.gen";
import type * as stat from "${types}/composable/stat/panelcfg/x/types.gen";
import type * as timeseries from "${types}/composable/timeseries/panelcfg/x/types.gen";
type Plain<T> = T extends string ? \`\${T}\` : T extends number | boolean ? T :
	T extends (infer U)[] ? Plain<U>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
`;

function faults(dashboard) {
	const lines = [PRELUDE, `const d: Plain<Dashboard> = ${JSON.stringify(dashboard)};`];

	for (const p of dashboard.panels) {
		if (p.options)
			lines.push(`const o${p.id}: Partial<Plain<${p.type}.Options>> = ${JSON.stringify(p.options)};`);
		if (p.fieldConfig?.defaults.custom)
			lines.push(`const c${p.id}: Partial<Plain<${p.type}.FieldConfig>> = ` +
				`${JSON.stringify(p.fieldConfig.defaults.custom)};`);
	}
	const source = ts.createSourceFile("d.ts", lines.join("\n"), ts.ScriptTarget.ES2022, true);
	const options = { noEmit: true, strict: true, skipLibCheck: true, types: [],
		target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS,
		moduleResolution: ts.ModuleResolutionKind.Node10 };
	const host = ts.createCompilerHost(options), read = host.getSourceFile;
	host.getSourceFile = (name, ...rest) => (name === "d.ts" ? source : read(name, ...rest));
	return ts.getPreEmitDiagnostics(ts.createProgram(["d.ts"], options, host))
		.map((d) => ts.flattenDiagnosticMessageText(d.messageText, "\n"));
}

const dashboard = JSON.parse(fs.readFileSync(file, "utf8"));
// Keys of the data source's own, which no type of Grafana's names.
for (const annotation of dashboard.annotations.list)
	for (const key of ["expr", "titleFormat"])
		assert(delete annotation[key]);
assert.deepStrictEqual(faults(dashboard), []);
// What is wrong is found.
for (const spoil of [(d) => { d.stray = 1; }, (d) => { d.panels[1].gridPos.w = "24"; },
	(d) => { d.panels.find((p) => p.options?.textMode).options.textMode = "none of them"; }]) {
	const wrong = structuredClone(dashboard);

	spoil(wrong);
	assert.strictEqual(faults(wrong).length, 1);
}

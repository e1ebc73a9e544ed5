/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The document of `dateline diff` for people. */
#include <string.h>

#include "diff.h"

#define FEW 20
#define FEW_LIDS 5 /* more LIDs have moved together: a line for all; also of destinations */
#define LID                                                                            \
	"LID of {guid} \"{name}\" port {port}: {old} (LMC {old_lmc}), now {new} (LMC " \
	"{new_lmc})"

/* Up to `few` items of a list by a template; the rest are counted. */
static void print_list(FILE *to, const json_t *list, size_t few, const char *sign,
		       const char *template)
{
	size_t i, n = json_array_size(list);
	const json_t *item;

	json_array_foreach(list, i, item)
	{
		if (i == few) {
			fprintf(to, "%s and %zu more: see --json\n", sign, n - i);
			return;
		}
		fprintf(to, "%s ", sign);
		tool_print(to, item, template);
		putc('\n', to);
	}
}

static const struct {
	const char *name, *whole, *changed; /* templates */
} lists[] = {
	{ "switches", "switch {guid} \"{name}\"", "switch {guid}: \"{old}\" is now \"{new}\"" },
	{ "adapters", "adapter {guid} \"{name}\"", "adapter {guid}: \"{old}\" is now \"{new}\"" },
	{ "cables", "cable \"{from.name}\" port {from.port} to \"{to.name}\" port {to.port}",
	  "cable \"{from.name}\" port {from.port} to \"{to.name}\" port {to.port}: {old}, now "
	  "{new}" },
	{ "lids", "", LID },
	{ "coordinates", "", "switch {guid} \"{name}\": ({old}), now ({new})" },
	{ "multicast", "{}", "multicast group {mlid}: {switches#switch/es}" },
};

static const struct {
	const char *name, *text;
} counts[] = {
	{ "path_sls", "path SLs" },
	{ "forwarding", "forwarding entries" },
	{ "sl2vl", "SL-to-VL maps of port pairs" },
	{ "vl_arbitration", "VL arbitration tables" },
	{ "vl_high_limits", "VLHighLimits" },
};

static void print_counts(const json_t *document, FILE *to)
{
	/* Other coordinates change the routes to all. */
	bool axes = json_array_size(tool_at(document, "coordinates.axes"));

	for (unsigned int i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		const json_t *part = tool_at(document, counts[i].name);

		if (!tool_int_at(part, "compared"))
			fprintf(to, "? %s: not compared, one side has none\n", counts[i].text);
		else if (tool_int_at(part, "changed"))
			fprintf(to, "~ %s: %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT "\n",
				counts[i].text, tool_int_at(part, "changed"),
				tool_int_at(part, "compared"));
		print_list(to, axes ? NULL : tool_at(part, "destinations"), FEW_LIDS, "~  ",
			   "{changed:6} to LID {lid} \"{name}\"");
	}
	if (!tool_int_at(document, "coordinates.compared"))
		fprintf(to,
			"? coordinates: not compared, one side has none, or only its cabling's\n");
}

static void print_changed(FILE *to, const json_t *list, const char *template)
{
	size_t n = json_array_size(list);

	if (strcmp(template, LID) || n <= FEW_LIDS) {
		print_list(to, list, FEW, "~", template);
		return;
	}
	fprintf(to,
		"~ %zu end ports have other LIDs, which counts as no difference of tables, such "
		"as\n~   ",
		n);
	tool_print(to, json_array_get(list, 0), LID "\n");
}

/* Does one line stand for all coordinates? */
static bool print_axes(const json_t *part, FILE *to)
{
	tool_print(to, part,
		   "{?axes}~ coordinates: what was (x,y,z) is now ({axes}), at all switches\n{/}");
	return json_array_size(tool_at(part, "axes"));
}

void diff_print(const json_t *document, FILE *to)
{
	for (unsigned int i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		const json_t *part = tool_at(document, lists[i].name);
		bool groups = !strcmp(lists[i].name, "multicast");

		print_list(to, tool_at(part, "removed"), FEW, groups ? "- multicast group" : "-",
			   lists[i].whole);
		print_list(to, tool_at(part, "added"), FEW, groups ? "+ multicast group" : "+",
			   lists[i].whole);
		if (!print_axes(part, to))
			print_changed(to, tool_at(part, "changed"), lists[i].changed);
	}
	print_counts(document, to);
	fputs(tool_true_at(document, "same") ? "no difference\n" : "", to);
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The document of `dateline path` for people. */
#include "path.h"

/* Templates of what stands at a key `p`, such as "from.": an end port, a node, a cable. */
#define NAME(p) "{?" p "coord}({" p "coord}) {/}\"{" p "name}\""
#define END(p) "\"{" p "name}\"{?" p "coord} ({" p "coord}){/} port {" p "port} (LID {" p "lid})"
#define CABLE_AT(p)     \
	NAME(p "from.") \
	" port {" p "from.port} to " NAME(p "to.") " port {" p "to.port}"
#define CABLE CABLE_AT("")
#define THROUGH CABLE_AT("cable.")
#define NEAR NAME("from.") " port {from.port}"
#define ABOVE_LIMIT "  " CABLE "\n    {why}{?reason}: {reason}{/}\n"

/* "PortXmitWait 500, SymbolErrorCounter 5" */
static void print_counters(const json_t *counters, FILE *to)
{
	const char *name, *comma = "";
	const json_t *value;

	json_object_foreach((json_t *)counters, name, value)
	{
		fprintf(to, "%s%s %" JSON_INTEGER_FORMAT, comma, name, json_integer_value(value));
		comma = ", ";
	}
	if (!*comma)
		fputs(counters && json_is_object(counters) ? "all counters 0" : "no counters known",
		      to);
}

/* Both ends of a cable, unless neither is known or has counted anything. */
static void print_ends(const json_t *counters, const char *indent, FILE *to)
{
	static const char *const ends[] = { "out", "in" };

	for (unsigned int e = 0; counters && e < 2; e++) {
		fprintf(to, "%s%-3s ", indent, ends[e]);
		print_counters(tool_at(counters, ends[e]), to);
		putc('\n', to);
	}
}

static void print_path(const json_t *path, FILE *to)
{
	const json_t *hop, *hops = tool_at(path, "hops");
	size_t i;

	tool_print(to, path, "from " END("from.") "\n  to " END("to.") " at LID {lid}, SL {sl}");
	if (tool_has(path, "path_sl") && !json_equal(tool_at(path, "sl"), tool_at(path, "path_sl")))
		tool_print(to, path, "; the path's is {path_sl}");
	fputc('\n', to);
	json_array_foreach(hops, i, hop)
	{
		tool_print(to, hop,
			   "  in {in:3}  out {out:3}  VL {vl:2}  {speed:-7}  " NAME("") "\n");
		print_ends(tool_at(hop, "counters"), "                                  ", to);
	}
	tool_print(to, path, "{!reason}  arrives\n{/}{?reason}  does not arrive: {reason}\n{/}");
}

static void print_multicast(const json_t *m, FILE *to)
{
	const json_t *hop;
	size_t i;

	tool_print(to, m, "from " END("from.") "\n  to multicast group {mlid}, SL {sl}\n");
	json_array_foreach(tool_at(m, "hops"), i, hop)
	{
		fprintf(to, "  %*s", 2 * (int)tool_int_at(hop, "depth"), "");
		tool_print(to, hop, NAME("") ": in {in}, out{*out} {port}{?vl} (VL {vl}){/}{/}\n");
	}
	tool_print(to, m, "{*members}  arrives at " END("") "\n{/}{?reason}  fault: {reason}\n{/}");
}

/* Cables: with errors, by the worst kind; with the share of all waiting; others. */
static void print_cables(const json_t *cables, FILE *to)
{
	const json_t *cable;
	size_t i;

	json_array_foreach(cables, i, cable)
	{
		tool_print(to, cable,
			   "  {?kind}{kind:-9} {?per_hour} {per_hour:0.2} an hour {/} {/}");
		if (tool_has(cable, "share"))
			fprintf(to, "%5.1f %%", 100 * json_number_value(tool_at(cable, "share")));
		if (tool_has(cable, "predicted_share"))
			fprintf(to, " (predicted %.1f %%)",
				100 * json_number_value(tool_at(cable, "predicted_share")));
		tool_print(to, cable,
			   "{?share}  {/}{?to}" CABLE "{/}{!to}" NEAR ", no cable{/}"
			   "{?flows}, {flows#path}{/}{?host}, the cable of {host}{/}\n");
		print_ends(tool_at(cable, "counters"), "    ", to);
		tool_print(to, cable, "{*jobs}    job {job}, {flows#path}\n{/}");
	}
}

static void print_errors(const json_t *errors, FILE *to)
{
	fputs(json_array_size(errors) ? "cables with errors, worst first:\n" :
					"no cable has errors\n",
	      to);
	print_cables(errors, to);
}

static void print_fabric(const json_t *fabric, FILE *to)
{
	tool_print(to, fabric,
		   "counters of {ports#port}{?hours}, since {hours:0.2} hours before{/}\n");
	print_errors(tool_at(fabric, "errors"), to);
	tool_print(to, fabric,
		   "{?proposed}proposed to be taken out of use:\n{*proposed}" ABOVE_LIMIT "{/}{/}"
		   "{?not_proposed}above a limit, and not proposed:\n{*not_proposed}" ABOVE_LIMIT
		   "{/}{/}"
		   "{?waiting}congestion: packets discarded, then share of all waiting, most "
		   "first:\n{/}"
		   "{!waiting}no congestion: no port waited to send\n{/}");
	print_cables(tool_at(fabric, "waiting"), to);
	tool_print(to, fabric, "{?other}errors that other cables, switches or hosts cause:\n{/}");
	print_cables(tool_at(fabric, "other"), to);
}

static void print_job(const json_t *job, FILE *to)
{
	const json_t *cable;
	size_t i;

	tool_print(to, job,
		   "{end_ports#end port}, {pairs#pair}, {undelivered} undelivered; {hops_mean:0.2} "
		   "hops between switches on average\n");
	json_array_foreach(tool_at(job, "cables"), i, cable)
	{
		tool_print(to, cable, "{flows:8}  " CABLE "\n");
		print_ends(tool_at(cable, "counters"), "          ", to);
	}
	if (tool_has(job, "errors"))
		print_errors(tool_at(job, "errors"), to);
}

/* One cable, or those with errors. */
static void print_jobs(const json_t *jobs, FILE *to)
{
	const json_t *cables = tool_at(jobs, "cables"), *cable = json_array_get(cables, 0);

	tool_print(to, jobs, "{running#running job}\n");
	if (!cable || tool_has(cable, "kind")) {
		print_errors(cables, to);
		return;
	}
	tool_print(to, cable, "{?to}" CABLE "{/}{!to}" NEAR "{/}:");
	fputs(json_array_size(tool_at(cable, "jobs")) ? "\n" : " no job uses it\n", to);
	tool_print(to, cable, "{*jobs}  job {job}, {flows#path}\n{/}");
}

static void print_through(const json_t *through, FILE *to)
{
	size_t listed = json_array_size(tool_at(through, "paths"));

	tool_print(to, through,
		   THROUGH ": {flows#path}, and {flows_back} back; "
			   "forwarding entries: {entries}, groups: {groups}\n"
			   "{*paths}  SL {sl:2}  " END("from.") " to " END("to.") "\n{/}");
	print_ends(tool_at(through, "counters"), "  ", to);
	if ((json_int_t)listed < tool_int_at(through, "flows"))
		fprintf(to, "  the first %zu; --top N lists more\n", listed);
}

void path_print(const json_t *document, FILE *to)
{
	static const struct {
		const char *key;
		void (*print)(const json_t *part, FILE *to);
	} parts[] = { { "multicast", print_multicast },
		      { "job", print_job },
		      { "jobs", print_jobs },
		      { "fabric", print_fabric },
		      { "through", print_through } };
	const json_t *path;
	size_t i;

	json_array_foreach(tool_at(document, "paths"), i, path) print_path(path, to);
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (tool_has(document, parts[i].key))
			parts[i].print(tool_at(document, parts[i].key), to);
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The document of `dateline path` for people. */
#include "path.h"

/* Templates of what stands at a key `p`, such as "from.": an end port, a node, a cable. */
#define NAME(p) "{?" p "coord}({" p "coord}) {/}\"{" p "name}\""
#define END(p) "\"{" p "name}\"{?" p "coord} ({" p "coord}){/} port {" p "port} (LID {" p "lid})"
#define CABLE(p)        \
	NAME(p "from.") \
	" port {" p "from.port} to " NAME(p "to.") " port {" p "to.port}"

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

static void print_path(const json_t *path, FILE *to)
{
	const json_t *hop, *hops = tool_at(path, "hops");
	size_t i;

	tool_print(to, path, "from " END("from.") "\n  to " END("to.") " at LID {lid}, SL {sl}\n");
	json_array_foreach(hops, i, hop)
	{
		tool_print(to, hop,
			   "  in {in:3}  out {out:3}  VL {vl:2}  {speed:-7}  " NAME("") "\n");
		if (tool_at(hop, "counters")) {
			fputs("                                  ", to);
			print_counters(tool_at(hop, "counters"), to);
			putc('\n', to);
		}
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

static void print_port(const json_t *port, FILE *to)
{
	tool_print(to, port,
		   "{?to}" CABLE("") "{/}{!to}" NAME("from.") " port {from.port}, no cable{/}"
							      ", {flows#path}\n    ");
	print_counters(tool_at(port, "counters"), to);
	putc('\n', to);
}

static void print_fabric(const json_t *fabric, FILE *to)
{
	const json_t *port;
	size_t i;

	tool_print(to, fabric, "counters of {ports#port}\n");
	fputs(json_array_size(tool_at(fabric, "errors")) ? "errors, most first:\n" : "no errors\n",
	      to);
	json_array_foreach(tool_at(fabric, "errors"), i, port)
	{
		fputs("  ", to);
		print_port(port, to);
	}
	fputs(json_array_size(tool_at(fabric, "waiting")) ? "waiting to send, longest first:\n" :
							    "no port waited to send\n",
	      to);
	json_array_foreach(tool_at(fabric, "waiting"), i, port)
	{
		fprintf(to, "  %5.1f %%", 100 * json_number_value(tool_at(port, "share")));
		if (tool_has(port, "predicted_share"))
			fprintf(to, " (predicted %.1f %%)",
				100 * json_number_value(tool_at(port, "predicted_share")));
		fputs("  ", to);
		print_port(port, to);
	}
}

static void print_job(const json_t *job, FILE *to)
{
	tool_print(to, job,
		   "{end_ports#end port}, {pairs#pair}, {undelivered} undelivered; {hops_mean:0.2} "
		   "hops between switches on average\n"
		   "{*cables}{flows:8}  " CABLE("") "\n{/}");
}

static void print_through(const json_t *through, FILE *to)
{
	size_t listed = json_array_size(tool_at(through, "paths"));

	tool_print(to, through,
		   CABLE("cable.") ": {flows#path}\n"
				   "{*paths}  SL {sl:2}  " END("from.") " to " END("to.") "\n{/}");
	if ((json_int_t)listed < tool_int_at(through, "flows"))
		fprintf(to, "  the first %zu; --top N lists more\n", listed);
}

void path_print(const json_t *document, FILE *to)
{
	const json_t *path;
	size_t i;

	json_array_foreach(tool_at(document, "paths"), i, path) print_path(path, to);
	if (tool_has(document, "multicast"))
		print_multicast(tool_at(document, "multicast"), to);
	if (tool_has(document, "job"))
		print_job(tool_at(document, "job"), to);
	if (tool_has(document, "fabric"))
		print_fabric(tool_at(document, "fabric"), to);
	if (tool_has(document, "through"))
		print_through(tool_at(document, "through"), to);
}

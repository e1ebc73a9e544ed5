/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The document of `dateline path` for people. */
#include "path.h"

static void path_print_end(const json_t *end, FILE *to)
{
	tool_print(to, end, "\"{name}\"");
	if (tool_has(end, "coord"))
		tool_print(to, end, " ({coord})");
	tool_print(to, end, " port {port} (LID {lid})");
}

static void print_name(const json_t *node, FILE *to)
{
	tool_print(to, node, tool_has(node, "coord") ? "({coord}) \"{name}\"" : "\"{name}\"");
}

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

	fputs("from ", to);
	path_print_end(tool_at(path, "from"), to);
	fputs("\n  to ", to);
	path_print_end(tool_at(path, "to"), to);
	tool_print(to, path, " at LID {lid}, SL {sl}\n");
	json_array_foreach(hops, i, hop)
	{
		tool_print(to, hop, "  in {in:3}  out {out:3}  VL {vl:2}  {speed:-7}  ");
		print_name(hop, to);
		putc('\n', to);
		if (tool_at(hop, "counters")) {
			fputs("                                  ", to);
			print_counters(tool_at(hop, "counters"), to);
			putc('\n', to);
		}
	}
	if (tool_true_at(path, "delivered"))
		fprintf(to, "  arrives\n");
	else
		tool_print(to, path, "  does not arrive: {reason}\n");
}

static void print_multicast(const json_t *m, FILE *to)
{
	const json_t *hop, *out, *member;
	size_t i, o;

	fputs("from ", to);
	path_print_end(tool_at(m, "from"), to);
	tool_print(to, m, "\n  to multicast group {mlid}, SL {sl}\n");
	json_array_foreach(tool_at(m, "hops"), i, hop)
	{
		fprintf(to, "  %*s", 2 * (int)tool_int_at(hop, "depth"), "");
		print_name(hop, to);
		tool_print(to, hop, ": in {in}, out");
		json_array_foreach(tool_at(hop, "out"), o, out)
			tool_print(to, out, tool_has(out, "vl") ? " {port} (VL {vl})" : " {port}");
		putc('\n', to);
	}
	json_array_foreach(tool_at(m, "members"), i, member)
	{
		fputs("  arrives at ", to);
		path_print_end(member, to);
		putc('\n', to);
	}
	if (tool_has(m, "reason"))
		tool_print(to, m, "  fault: {reason}\n");
}

static void print_cable(const json_t *cable, FILE *to)
{
	print_name(tool_at(cable, "from"), to);
	tool_print(to, cable, " port {from.port} to ");
	print_name(tool_at(cable, "to"), to);
	tool_print(to, cable, " port {to.port}");
}

static void print_port(const json_t *port, FILE *to)
{
	if (tool_has(port, "to")) {
		print_cable(port, to);
	} else {
		print_name(tool_at(port, "from"), to);
		tool_print(to, port, " port {from.port}, no cable");
	}
	tool_print(to, port, ", {flows#path}\n    ");
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
	const json_t *cable;
	size_t i;

	tool_print(to, job,
		   "{end_ports#end port}, {pairs#pair}, {undelivered} undelivered; {hops_mean:0.2} "
		   "hops between switches on average\n");
	json_array_foreach(tool_at(job, "cables"), i, cable)
	{
		tool_print(to, cable, "{flows:8}  ");
		print_cable(cable, to);
		putc('\n', to);
	}
}

static void print_through(const json_t *through, FILE *to)
{
	const json_t *path;
	size_t i, listed = json_array_size(tool_at(through, "paths"));

	print_cable(tool_at(through, "cable"), to);
	tool_print(to, through, ": {flows#path}\n");
	json_array_foreach(tool_at(through, "paths"), i, path)
	{
		tool_print(to, path, "  SL {sl:2}  ");
		path_print_end(tool_at(path, "from"), to);
		fputs(" to ", to);
		path_print_end(tool_at(path, "to"), to);
		putc('\n', to);
	}
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

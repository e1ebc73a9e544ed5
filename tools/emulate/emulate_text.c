/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Results of `dateline emulate` for people, from their document. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "emulate.h"
#include "tools/verify/verify.h"

#define BUSIEST 5
#define FEW 5

/* The name of the node of {"guid": ...}. */
static const char *emulate_name_of(const struct emulate_run *r, const json_t *object)
{
	const char *guid = json_string_value(tool_at(object, "guid"));
	uint64_t value = 0;

	dl_number_scan(guid, 16, &value);
	return dl_fabric_node_name(r->fabric, dl_fabric_find_guid(r->fabric, value));
}

/* ---- one run ----------------------------------------------------------- */

#define LATENCIES                                                              \
	" {latency_ns_mean:10.0} {latency_ns_p50:10.0} {latency_ns_p99:10.0} " \
	"{latency_ns_p999:10.0}"

static void emulate_print_levels(const json_t *document, FILE *to)
{
	const json_t *level;
	size_t i;

	fprintf(to, "%-6s %12s %12s %10s %10s %10s %10s\n", "level", "packets", "Gbit/s", "mean ns",
		"p50 ns", "p99 ns", "p99.9 ns");
	if (tool_has(document, "management"))
		tool_print(to, tool_at(document, "management"),
			   "VL 15  {delivered_packets:12} {throughput_gbps:12.3}" LATENCIES "\n");
	json_array_foreach(tool_at(document, "qos"), i,
			   level) if (tool_int_at(level, "delivered_packets"))
		tool_print(to, level,
			   "{level:-6} {delivered_packets:12} {throughput_gbps:12.3}" LATENCIES
			   "\n");
}

static void emulate_print_drops(const json_t *document, FILE *to)
{
	const json_t *drops = tool_at(document, "drops");

	for (unsigned int i = 0; i < DL_EMU_DROPS; i++)
		if (tool_has(drops, emulate_drops[i].key))
			fprintf(to, "dropped: %lld: %s\n",
				(long long)tool_int_at(drops, emulate_drops[i].key),
				emulate_drops[i].words);
}

/* The ports with the most time on the wire, in falling order. */
static unsigned int emulate_find_busiest(const json_t *ports, const json_t *out[BUSIEST + 1])
{
	unsigned int n = 0, at;
	const json_t *port;
	size_t i;

	json_array_foreach(ports, i, port)
	{
		json_int_t busy = tool_int_at(port, "xmit_busy_ns");

		if (!busy)
			continue;
		for (at = n; at > 0 && tool_int_at(out[at - 1], "xmit_busy_ns") < busy; at--)
			out[at] = out[at - 1];
		out[at] = port;
		n += n < BUSIEST;
	}
	return n;
}

static void emulate_print_busiest(const json_t *document, const struct emulate_run *r, FILE *to)
{
	double now = 1e9 * json_number_value(tool_at(document, "sim_seconds"));
	double time = now - json_number_value(tool_at(document, "counted_from_ns"));
	const json_t *top[BUSIEST + 1];
	unsigned int n = emulate_find_busiest(tool_at(document, "ports"), top);

	if (n)
		fprintf(to, "busiest ports:\n");
	for (unsigned int i = 0; i < n; i++) {
		fprintf(to, "  \"%s\"", emulate_name_of(r, top[i]));
		tool_print(to, top[i], " port {port}");
		fprintf(to, ": busy %.1f%%, waiting %.1f%% of the time\n",
			100 * tool_int_at(top[i], "xmit_busy_ns") / time,
			100 * tool_int_at(top[i], "xmit_wait_ns") / time);
	}
}

/* Why a VL starves or waits. */
static const char *emulate_reason(const json_t *vl)
{
	const char *what = json_string_value(tool_at(vl, "for"));

	if (!what)
		return tool_true_at(vl, "unlisted") ? ": in no arbitration table" : "";
	return !strcmp(what, "link")	? ": the link is down" :
	       !strcmp(what, "adapter") ? ": the adapter behind it takes nothing in" :
					  ": all flow-control packets to it are lost";
}

static void emulate_print_few(const json_t *list, const char *word, const struct emulate_run *r,
			      FILE *to)
{
	const json_t *vl;
	size_t i;

	json_array_foreach(list, i, vl)
	{
		if (i == FEW) {
			fprintf(to, "%s: and %zu more\n", word, json_array_size(list) - FEW);
			break;
		}
		fprintf(to, "%s: \"%s\"", word, emulate_name_of(r, vl));
		tool_print(to, vl, " port {port}, VL {vl}, since {since_ns} ns");
		fprintf(to, "%s\n", emulate_reason(vl));
	}
}

/* Is there a packet in the loop with another SL than its path's, at either level? */
static bool emulate_sets_sls(const struct emulate_run *r, const struct dl_cycle *cycle)
{
	for (uint32_t i = 0; i < cycle->n; i++) {
		const struct dl_cycle_step *s = &cycle->steps[i];
		unsigned int sl = s->dlid && s->dlid < DL_TABLES_MCAST_LID ?
					  dl_tables_path_sl(r->tables, s->src, s->dlid) :
					  DL_TABLES_NO_SL;

		if (sl != DL_TABLES_NO_SL && (sl | 8) != (s->sl | 8u))
			return true;
	}
	return false;
}

static void emulate_print_deadlock(const json_t *document, const struct emulate_run *r, FILE *to)
{
	const struct dl_cycle *cycle = dl_emu_cycle(r->result.emu);

	if (!tool_true_at(document, "deadlock")) {
		fprintf(to, "deadlock: none\n");
		return;
	}
	fprintf(to, "deadlock: yes, at %.0f ns; %u channel%s wait%s for each other\n",
		1e9 * json_number_value(tool_at(document, "sim_seconds")), cycle->n,
		tool_s(cycle->n), cycle->n == 1 ? "s" : "");
	verify_print_cycle(tool_at(document, "cycle"), to);
	if (emulate_sets_sls(r, cycle))
		fprintf(to, "packets of this loop carry SLs that the scenario sets, not those of "
			    "their paths\n");
}

#define WARNINGS "{*warnings}warning: {}\n{/}"

void emulate_print(const json_t *document, const struct emulate_run *r, FILE *to)
{
	tool_print(to, document,
		   "packets: {injected_packets} injected, {delivered_packets} delivered, "
		   "{dropped_packets} dropped, {in_flight} in flight");
	fprintf(to, " after %.0f ns%s\n", 1e9 * json_number_value(tool_at(document, "sim_seconds")),
		tool_true_at(document, "interrupted") ? " (interrupted)" : "");
	fprintf(to, "throughput: %.2f%% of the adapters' capacity, for %.2f%% offered\n",
		100 * json_number_value(tool_at(document, "throughput_fraction")),
		100 * json_number_value(tool_at(document, "offered_fraction")));
	if (r->program)
		emulate_program_print(tool_at(document, "program"), to);
	tool_print(to, document,
		   "{?retries}retries: {retries.timeouts} timeouts, {retries.negative} of "
		   "{retries.acknowledgements} acknowledgements negative, "
		   "{retries.repeated_packets} packets repeated, {retries.broken_connections} "
		   "connections broken, {retries.lost_messages} messages lost\n{/}");
	emulate_watched_print(document, to);
	emulate_print_levels(document, to);
	emulate_print_drops(document, to);
	emulate_print_busiest(document, r, to);
	emulate_print_few(tool_at(document, "starved"), "starving", r, to);
	emulate_print_few(tool_at(document, "waits"), "stalled", r, to);
	emulate_print_deadlock(document, r, to);
	tool_print(to, document, WARNINGS);
}

/* ---- sweeps ------------------------------------------------------------ */

void emulate_sweep_print(const json_t *document, FILE *to)
{
	const json_t *point;
	size_t i;

	fprintf(to, "%-8s %9s %11s %10s %10s %10s %10s\n", "load", "offered", "throughput",
		"mean ns", "p50 ns", "p99 ns", "p99.9 ns");
	json_array_foreach(tool_at(document, "sweep"), i, point)
	{
		fprintf(to, "%-8.6g %8.2f%% %10.2f%%", json_number_value(tool_at(point, "load")),
			100 * json_number_value(tool_at(point, "offered_fraction")),
			100 * json_number_value(tool_at(point, "throughput_fraction")));
		tool_print(to, point, LATENCIES);
		fputs(tool_true_at(point, "deadlock") ? "  deadlock\n" : "\n", to);
	}
	tool_print(to, document,
		   "zero-load latency: {zero_load_ns:.1} ns\n"
		   "saturation: {?saturation_load}at a load of {saturation_load:.3}{/}"
		   "{!saturation_load}not reached{/}"
		   "{?saturation.load_error} +- {saturation.load_error:.3}{/}\n");
	fprintf(to, "accepted at full load: %.2f%%",
		100 * json_number_value(tool_at(document, "saturation.accepted")));
	if (tool_has(document, "saturation.bound"))
		fprintf(to, ", bound by the busiest link: %.2f%%",
			100 * json_number_value(tool_at(document, "saturation.bound")));
	fputc('\n', to);
	tool_print(to, document, WARNINGS);
}

/* A point a line; what all have in common is repeated, so that tables can be joined. */
void emulate_sweep_print_csv(const json_t *document, FILE *to)
{
	static const char *const columns[] = {
		"load",
		"offered_fraction",
		"throughput_fraction",
		"latency_ns_mean",
		"latency_ns_error",
		"latency_ns_p50",
		"latency_ns_p99",
		"latency_ns_p999",
		"delivered_packets",
		"dropped_packets",
	};
	static const char *const common[] = { "zero_load_ns", "saturation.load",
					      "saturation.accepted", "saturation.bound", "seed" };
	const char *snapshot = json_string_value(tool_at(document, "snapshot"));
	const json_t *point;
	size_t i;

	for (size_t c = 0; c < sizeof(columns) / sizeof(*columns); c++)
		fprintf(to, "%s,", columns[c]);
	fputs("zero_load_ns,saturation_load,saturation_accepted,saturation_bound,seed,snapshot,"
	      "scenario\n",
	      to);
	json_array_foreach(tool_at(document, "sweep"), i, point)
	{
		for (size_t c = 0; c < sizeof(columns) / sizeof(*columns); c++)
			fprintf(to, "%.10g,", json_number_value(tool_at(point, columns[c])));
		for (size_t c = 0; c < sizeof(common) / sizeof(*common); c++)
			if (tool_has(document, common[c]))
				fprintf(to, "%.10g,",
					json_number_value(tool_at(document, common[c])));
			else
				fputc(',', to);
		fprintf(to, "%s,", snapshot ? snapshot : "");
		fputc('"', to);
		for (const char *s = json_string_value(tool_at(document, "scenario")); *s; s++)
			fprintf(to, "%s%c", *s == '"' ? "\"" : "", *s);
		fputs("\"\n", to);
	}
}

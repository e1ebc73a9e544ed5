/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Results of `dateline emulate` for people, from their document. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "emulate.h"
#include "tools/verify/verify.h"

#define BUSIEST 5
#define FEW 5

static double emulate_number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static long long emulate_integer(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static bool emulate_is_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* The name of the node of {"guid": ...}. */
static const char *emulate_name_of(const struct emulate_run *r, const json_t *object)
{
	const char *guid = json_string_value(json_object_get(object, "guid"));

	uint64_t value = 0;

	dl_number_scan(guid, 16, &value);
	return dl_fabric_node_name(r->fabric, dl_fabric_find_guid(r->fabric, value));
}

/* ---- one run ----------------------------------------------------------- */

static void emulate_print_latencies(const json_t *object, FILE *to)
{
	fprintf(to, " %10.0f %10.0f %10.0f %10.0f", emulate_number(object, "latency_ns_mean"),
		emulate_number(object, "latency_ns_p50"), emulate_number(object, "latency_ns_p99"),
		emulate_number(object, "latency_ns_p999"));
}

static void emulate_print_levels(const json_t *document, FILE *to)
{
	const json_t *level;
	size_t i;

	fprintf(to, "%-6s %12s %12s %10s %10s %10s %10s\n", "level", "packets", "Gbit/s", "mean ns",
		"p50 ns", "p99 ns", "p99.9 ns");
	json_array_foreach(json_object_get(document, "qos"), i, level)
	{
		if (!emulate_integer(level, "delivered_packets"))
			continue;
		fprintf(to, "%-6lld %12lld %12.3f", emulate_integer(level, "level"),
			emulate_integer(level, "delivered_packets"),
			emulate_number(level, "throughput_gbps"));
		emulate_print_latencies(level, to);
		fprintf(to, "\n");
	}
}

static void emulate_print_drops(const json_t *document, FILE *to)
{
	static const struct {
		const char *key, *words;
	} causes[] = {
		{ "no_entry", "no forwarding entry" },
		{ "dead_link", "link down" },
		{ "hoq_life", "waited too long" },
		{ "corrupt", "damaged on the wire" },
		{ "smp_full", "no room on VL 15" },
		{ "no_vl", "the SL maps to no VL of the port" },
		{ "unlisted", "VL in no arbitration table" },
		{ "wrong_end", "forwarded to the wrong end port" },
	};
	const json_t *drops = json_object_get(document, "drops");

	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (json_object_get(drops, causes[i].key))
			fprintf(to, "dropped: %lld: %s\n", emulate_integer(drops, causes[i].key),
				causes[i].words);
}

/* The ports with the most time on the wire, in falling order. */
static unsigned int emulate_find_busiest(const json_t *ports, const json_t *out[BUSIEST])
{
	unsigned int n = 0, at;
	const json_t *port;
	size_t i;

	json_array_foreach(ports, i, port)
	{
		long long busy = emulate_integer(port, "xmit_busy_ns");

		for (at = n; at > 0; at--)
			if (emulate_integer(out[at - 1], "xmit_busy_ns") >= busy)
				break;
		if (!busy || at == BUSIEST)
			continue;
		n += n < BUSIEST;
		memmove(&out[at + 1], &out[at], (n - 1 - at) * sizeof(*out));
		out[at] = port;
	}
	return n;
}

static void emulate_print_busiest(const json_t *document, const struct emulate_run *r, FILE *to)
{
	double now = 1e9 * emulate_number(document, "sim_seconds");
	double time = now - emulate_number(document, "counted_from_ns");
	const json_t *top[BUSIEST];
	unsigned int n = emulate_find_busiest(json_object_get(document, "ports"), top);

	if (n)
		fprintf(to, "busiest ports:\n");
	for (unsigned int i = 0; i < n; i++)
		fprintf(to,
			"  \"%s\" port %lld: busy %.1f%%, waiting %.1f%% of "
			"the time\n",
			emulate_name_of(r, top[i]), emulate_integer(top[i], "port"),
			100 * emulate_number(top[i], "xmit_busy_ns") / time,
			100 * emulate_number(top[i], "xmit_wait_ns") / time);
}

static void emulate_print_starved(const json_t *document, const struct emulate_run *r, FILE *to)
{
	const json_t *list = json_object_get(document, "starved"), *vl;
	size_t i;

	json_array_foreach(list, i, vl)
	{
		if (i == FEW) {
			fprintf(to, "starving: and %zu more\n", json_array_size(list) - FEW);
			break;
		}
		fprintf(to, "starving: \"%s\" port %lld, VL %lld, since %.0f ns%s\n",
			emulate_name_of(r, vl), emulate_integer(vl, "port"),
			emulate_integer(vl, "vl"), emulate_number(vl, "since_ns"),
			emulate_is_true(vl, "unlisted") ? ": in no arbitration table" : "");
	}
}

static void emulate_print_deadlock(const json_t *document, const struct emulate_run *r, FILE *to)
{
	const struct dl_cycle *cycle = dl_emu_cycle(r->result.emu);

	if (!emulate_is_true(document, "deadlock")) {
		fprintf(to, "deadlock: none\n");
		return;
	}
	fprintf(to, "deadlock: yes, at %.0f ns; %u channel%s wait%s for each other\n",
		1e9 * emulate_number(document, "sim_seconds"), cycle->n, tool_s(cycle->n),
		cycle->n == 1 ? "s" : "");
	verify_print_cycle(tool_at(document, "cycle"), to);
}

void emulate_print(const json_t *document, const struct emulate_run *r, FILE *to)
{
	const json_t *warning;
	size_t i;

	fprintf(to,
		"packets: %lld injected, %lld delivered, %lld dropped, %lld in "
		"flight after %.0f ns%s\n",
		emulate_integer(document, "injected_packets"),
		emulate_integer(document, "delivered_packets"),
		emulate_integer(document, "dropped_packets"),
		emulate_integer(document, "in_flight"),
		1e9 * emulate_number(document, "sim_seconds"),
		emulate_is_true(document, "interrupted") ? " (interrupted)" : "");
	fprintf(to,
		"throughput: %.2f%% of the adapters' capacity, for %.2f%% "
		"offered\n",
		100 * emulate_number(document, "throughput_fraction"),
		100 * emulate_number(document, "offered_fraction"));
	emulate_print_levels(document, to);
	emulate_print_drops(document, to);
	emulate_print_busiest(document, r, to);
	emulate_print_starved(document, r, to);
	emulate_print_deadlock(document, r, to);
	json_array_foreach(json_object_get(document, "warnings"), i, warning)
		fprintf(to, "warning: %s\n", json_string_value(warning));
}

/* ---- sweeps ------------------------------------------------------------ */

void emulate_sweep_print(const json_t *document, FILE *to)
{
	const json_t *saturation = json_object_get(document, "saturation_load");
	const json_t *point;
	size_t i;

	fprintf(to, "%-8s %9s %11s %10s %10s %10s %10s\n", "load", "offered", "throughput",
		"mean ns", "p50 ns", "p99 ns", "p99.9 ns");
	json_array_foreach(json_object_get(document, "sweep"), i, point)
	{
		fprintf(to, "%-8.6g %8.2f%% %10.2f%%", emulate_number(point, "load"),
			100 * emulate_number(point, "offered_fraction"),
			100 * emulate_number(point, "throughput_fraction"));
		emulate_print_latencies(point, to);
		fprintf(to, "%s\n", emulate_is_true(point, "deadlock") ? "  deadlock" : "");
	}
	if (json_is_null(saturation))
		fprintf(to, "saturation: not reached\n");
	else
		fprintf(to, "saturation: at a load of %.3f\n", json_number_value(saturation));
}

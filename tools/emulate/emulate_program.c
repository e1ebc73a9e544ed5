/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline emulate --program`: where its ranks are, and what it took. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/hosts.h"
#include "emulate.h"

#define CABLES 5  /* of those that made it wait */
#define RANKS 5	  /* of those that wait at the end */
#define PHASES 16 /* that are printed for people */

struct hosts {
	const struct dl_log *log;
	uint32_t *port, n, cap;
};

static int emulate_add_host(void *context, const char *name, const struct find_result *end)
{
	struct hosts *h = context;

	(void)name;
	if (!dl_array_room(h->port, h->n, 1, &h->cap))
		return -ENOMEM;
	h->port[h->n++] = end->port;
	return 0;
}

/* The ports of a list, or of all adapters. */
static int emulate_hosts(const struct tool_input *in, const char *list,
			 const struct dl_emu_scenario *s, struct hosts *h)
{
	struct find find = { 0 };
	const uint32_t *all;
	uint32_t n = dl_emu_scenario_adapters(s, &all);
	int err;

	if (!list) {
		h->port = calloc(n + 1ul, sizeof(*all));
		h->n = n;
		if (h->port)
			memcpy(h->port, all, n * sizeof(*all));
		return h->port ? 0 : -ENOMEM;
	}
	err = find_begin(&find, in);
	if (!err)
		err = hosts_read(&find, list, h->log, emulate_add_host, h);
	find_end(&find);
	return err;
}

int emulate_program(const struct tool *tool, const struct tool_input *in, const char *name,
		    const char *list, struct dl_emu_scenario *s, struct emulate_program *out)
{
	struct hosts h = { .log = &tool->log };
	FILE *from = NULL;
	int err = emulate_hosts(in, list, s, &h);

	out->name = name;
	out->port = h.port;
	if (err)
		return err;
	if (dl_emu_program_is_known(name)) {
		err = dl_emu_program_make(name, h.n, &tool->log, &out->program);
	} else if (!(from = strcmp(name, "-") ? fopen(name, "re") : stdin)) {
		err = dl_fail(&tool->log, -errno, "cannot open %s: %s: expected a file, or %s",
			      name, strerror(errno), dl_emu_program_forms);
	} else {
		err = dl_emu_program_read(from, name, h.n, &tool->log, &out->program);
		fclose(from);
	}
	return err ? err : dl_emu_scenario_set_program(s, out->program, out->port);
}

void emulate_program_free(struct emulate_program *p)
{
	dl_emu_program_free(p->program);
	free(p->port);
}

/* ---- results ------------------------------------------------------------- */

static uint64_t emulate_queued(const struct emulate_run *r, uint32_t port)
{
	return dl_emu_port(r->result.emu, port)->queued_ps;
}

/* The outputs of switches that packets have waited for most, in falling order. */
static json_t *emulate_waited_json(const struct emulate_run *r)
{
	const struct dl_fabric *f = r->fabric;
	uint32_t most[CABLES + 1], n = 0, at;
	json_t *list = json_array();

	for (uint32_t i = 0; i < f->nports; i++) {
		uint64_t queued = emulate_queued(r, i);

		if (f->nodes[f->ports[i].node].type != DL_FABRIC_SWITCH || !queued)
			continue;
		for (at = n; at > 0 && emulate_queued(r, most[at - 1]) < queued; at--)
			most[at] = most[at - 1];
		most[at] = i;
		n += n < CABLES;
	}
	for (uint32_t k = 0; k < n; k++)
		json_array_append_new(
			list, json_pack("{s:o, s:o, s:i, s:f}", "guid",
					tool_json_guid(f, f->ports[most[k]].node), "name",
					json_string(dl_fabric_node_name(f, f->ports[most[k]].node)),
					"port", f->ports[most[k]].num, "queued_ns",
					emulate_queued(r, most[k]) / 1e3));
	return list;
}

/* A few of the ranks that did not come to their end. */
static json_t *emulate_ranks_json(const struct dl_emu_program *p)
{
	struct dl_emu_program_wait wait[RANKS];
	uint32_t n = dl_emu_program_waits(p, wait, RANKS);
	json_t *list = json_array();

	for (uint32_t i = 0; i < n && i < RANKS; i++)
		json_array_append_new(
			list, json_pack("{s:I, s:I, s:b}", "rank", (json_int_t)wait[i].rank, "peer",
					(json_int_t)wait[i].peer, "sends", wait[i].sends));
	return list;
}

/* Phases of which anything has happened; their lengthening of the job adds up to its time. */
static json_t *emulate_phases_json(const struct dl_emu_program *p)
{
	const struct dl_emu_program_phase *phase;
	uint32_t n = dl_emu_program_phases(p, &phase);
	json_t *list = json_array();
	uint64_t before = 0;

	for (uint32_t i = 0; i < n; i++, phase++) {
		if (phase->start == UINT64_MAX)
			continue;
		json_array_append_new(
			list, json_pack("{s:s, s:f, s:f, s:f, s:f, s:I, s:I}", "phase", phase->name,
					"start_ns", phase->start / 1e3, "end_ns", phase->end / 1e3,
					"duration_ns", (phase->end - phase->start) / 1e3, "adds_ns",
					phase->end > before ? (phase->end - before) / 1e3 : 0.0,
					"messages", (json_int_t)phase->messages, "bytes",
					(json_int_t)phase->bytes));
		before = phase->end > before ? phase->end : before;
	}
	return list;
}

static json_t *emulate_gbytes(double bytes)
{
	return bytes > 0 ? json_real(bytes * 1e-9) : json_null();
}

json_t *emulate_program_json(const struct emulate_run *r)
{
	const struct dl_emu_program_result *p = &r->result.program;
	const struct dl_emu_histogram *h = &dl_emu_level(r->result.emu, 0)->message;
	struct dl_emu_latency m = dl_emu_latency_of(h);

	return json_pack(
		"{s:s, s:I, s:I, s:o, s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o}",
		"program", r->program->name, "ranks", (json_int_t)p->ranks, "ranks_waiting",
		(json_int_t)p->waiting, "time_ns",
		p->waiting ? json_null() : json_real(p->time / 1e3), "messages",
		(json_int_t)p->messages, "bytes", (json_int_t)p->bytes, "message_ns_mean", m.mean,
		"message_ns_p50", m.p50, "message_ns_p99", m.p99, "message_ns_max",
		h->count ? h->largest / 1e3 : 0.0, "algorithm_gbytes_per_s",
		emulate_gbytes(p->algorithm), "bus_gbytes_per_s", emulate_gbytes(p->bus),
		"waited_for", emulate_waited_json(r), "waiting",
		emulate_ranks_json(r->program->program), "phases",
		emulate_phases_json(r->program->program));
}

static void emulate_phases_print(const json_t *phases, FILE *to)
{
	size_t n = json_array_size(phases);

	for (size_t i = 0; n > 1 && i < n && i < PHASES; i++)
		tool_print(
			to, json_array_get(phases, i),
			"phase {phase}: {messages} messages, {bytes} bytes, from {start_ns:.0} to "
			"{end_ns:.0} ns, {duration_ns:.0} ns; adds {adds_ns:.0} ns\n");
	if (n > PHASES)
		fprintf(to, "%zu more phases are listed by --json and --tables\n", n - PHASES);
}

void emulate_program_print(const json_t *job, FILE *to)
{
	tool_print(
		to, job,
		"program: {?time_ns}{ranks} ranks, {messages} messages, {bytes} bytes in "
		"{time_ns:.0} ns{/}{!time_ns}{ranks_waiting} of {ranks} ranks wait for what does "
		"not come{/}\n"
		"{*waiting}rank {rank} waits for rank {peer}\n{/}"
		"{?bus_gbytes_per_s}bandwidth: {algorithm_gbytes_per_s:.3} GB/s (algorithm), "
		"{bus_gbytes_per_s:.3} GB/s (bus)\n{/}"
		"messages: mean {message_ns_mean:.0} ns, p50 {message_ns_p50:.0} ns, p99 "
		"{message_ns_p99:.0} ns, longest {message_ns_max:.0} ns\n");
	emulate_phases_print(json_object_get(job, "phases"), to);
	tool_print(to, job,
		   "{*waited_for}packets waited {queued_ns:.0} ns in all for \"{name}\" port "
		   "{port}\n{/}");
}

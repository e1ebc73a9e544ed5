/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Results of `dateline emulate` as documents. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "emulate.h"
#include "tools/verify/verify.h"

const struct emulate_drop emulate_drops[DL_EMU_DROPS] = {
	[DL_EMU_DROP_NO_ENTRY] = { "no_entry", "no forwarding entry" },
	[DL_EMU_DROP_DEAD_LINK] = { "dead_link", "link down" },
	[DL_EMU_DROP_HOQ_LIFE] = { "hoq_life", "waited too long" },
	[DL_EMU_DROP_LIFETIME] = { "lifetime", "too long in one switch" },
	[DL_EMU_DROP_CORRUPT] = { "corrupt", "damaged on the wire" },
	[DL_EMU_DROP_SMP_FULL] = { "smp_full", "no room on VL 15" },
	[DL_EMU_DROP_NO_VL] = { "no_vl", "the SL maps to no VL of the port" },
	[DL_EMU_DROP_UNLISTED] = { "unlisted", "VL in no arbitration table" },
	[DL_EMU_DROP_SEQUENCE] = { "sequence", "out of sequence" },
	[DL_EMU_DROP_WRONG_END] = { "wrong_end", "forwarded to the wrong end port" },
};

/* ---- parts ------------------------------------------------------------- */

/* SLs that were delivered: their numbers, or what was. */
static json_t *emulate_sls_json(const struct dl_emu_level *l, bool numbers)
{
	json_t *list = json_array();

	for (unsigned int sl = 0; sl < DL_EMU_SLS; sl++) {
		const struct dl_emu_delivered *d = &l->sl[sl];

		if (d->packets && numbers)
			json_array_append_new(list, json_integer(sl));
		else if (d->packets)
			json_array_append_new(list,
					      json_pack("{s:i, s:I, s:I, s:f, s:f}", "sl", sl,
							"delivered_packets", (json_int_t)d->packets,
							"delivered_bytes", (json_int_t)d->bytes,
							"latency_ns_mean",
							d->latency_sum / 1e3 / d->packets,
							"latency_ns_max", d->latency_max / 1e3));
	}
	return list;
}

/* [up to, how many] of every bucket that is not empty, in ns. */
static json_t *emulate_histogram_json(const struct dl_emu_histogram *h)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < DL_EMU_HISTOGRAM_BUCKETS; i++)
		if (h->bucket[i])
			json_array_append_new(list,
					      json_pack("[fI]", dl_emu_histogram_lower(i + 1) / 1e3,
							(json_int_t)h->bucket[i]));
	return list;
}

static json_t *emulate_level_json(const struct emulate_run *r, unsigned int level)
{
	const struct dl_emu_level *l = dl_emu_level(r->result.emu, level);
	double seconds = r->result.measured_ps * 1e-12;
	struct dl_emu_latency a = dl_emu_latency_of(&l->latency);
	struct dl_emu_latency n = dl_emu_latency_of(&l->network);

	return json_pack("{s:i, s:o, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f,"
			 " s:f, s:o, s:o}",
			 "level", level, "sl", emulate_sls_json(l, true), "delivered_packets",
			 (json_int_t)l->packets, "delivered_bytes", (json_int_t)l->bytes,
			 "latency_ns_mean", a.mean, "latency_ns_p50", a.p50, "latency_ns_p99",
			 a.p99, "latency_ns_p999", a.p999, "latency_ns_max",
			 l->latency.count ? l->latency.largest / 1e3 : 0.0, "network_ns_mean",
			 n.mean, "network_ns_p99", n.p99, "latency_relative_error",
			 DL_EMU_HISTOGRAM_ERROR, "throughput_gbps",
			 r->result.level_bytes[level] * 8e-9 / seconds, "latency_histogram_ns",
			 emulate_histogram_json(&l->latency), "by_sl", emulate_sls_json(l, false));
}

/* The same of VL 15, which has no level. */
static json_t *emulate_management_json(const struct emulate_run *r)
{
	json_t *management = emulate_level_json(r, DL_EMU_MANAGEMENT);

	json_object_del(management, "level");
	json_object_del(management, "sl");
	json_object_del(management, "by_sl");
	return management;
}

static json_t *emulate_levels_json(const struct emulate_run *r)
{
	json_t *list = json_array();

	for (unsigned int l = 0; l < DL_EMU_LEVELS; l++)
		if (r->result.levels >> l & 1 || dl_emu_level(r->result.emu, l)->packets)
			json_array_append_new(list, emulate_level_json(r, l));
	return list;
}

static json_t *emulate_port_json(const struct emulate_run *r, uint32_t port)
{
	const struct dl_emu_port *p = dl_emu_port(r->result.emu, port);
	const struct dl_fabric *f = r->fabric;
	json_t *vls = json_object();
	char name[4];

	for (unsigned int vl = 0; vl < DL_EMU_VLS; vl++) {
		struct dl_emu_vl v = dl_emu_vl(r->result.emu, port, vl);

		if (!v.bytes)
			continue;
		snprintf(name, sizeof(name), "%u", vl);
		json_object_set_new(vls, name,
				    json_pack("{s:I, s:I}", "bytes", (json_int_t)v.bytes, "packets",
					      (json_int_t)v.packets));
	}
	return json_pack("{s:o, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
			 "s:I, s:o}",
			 "guid", tool_json_guid(f, f->ports[port].node), "port", f->ports[port].num,
			 "xmit_data_bytes", (json_int_t)p->bytes, "xmit_packets",
			 (json_int_t)p->packets, "xmit_wait_ns", (json_int_t)(p->wait_ps / 1000),
			 "xmit_busy_ns", (json_int_t)(p->busy_ps / 1000), "flow_control_packets",
			 (json_int_t)p->fcps, "xmit_discards", (json_int_t)p->xmit_discards,
			 "rcv_errors", (json_int_t)p->rcv_errors, "rcv_switch_relay_errors",
			 (json_int_t)p->relay_errors, "vl15_dropped", (json_int_t)p->vl15_dropped,
			 "vl", vls);
}

static json_t *emulate_ports_json(const struct emulate_run *r)
{
	const struct dl_fabric *f = r->fabric;
	json_t *list = json_array();

	for (uint32_t i = 0; i < f->nports; i++)
		if (f->ports[i].peer != DL_NONE)
			json_array_append_new(list, emulate_port_json(r, i));
	return list;
}

static json_t *emulate_end_guid(const struct emulate_run *r, uint32_t port)
{
	return tool_json_guid(r->fabric, r->fabric->ports[port].node);
}

static json_t *emulate_pairs_json(const struct emulate_run *r)
{
	const uint32_t *port;
	uint32_t n = dl_emu_scenario_adapters(r->scenario, &port);
	json_t *list = json_array();

	for (size_t i = 0; i < (size_t)n * n; i++) {
		uint32_t from = port[i / n], to = port[i % n];
		const struct dl_emu_delivered *p = dl_emu_pair(r->result.emu, from, to);

		if (!p || !p->packets)
			continue;
		json_array_append_new(list, json_pack("{s:o, s:o, s:I, s:I, s:f, s:f}", "from",
						      emulate_end_guid(r, from), "to",
						      emulate_end_guid(r, to), "packets",
						      (json_int_t)p->packets, "bytes",
						      (json_int_t)p->bytes, "latency_ns_mean",
						      p->latency_sum / 1e3 / p->packets,
						      "latency_ns_max", p->latency_max / 1e3));
	}
	return list;
}

static json_t *emulate_samples_json(const struct emulate_run *r)
{
	json_t *list = json_array();
	uint64_t from = 0;

	for (uint32_t i = 0; i < r->result.nsamples; i++) {
		const struct dl_emu_sample *s = &r->result.samples[i];
		double length = (s->at - from) / 1e3;

		from = s->at;
		json_array_append_new(
			list, json_pack("{s:I, s:f, s:I, s:I, s:f, s:f}", "at_ns",
					(json_int_t)(s->at / 1000), "length_ns", length,
					"delivered_packets", (json_int_t)s->delivered, "in_flight",
					(json_int_t)s->in_flight, "throughput_gbps",
					s->bytes * 8 / length, "latency_ns_mean",
					s->delivered ? s->latency_sum / 1e3 / s->delivered : 0.0));
	}
	return list;
}

static json_t *emulate_drops_json(const struct dl_emu_totals *t)
{
	json_t *drops = json_object();

	for (unsigned int i = 0; i < DL_EMU_DROPS; i++)
		if (t->drops[i])
			json_object_set_new(drops, emulate_drops[i].key, json_integer(t->drops[i]));
	return drops;
}

static json_t *emulate_starved_json(const struct emulate_run *r)
{
	uint32_t n = dl_emu_starved(r->result.emu, NULL, 0);
	struct dl_emu_starved *found = calloc(n + 1, sizeof(*found));
	json_t *list = found ? json_array() : NULL;

	n = found ? dl_emu_starved(r->result.emu, found, n) : 0;
	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:i, s:i, s:b, s:I}", "guid",
						emulate_end_guid(r, found[i].port), "port",
						r->fabric->ports[found[i].port].num, "vl",
						found[i].vl, "unlisted", found[i].unlisted,
						"since_ns", (json_int_t)(found[i].since / 1000)));
	free(found);
	return list;
}

/* Of a run that stopped before its time: who waits for what. */
static json_t *emulate_waits_json(const struct emulate_run *r)
{
	static const char *const kinds[] = {
		[DL_EMU_WAIT_FLOW_CONTROL] = "flow_control",
		[DL_EMU_WAIT_LINK] = "link",
		[DL_EMU_WAIT_ADAPTER] = "adapter",
	};
	bool stuck = r->result.state == DL_EMU_STUCK;
	uint32_t n = stuck ? dl_emu_waits(r->result.emu, NULL, 0) : 0;
	struct dl_emu_wait *wait = calloc(n + 1, sizeof(*wait));
	json_t *list = wait ? json_array() : NULL;

	n = wait && stuck ? dl_emu_waits(r->result.emu, wait, n) : 0;
	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(
			list,
			json_pack("{s:s, s:o, s:i, s:i, s:I, s:o, s:i}", "for", kinds[wait[i].kind],
				  "guid", emulate_end_guid(r, wait[i].port), "port",
				  r->fabric->ports[wait[i].port].num, "vl", wait[i].vl, "since_ns",
				  (json_int_t)(wait[i].since / 1000), "from",
				  emulate_end_guid(r, wait[i].src), "to_lid", wait[i].dlid));
	free(wait);
	return list;
}

static json_t *emulate_warnings_json(const struct emulate_run *r)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < r->result.nwarnings; i++)
		json_array_append_new(list, json_string(r->result.warnings[i]));
	return list;
}

static json_t *emulate_retries_json(const struct dl_emu_totals *t)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "acknowledgements", (json_int_t)t->acks,
			 "negative", (json_int_t)t->naks, "timeouts", (json_int_t)t->timeouts,
			 "repeated_packets", (json_int_t)t->resent, "broken_connections",
			 (json_int_t)t->broken, "lost_messages", (json_int_t)t->lost_messages);
}

/* ---- documents --------------------------------------------------------- */

json_t *emulate_json(const struct emulate_run *r)
{
	const struct dl_emu_totals *t = dl_emu_totals(r->result.emu);
	const struct dl_cycle *cycle = dl_emu_cycle(r->result.emu);
	json_t *document;

	document = json_pack("{s:I, s:I, s:I, s:I, s:b, s:o, s:f, s:f, s:f, s:I, s:f, s:f, "
			     "s:I,"
			     " s:I, s:b, s:{s:I, s:I, s:I}, s:o, s:o, s:o, s:o, s:o, s:o}",
			     "delivered_packets", (json_int_t)t->delivered, "injected_packets",
			     (json_int_t)t->injected, "dropped_packets", (json_int_t)t->dropped,
			     "in_flight", (json_int_t)t->in_flight, "deadlock", cycle->n > 0,
			     "cycle", verify_cycle_json(r->fabric, r->coords, cycle), "sim_seconds",
			     dl_emu_now(r->result.emu) * 1e-12, "counted_from_ns", t->since / 1e3,
			     "cpu_seconds", r->cpu_seconds, "packet_hops",
			     (json_int_t)t->packet_hops, "throughput_fraction",
			     r->result.throughput, "offered_fraction", r->result.offered,
			     "messages", (json_int_t)t->messages, "unsent_messages",
			     (json_int_t)r->result.unsent, "interrupted", r->result.interrupted,
			     "flow_control", "packets", (json_int_t)t->fcps, "lost",
			     (json_int_t)t->fcps_lost, "initialise", (json_int_t)t->fcps_initialise,
			     "drops", emulate_drops_json(t), "starved", emulate_starved_json(r),
			     "waits", emulate_waits_json(r), "qos", emulate_levels_json(r), "ports",
			     emulate_ports_json(r), "warnings", emulate_warnings_json(r));
	if (document && r->result.levels >> DL_EMU_MANAGEMENT & 1)
		json_object_set_new(document, "management", emulate_management_json(r));
	if (document && r->result.sample_ps)
		json_object_set_new(document, "samples", emulate_samples_json(r));
	if (document && t->marked)
		json_object_set_new(document, "marked_packets", json_integer(t->marked));
	if (document && r->result.reliable)
		json_object_set_new(document, "retries", emulate_retries_json(t));
	if (document && r->program)
		json_object_set_new(document, "program", emulate_program_json(r));
	if (document && r->result.watched.wanted)
		json_object_set_new(document, "watched", emulate_watched_json(r));
	if (document && r->result.recorded.wanted)
		json_object_set_new(document, "recording",
				    json_pack("{s:s, s:I, s:b}", "file",
					      dl_emu_scenario_record(r->scenario), "steps",
					      (json_int_t)r->result.recorded.n, "cut",
					      r->result.recorded.cut));
	if (document && r->result.pairs)
		json_object_set_new(document, "pairs", emulate_pairs_json(r));
	return document;
}

static json_t *emulate_point_json(const struct emulate_point *e)
{
	const struct dl_emu_point *p = &e->point;

	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:I, s:I, s:I, s:I,"
			 " s:f}",
			 "load", p->load * 1e-6, "offered_fraction", p->offered,
			 "throughput_fraction", p->throughput, "latency_ns_mean", p->latency.mean,
			 "latency_ns_p50", p->latency.p50, "latency_ns_p99", p->latency.p99,
			 "latency_ns_p999", p->latency.p999, "latency_ns_error", p->latency_error,
			 "settled_ns", p->settled / 1e3, "deadlock", p->deadlock,
			 "delivered_packets", (json_int_t)p->delivered, "dropped_packets",
			 (json_int_t)p->dropped, "in_flight", (json_int_t)p->in_flight,
			 "packet_hops", (json_int_t)p->packet_hops, "cpu_seconds", e->cpu_seconds);
}

/* A number; null if it is negative: not known. */
static json_t *emulate_known_json(double value)
{
	return value < 0 ? json_null() : json_real(value);
}

json_t *emulate_sweep_json(const struct emulate_point *points, uint32_t n,
			   const struct dl_emu_saturation *s)
{
	bool deadlock = false, interrupted = s->accepted < 0;
	json_t *list = json_array(), *warnings = json_array();
	double cpu = 0;

	for (uint32_t i = 0; i < n; i++) {
		interrupted |= !points[i].point.done;
		if (!points[i].point.done)
			continue;
		json_array_append_new(list, emulate_point_json(&points[i]));
		deadlock |= points[i].point.deadlock;
		cpu += points[i].cpu_seconds;
	}
	if (s->is_longer)
		json_array_append_new(
			warnings, json_string("duration_ns is less than 100 times the zero-load "
					      "latency: the loads of the sweep may not have "
					      "settled; saturation is of longer runs"));
	return json_pack("{s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o}, s:b, s:b, s:f}", "sweep",
			 list, "warnings", warnings, "saturation_load", emulate_known_json(s->load),
			 "zero_load_ns", emulate_known_json(s->zero_load_ns), "saturation", "load",
			 emulate_known_json(s->load), "load_error",
			 emulate_known_json(s->load_error), "accepted",
			 emulate_known_json(s->accepted), "bound", emulate_known_json(s->bound),
			 "deadlock", deadlock, "interrupted", interrupted, "cpu_seconds", cpu);
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* See emu_fixture.h. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "draw.h"
#include "draw.h"
#include "emu/run.h"
#include "emu_fixture.h"
#include "dateline/route.h"
#include "dateline/torus.h"

static void complain(void *context, enum dl_log_level level, const char *message)
{
	(void)context;
	if (level == DL_LOG_ERROR)
		fprintf(stderr, "%s\n", message);
}

static const struct dl_log log_to_stderr = { .write = complain, .context = NULL };

static void add_group(struct emu_fixture *w)
{
	struct dl_tables_mcast_group *g = dl_tables_group(w->t, DL_TABLES_MCAST_LID);

	assert_non_null(g);
	assert_int_equal(dl_route_tree_group(w->routed.tree, w->f, DL_TABLES_MCAST_LID, w->adapter,
					     w->nadapters, &g->masks),
			 0);
}

void emu_fixture_build(struct emu_fixture *w, const uint32_t radix[3], bool mesh, uint32_t hosts,
		       const unsigned int weights[2])
{
	struct dl_torus_plan plan = { .hosts = hosts, .parallel = 1 };
	struct dl_route_options options;

	memset(w, 0, sizeof(*w));
	for (unsigned int d = 0; d < 3; d++) {
		plan.grid.radix[d] = radix[d];
		plan.grid.mesh[d] = mesh;
	}
	dl_route_options_init(&options);
	options.mode = DL_ROUTE_CLASSIC;
	if (weights)
		memcpy(options.weights, weights, sizeof(options.weights));
	assert_int_equal(dl_torus_generate(&plan, &log_to_stderr, &w->f, &w->config), 0);
	assert_int_equal(dl_fabric_assign_lids(w->f, 0), 0);
	assert_int_equal(dl_torus_discover(w->f, w->config, &log_to_stderr, &w->torus), 0);
	assert_int_equal(dl_route(w->torus, w->config, &options, &log_to_stderr, &w->routed), 0);
	w->t = w->routed.tables;
	for (uint32_t p = 0; p < w->f->nports; p++)
		if (w->f->ports[p].num && w->f->ports[p].lid && dl_fabric_is_end_port(w->f, p)) {
			assert_true(w->nadapters < EMU_MAX_FLOWS);
			w->adapter[w->nadapters++] = p;
		}
	if (w->nadapters > 1)
		add_group(w);
	dl_emu_config_init(&w->c);
}

void emu_fixture_route(struct emu_fixture *w, enum dl_route_mode mode)
{
	struct dl_route_options options;

	dl_route_options_init(&options);
	options.mode = mode;
	dl_route_result_release(&w->routed);
	assert_int_equal(dl_route(w->torus, w->config, &options, &log_to_stderr, &w->routed), 0);
	w->t = w->routed.tables;
}

void emu_fixture_link(struct emu_fixture *w, unsigned int speed, unsigned int width)
{
	for (uint32_t p = 0; p < w->f->nports; p++) {
		w->f->ports[p].speed = speed;
		w->f->ports[p].width = width;
	}
}

struct emu_flow *emu_fixture_flow(struct emu_fixture *w, uint32_t src, uint32_t dst, uint32_t bytes,
				  uint64_t count)
{
	struct emu_flow *flow = &w->flow[w->nflows++];

	assert_true(w->nflows <= EMU_MAX_FLOWS);
	*flow = (struct emu_flow){ .src = src, .dst = dst, .bytes = bytes, .count = count };
	return flow;
}

static uint32_t draw_other(const struct emu_fixture *w, uint32_t index, const struct emu_flow *flow)
{
	struct draw d = { .seed = w->c.seed << 32 | index, .at = flow->sent };
	uint32_t to = draw_below(&d, w->nadapters - 1);

	return to + (to >= flow->src);
}

bool emu_fixture_message(void *context, uint32_t index, uint64_t now, struct dl_emu_message *out)
{
	struct emu_fixture *w = context;
	struct emu_flow *flow = &w->flow[index];
	uint32_t dst = flow->random ? draw_other(w, index, flow) : flow->dst;

	if (flow->count && flow->sent == flow->count)
		return false;
	*out = (struct dl_emu_message){
		.at = flow->window ? now : flow->sent * flow->gap,
		.bytes = flow->bytes,
		.dlid = flow->mlid && (!flow->mixed || flow->sent % 3 == 2) ?
				flow->mlid :
				w->f->ports[w->adapter[dst]].lid,
		.level = flow->level,
		.sl = DL_TABLES_NO_SL,
		.smp = flow->smp,
	};
	if (w->sls != EMU_PATH_SLS) {
		struct draw d = { .seed = ~w->c.seed << 32 | index, .at = flow->sent };

		out->sl = w->sls == EMU_ANY_SL	   ? draw_below(&d, 16) :
			  w->sls == EMU_SL_OF_FLOW ? index % 8 :
						     0;
		out->level = out->sl / 8;
	}
	flow->sent++;
	return true;
}

void emu_fixture_note(void *context, const struct dl_emu_delivery *d)
{
	struct emu_fixture *w = context;
	const uint64_t fields[] = {
		d->created, d->injected, d->at, d->flow, d->dst, d->bytes, d->sl
	};

	for (unsigned int i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		w->digest = (w->digest ^ fields[i]) * UINT64_C(0x9E3779B97F4A7C15);
	if (w->log) {
		assert_true(w->delivered < w->log_size);
		w->log[w->delivered] = *d;
	}
	w->delivered++;
	w->last = *d;
}

void emu_fixture_rewind(struct emu_fixture *w)
{
	for (uint32_t i = 0; i < w->nflows; i++) {
		w->flow_port[i] = w->adapter[w->flow[i].src];
		w->flow_window[i] = w->flow[i].window;
		w->flow[i].sent = 0;
	}
	w->delivered = w->digest = 0;
}

void emu_fixture_start(struct emu_fixture *w)
{
	struct dl_emu_source source = {
		.context = w,
		.nflows = w->nflows,
		.port = w->flow_port,
		.window = w->flow_window,
		.next = emu_fixture_message,
		.delivered = emu_fixture_note,
	};

	emu_fixture_rewind(w);
	assert_int_equal(dl_emu_new(w->t, &w->c, &source, &log_to_stderr, &w->emu), 0);
}

void emu_fixture_stop(struct emu_fixture *w)
{
	dl_emu_free(w->emu);
	w->emu = NULL;
}

void emu_fixture_free(struct emu_fixture *w)
{
	emu_fixture_stop(w);
	dl_route_result_release(&w->routed);
	dl_torus_free(w->torus);
	dl_torus_config_free(w->config);
	dl_fabric_free(w->f);
}

void emu_fixture_one_vl(struct emu_fixture *w)
{
	int row = dl_tables_row(w->t, 0);

	assert_true(row >= 0);
	for (uint32_t i = 0; i < w->t->sl2vl_first[w->f->nswitches]; i++)
		w->t->sl2vl[i] = row;
	for (uint32_t p = 0; p < w->f->nports; p++)
		w->t->end_sl2vl[p] = row;
}

/* Run in pieces, with the books checked after each. */
int emu_fixture_run_audited(struct emu_fixture *w, uint64_t until, unsigned int pieces)
{
	int state = DL_EMU_RUNNING;

	for (unsigned int i = 1; i <= pieces && state == DL_EMU_RUNNING; i++) {
		state = dl_emu_run(w->emu, until / pieces * i);
		assert_true(state >= 0);
		assert_int_equal(dl_emu_audit(w->emu, w->emu->log), 0);
	}
	return state;
}

void emu_fixture_everybody(struct emu_fixture *w, uint64_t count, uint32_t bytes, uint64_t gap)
{
	for (uint32_t i = 0; i < w->nadapters; i++) {
		struct emu_flow *flow = emu_fixture_flow(w, i, 0, bytes, count);

		flow->random = true;
		flow->level = i % 2;
		flow->gap = gap;
	}
}

void emu_fixture_draw(struct draw *d, struct emu_fixture *w)
{
	uint32_t radix[3];

	for (unsigned int i = 0; i < 3; i++)
		radix[i] = 1 + draw_below(d, i < 2 ? 5 : 2);
	if (radix[0] * radix[1] * radix[2] < 2)
		radix[0] = 2;
	emu_fixture_build(w, radix, draw_one_in(d, 4), 1 + draw_below(d, 2), NULL);
	emu_fixture_link(w, DL_FABRIC_SDR + draw_below(d, 8), 4);
	w->c.seed = draw32(d);
	w->c.mtu = 256u << draw_below(d, 5);
	w->c.switching = draw_below(d, 3);
	if (w->c.switching != DL_EMU_WORMHOLE && draw_below(d, 2))
		w->c.queues = DL_EMU_VOQ;
	w->c.flow_control = draw_below(d, 2);
	w->c.speedup = draw_below(d, 3);
	w->c.flit = 64 << draw_below(d, 3);
	w->c.cable_mm_all = draw_below(d, 20000);
	w->c.switch_latency_ps = draw_below(d, 200000);
	if (w->c.flow_control == DL_LINK_CREDIT_PCIE)
		w->c.buffer = 1 + draw_below(d, 3);
	else if (w->c.switching == DL_EMU_WORMHOLE)
		w->c.buffer = w->c.flit / 64 * (1 + draw_below(d, 4));
	else
		w->c.buffer = (w->c.mtu / 64 + 2) * (1 + draw_below(d, 3));
	w->c.credit = draw_below(d, 2) * (1 + draw_below(d, 100));
	if (w->c.flow_control == DL_LINK_CREDIT_IBA && draw_one_in(d, 4))
		w->c.buffer *= w->c.chunk = 2 + draw_below(d, 3);
	w->c.qp_change_ps = draw_below(d, 2) * 50000;
	w->c.credit_latency_ps = draw_below(d, 2) * draw_below(d, 300000);
	w->c.check_ps = 3000000;
	if (w->c.switching == DL_EMU_WORMHOLE)
		return;
	if (w->c.seed / 3 % 3 == 0) {
		w->c.retries.timeout_ps = 30000000 + w->c.seed % 100000000;
		w->c.retries.count = 7;
		w->c.retries.ack_packets = 1 + w->c.seed % 5;
	}
	if (w->c.seed % 3)
		return;
	w->c.congestion.threshold = 1 + w->c.seed / 3 % 15;
	w->c.congestion.victims = w->c.seed % 2;
	w->c.congestion.timer_ps = 1000000 + w->c.seed % 5000000;
	w->c.congestion.becn_ps = w->c.seed % 1000000;
}

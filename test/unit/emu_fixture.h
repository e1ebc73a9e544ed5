/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Small tori with tables, and traffic, for the emulator's tests. */
#ifndef TEST_EMU_FIXTURE_H
#define TEST_EMU_FIXTURE_H

#include "dateline/emu.h"
#include "dateline/route.h"
#include "dateline/torus.h"

struct emu_flow {
	uint32_t src, dst; /* adapters; dst is ignored for multicast */
	uint16_t mlid;
	uint8_t level;
	uint32_t bytes;
	uint64_t count; /* messages; 0: no end */
	uint64_t gap;	/* between their times; 0: all at the start */
	uint32_t window;
	bool random; /* dst: anybody else, each time */
	bool mixed;  /* only every third message goes to `mlid` */
	bool smp;    /* on VL 15 */
	uint64_t sent;
};

#define EMU_MAX_FLOWS 512

struct emu_fixture {
	struct dl_fabric *f;
	struct dl_torus_config *config;
	struct dl_torus *torus;
	struct dl_route_result routed;
	struct dl_tables *t;		 /* of these */
	uint32_t adapter[EMU_MAX_FLOWS]; /* ports */
	uint32_t nadapters;
	struct dl_emu_config c;
	struct emu_flow flow[EMU_MAX_FLOWS];
	uint32_t nflows;
	enum { EMU_PATH_SLS, EMU_SL_0, EMU_ANY_SL, EMU_SL_OF_FLOW } sls; /* of all packets */
	uint32_t flow_port[EMU_MAX_FLOWS], flow_window[EMU_MAX_FLOWS];
	/* What was delivered: */
	uint64_t delivered;
	uint64_t digest; /* of all deliveries, in order */
	struct dl_emu_delivery last;
	struct dl_emu_delivery *log; /* if wanted, and its size */
	uint64_t log_size;
	struct dl_emu *emu;
};

/*
 * A torus, or a mesh, of these radices with `hosts` adapters a switch, all of
 * them in multicast group 0xC000, routed by the classic rules with QoS
 * weights `weights` (NULL: 1 and 1).  Failures fail the test.
 */
void emu_fixture_build(struct emu_fixture *w, const uint32_t radix[3], bool mesh, uint32_t hosts,
		       const unsigned int weights[2]);
/* The same torus with the tables of another mode, without groups. */
void emu_fixture_route(struct emu_fixture *w, enum dl_route_mode mode);
void emu_fixture_link(struct emu_fixture *w, unsigned int speed, unsigned int width);
struct emu_flow *emu_fixture_flow(struct emu_fixture *w, uint32_t src, uint32_t dst, uint32_t bytes,
				  uint64_t count);
/* Set up w->emu with the flows and the configuration that stand in w. */
void emu_fixture_start(struct emu_fixture *w);
/* The flows from their beginning, as start does; for another emulator. */
void emu_fixture_rewind(struct emu_fixture *w);
/* What the emulator is given: `context` is the fixture. */
bool emu_fixture_message(void *context, uint32_t flow, uint64_t now, struct dl_emu_message *out);
void emu_fixture_note(void *context, const struct dl_emu_delivery *d);
void emu_fixture_stop(struct emu_fixture *w);
void emu_fixture_free(struct emu_fixture *w);

struct draw;

/* A drawn torus, and how it is emulated. */
void emu_fixture_draw(struct draw *d, struct emu_fixture *w);
/* A flow from each adapter to others, anybody each time. */
void emu_fixture_everybody(struct emu_fixture *w, uint64_t count, uint32_t bytes, uint64_t gap);
/* Run in pieces, with the books checked after each. */
int emu_fixture_run_audited(struct emu_fixture *w, uint64_t until, unsigned int pieces);

/* All packets to VL 0, whatever the SL: loops on any whole torus. */
void emu_fixture_one_vl(struct emu_fixture *w);

#endif

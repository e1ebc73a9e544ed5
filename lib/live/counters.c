/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The counters of all ports, asked of their performance management agents
 * (IBA volume 1, 16.1.3.5): those of 32 bits, which stop at their maximum, and
 * those of 64 bits where there are any.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "live/internal.h"

/*
 * Fields of PortCounters, and those of PortCountersExtended that are wider, or the bits of
 * those that have no wider one.
 */
static const struct {
	enum MAD_FIELDS field, wide; /* 0: none */
	unsigned int bits;
} fields[DL_LIVE_COUNTERS] = {
	[DL_LIVE_XMIT_DATA] = { IB_PC_XMT_BYTES_F, IB_PC_EXT_XMT_BYTES_F },
	[DL_LIVE_RCV_DATA] = { IB_PC_RCV_BYTES_F, IB_PC_EXT_RCV_BYTES_F },
	[DL_LIVE_XMIT_PKTS] = { IB_PC_XMT_PKTS_F, IB_PC_EXT_XMT_PKTS_F },
	[DL_LIVE_RCV_PKTS] = { IB_PC_RCV_PKTS_F, IB_PC_EXT_RCV_PKTS_F },
	[DL_LIVE_XMIT_WAIT] = { IB_PC_XMT_WAIT_F, 0, 32 },
	[DL_LIVE_FIRST_ERROR] = { IB_PC_ERR_SYM_F, 0, 16 },
	{ IB_PC_LINK_RECOVERS_F, 0, 8 },
	{ IB_PC_LINK_DOWNED_F, 0, 8 },
	{ IB_PC_ERR_RCV_F, 0, 16 },
	{ IB_PC_ERR_PHYSRCV_F, 0, 16 },
	{ IB_PC_ERR_SWITCH_REL_F, 0, 16 },
	{ IB_PC_XMT_DISCARDS_F, 0, 16 },
	{ IB_PC_ERR_XMTCONSTR_F, 0, 8 },
	{ IB_PC_ERR_RCVCONSTR_F, 0, 8 },
	{ IB_PC_ERR_LOCALINTEG_F, 0, 4 },
	{ IB_PC_ERR_EXCESS_OVR_F, 0, 4 },
	{ IB_PC_QP1_DROP_F, 0, 16 },
	{ IB_PC_VL15_DROPPED_F, 0, 16 },
};

bool dl_live_counter_stopped(unsigned int counter, uint64_t value)
{
	return fields[counter].bits && value == (1ull << fields[counter].bits) - 1;
}

const char *dl_live_counter_name(unsigned int counter)
{
	return mad_field_name(fields[counter].field);
}

int dl_live_counters_new(const struct dl_fabric *f, struct dl_live_counters *out)
{
	out->nknown = 0;
	out->value = calloc(f->nports + 1, sizeof(*out->value));
	out->known = calloc(f->nports + 1, sizeof(*out->known));
	return out->value && out->known ? 0 : -ENOMEM;
}

void dl_live_counters_release(struct dl_live_counters *c)
{
	free(c->value);
	free(c->known);
	memset(c, 0, sizeof(*c));
}

/* ---- queries ------------------------------------------------------------- */

struct asking {
	const struct dl_fabric *f;
	struct dl_live_counters *c;
	uint64_t silent; /* ports without an answer */
};

/* The LID at which a port's agent answers: its node's for a switch. */
static uint16_t agent_lid(const struct dl_fabric *f, uint32_t port)
{
	uint32_t node = f->ports[port].node;

	return f->ports[dl_fabric_is_switch(f, node) ? f->nodes[node].first_port : port].lid;
}

/* Port after port, its counters of 32 bits and then those of 64. */
static bool counters_next_port(void *context, uint32_t at[2], struct dl_live_query *q)
{
	const struct dl_fabric *f = ((struct asking *)context)->f;
	uint32_t *port = &at[0], *extended = &at[1];

	while (*port < f->nports && (f->ports[*port].peer == DL_NONE || !agent_lid(f, *port)))
		++*port;
	if (*port == f->nports)
		return false;
	q->service = DL_LIVE_PMA;
	q->to.lid = agent_lid(f, *port);
	q->to.qp = 1;
	q->to.qkey = IB_DEFAULT_QP1_QKEY;
	q->attr = *extended ? IB_GSI_PORT_COUNTERS_EXT : IB_GSI_PORT_COUNTERS;
	mad_set_field(q->data, 0, IB_PC_PORT_SELECT_F, f->ports[*port].num);
	q->key[0] = *port;
	*port += *extended;
	*extended = !*extended;
	return true;
}

static void take_counters(void *context, const struct dl_live_query *q, int status)
{
	struct asking *a = context;
	bool extended = q->attr == IB_GSI_PORT_COUNTERS_EXT;
	uint64_t *value = a->c->value[q->key[0]];
	void *data = (void *)q->data;

	if (status) {
		a->silent += !extended; /* many ports have no counters of 64 bits */
		return;
	}
	for (unsigned int i = 0; i < DL_LIVE_COUNTERS; i++) {
		uint64_t read =
			extended ? (fields[i].wide ? mad_get_field64(data, 0, fields[i].wide) : 0) :
				   mad_get_field(data, 0, fields[i].field);

		if (read > value[i])
			value[i] = read;
	}
	a->c->nknown += !a->c->known[q->key[0]];
	a->c->known[q->key[0]] = true;
}

int dl_live_counters_ask(const struct dl_live_options *o, const struct dl_fabric *f,
			 const struct dl_log *log, struct dl_live_counters *out)
{
	struct asking a = { .f = f, .c = out };
	const struct dl_live_queries list = { "counters", &a, counters_next_port, take_counters };
	struct dl_live_mads *mads = NULL;
	int err = dl_live_counters_new(f, out);

	if (!err)
		err = dl_live_mads_open(o, log, &mads);
	if (!err)
		err = dl_live_mads_run(mads, &list);
	dl_live_mads_close(mads);
	if (!err && a.silent)
		dl_log(log, DL_LOG_WARNING, "%" PRIu64 " ports did not report their counters",
		       a.silent);
	return err;
}

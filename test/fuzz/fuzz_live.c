/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A running fabric of two switches and two adapters, whose devices and subnet
 * administrator answer what the input makes of it.  The input is a row of lies, of
 * which each tells how many answers before it are true, and what comes next:
 *
 *   x  the answer with one byte changed: where, and the bits
 *   r  the next bytes in place of the answer's data: how many, and these
 *   e  an error: a status of 16 bits
 *   s  silence
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include "dateline/live.h"
#include "listen.h"
#include "test/unit/fake_umad.h"

#define IN_FLIGHT 8
#define PORTS 4	     /* of a switch */
#define ACTIVE 4     /* PortInfo.PortState */
#define LINK_UP 5    /* PortInfo.PortPhysicalState */
#define CAPS 0x48    /* SL-to-VL maps; traps */
#define MOST 1000000 /* answers */

const unsigned int fuzz_cost = 25;

static struct {
	const uint8_t *at, *end;   /* of the input */
	unsigned int truths;	   /* before the next lie */
	const struct dl_fabric *f; /* what is true */
	unsigned int sent;	   /* answers */
} net;

/* ---- the input ----------------------------------------------------------- */

static unsigned int next_byte(void)
{
	return net.at < net.end ? *net.at++ : 0;
}

/* Makes a lie of an answer, if it is time.  False: there is none. */
static bool lie(uint8_t *mad, unsigned int offset)
{
	unsigned int n;

	if (net.at == net.end || net.truths--)
		return true;
	switch (next_byte()) {
	case 'x':
		n = next_byte();
		mad[offset + n % (IB_MAD_SIZE - offset)] ^= next_byte();
		break;
	case 'r':
		n = next_byte();
		for (unsigned int i = 0; i < n && i < IB_MAD_SIZE - offset; i++)
			mad[offset + i] = next_byte();
		break;
	case 'e':
		mad[4] = next_byte();
		mad[5] = next_byte();
		break;
	default:
		net.truths = next_byte();
		return false;
	}
	net.truths = next_byte();
	return true;
}

/* ---- the truth ------------------------------------------------------------- */

/* The port by which a directed route comes to its node; DL_NONE: it leads nowhere. */
static uint32_t follow(const uint8_t *mad)
{
	uint32_t port = net.f->nodes[2].first_port + 1; /* where the datagrams start */

	for (unsigned int i = 1; i <= mad[7] && port != DL_NONE; i++) {
		const struct dl_fabric_node *n = &net.f->nodes[net.f->ports[port].node];
		unsigned int out = mad[128 + i];

		port = out && out <= n->nports ? net.f->ports[n->first_port + out].peer : DL_NONE;
	}
	return port;
}

static void tell_node(uint8_t *data, const struct dl_fabric_node *n, uint32_t in)
{
	mad_set_field(data, 0, IB_NODE_TYPE_F, n->type);
	mad_set_field(data, 0, IB_NODE_NPORTS_F, n->nports);
	mad_set_field64(data, 0, IB_NODE_SYSTEM_GUID_F, n->guid);
	mad_set_field64(data, 0, IB_NODE_GUID_F, n->guid);
	mad_set_field64(data, 0, IB_NODE_PORT_GUID_F, n->guid + 0x100);
	mad_set_field(data, 0, IB_NODE_LOCAL_PORT_F, net.f->ports[in].num);
}

static void tell_port(uint8_t *data, const struct dl_fabric_node *n, unsigned int num)
{
	const struct dl_fabric_port *p =
		&net.f->ports[n->first_port + (num <= n->nports ? num : 0)];
	bool up = !p->num || p->peer != DL_NONE;

	mad_set_field(data, 0, IB_PORT_LID_F, p->lid);
	mad_set_field(data, 0, IB_PORT_SMLID_F, 1);
	mad_set_field(data, 0, IB_PORT_CAPMASK_F, CAPS);
	mad_set_field(data, 0, IB_PORT_STATE_F, up ? ACTIVE : 1);
	mad_set_field(data, 0, IB_PORT_PHYS_STATE_F, up ? LINK_UP : 2);
	mad_set_field(data, 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
	mad_set_field(data, 0, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
	mad_set_field(data, 0, IB_PORT_OPER_VLS_F, 4);
	mad_set_field(data, 0, IB_PORT_VL_ARBITRATION_HIGH_CAP_F, 8);
	mad_set_field(data, 0, IB_PORT_VL_ARBITRATION_LOW_CAP_F, 8);
}

/* The rest are bytes that mean something in any table. */
static void tell(uint8_t *mad, uint8_t *data)
{
	uint32_t in = follow(mad), mod = mad_get_field(mad, 0, IB_MAD_ATTRMOD_F);
	const struct dl_fabric_node *n = &net.f->nodes[net.f->ports[in].node];
	unsigned int attr = mad_get_field(mad, 0, IB_MAD_ATTRID_F);

	memset(data, attr == IB_ATTR_SLVL_TABLE ? 0x12 : 1, IB_SMP_DATA_SIZE);
	if (attr != IB_ATTR_NODE_INFO && attr != IB_ATTR_PORT_INFO && attr != IB_ATTR_SWITCH_INFO &&
	    attr != IB_ATTR_NODE_DESC)
		return;
	memset(data, 0, IB_SMP_DATA_SIZE);
	if (attr == IB_ATTR_NODE_INFO)
		tell_node(data, n, in);
	else if (attr == IB_ATTR_PORT_INFO)
		tell_port(data, n, mod);
	else if (attr == IB_ATTR_NODE_DESC)
		snprintf((char *)data, IB_SMP_DATA_SIZE, "%s", net.f->names + n->desc);
	else
		mad_set_field(data, 0, IB_SW_LINEAR_FDB_TOP_F, net.f->top_lid);
}

/* ---- in place of libibumad ------------------------------------------------- */

int umad_send(int id, int agent, void *umad, int len, int timeout, int retries)
{
	uint8_t *mad = fake_umad.waiting[fake_umad.nwaiting];
	bool directed = agent == IB_SMI_DIRECT_CLASS;

	(void)id;
	(void)timeout;
	(void)retries;
	FUZZ_CHECK(len == IB_MAD_SIZE && fake_umad.nwaiting < IN_FLIGHT && net.sent++ < MOST);
	memcpy(mad, umad_get_mad(umad), IB_MAD_SIZE);
	if (directed && follow(mad) == DL_NONE)
		return 0;
	if (directed)
		tell(mad, mad + IB_SMP_DATA_OFFS);
	fake_umad.nwaiting += lie(mad, agent == IB_SA_CLASS ? IB_SA_DATA_OFFS : IB_SMP_DATA_OFFS);
	return 0;
}

/* ---- reading --------------------------------------------------------------- */

static void check_snapshot(const struct dl_live_options *o, struct dl_snapshot *s)
{
	struct dl_live_counters c;
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	struct dl_fabric *again;

	FUZZ_CHECK(!dl_tables_check(s->tables, &listener));
	FUZZ_CHECK(to && !dl_fabric_write_netlist(s->fabric, to));
	fclose(to);
	to = fmemopen(text, len, "r");
	FUZZ_CHECK(to && !dl_fabric_read_netlist_stream(to, "written", &listener, &again));
	FUZZ_CHECK(dl_snapshot_fabric_id(again) == dl_snapshot_fabric_id(s->fabric));
	dl_fabric_free(again);
	fclose(to);
	free(text);
	FUZZ_CHECK(!dl_live_counters_ask(o, s->fabric, &listener, &c));
	FUZZ_CHECK(c.nknown <= s->fabric->nports);
	dl_live_counters_release(&c);
	to = open_memstream(&text, &len);
	FUZZ_CHECK(to && dl_live_congestion(o, s->fabric, &listener, to) >= 0);
	fclose(to);
	for (size_t i = 0; i < len; i++)
		FUZZ_CHECK(text[i] == '\n' || (unsigned char)text[i] >= ' ');
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[2] = { "h0", "h1" };
	struct dl_live_options o;
	struct dl_torus_mark *marks = NULL;
	struct dl_snapshot s = { 0 };
	int err;

	memset(&net, 0, sizeof(net));
	fake_umad.nwaiting = fake_umad.ms = 0;
	net.f = fuzz_pair(PORTS, names);
	net.at = data;
	net.end = data + size;
	net.truths = next_byte();
	fake_umad.on = true;
	dl_live_options_init(&o);
	o.in_flight = IN_FLIGHT;
	o.retries = 1;
	error = false;
	err = dl_live_read(&o, &listener, &s, &marks);
	FUZZ_CHECK(!err || err == -EAGAIN || err == -ENOTCONN || err == -ENODEV);
	FUZZ_CHECK(error == !!err);
	if (!err)
		check_snapshot(&o, &s);
	dl_snapshot_release(&s);
	free(marks);
	fake_umad.on = false;
	dl_fabric_free((struct dl_fabric *)net.f);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The cache that ibnetdiscover --cache writes: nodes, then ports, each with what
 * the node has answered (NodeInfo, PortInfo and so on, 64 bytes each, IBA volume
 * 1, 14.2.5).  Numbers of the cache itself are little endian, those in an answer
 * big endian.  In messages, the number after the file's name is a byte's.
 *
 *   28 bytes    magic, version, nodes, ports (4 each), first node (8), hops (4)
 *   207 bytes   node: LID (2), LMC, enhanced port 0, SwitchInfo (64), GUID (8),
 *               type, ports, NodeInfo (64), description (64), ports stored;
 *               and for each of these 9 bytes: port GUID (8), port
 *   95 bytes    port: GUID (8), port, chassis port, LID (2), LMC, PortInfo (64),
 *               node GUID (8), is there a far end, its port GUID (8), its port
 *
 * FDR10 is not in it: such links are QDR.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/internal.h"
#include "dateline/base.h"

#define MAGIC 0x8FE7832Bu
#define ANSWER 64
#define KEY 9

struct reader {
	struct dl_fabric_records r;
	FILE *from;
	uint32_t at;			/* bytes read */
	struct dl_fabric_record *nodes; /* what ports of each say */
	struct dl_fabric_guid_key *by_guid;
	uint32_t nnodes, nodes_cap;
	uint8_t bytes[UINT8_MAX * KEY];
};

static uint64_t little(const uint8_t *at, unsigned int n)
{
	return n ? *at | little(at + 1, n - 1) << 8 : 0;
}

static uint64_t big(const uint8_t *at, unsigned int n)
{
	return n ? big(at, n - 1) << 8 | at[n - 1] : 0;
}

static int broken(const struct reader *c, const char *what)
{
	return dl_fabric_parsed_error(c->r.d, (struct dl_fabric_parsed_place){ c->r.file, c->at },
				      "expected %s", what);
}

static int take(struct reader *c, size_t n)
{
	size_t got = fread(c->bytes, 1, n, c->from);

	c->at += got;
	return got == n ? 0 : broken(c, ferror(c->from) ? "a file that can be read" : "more bytes");
}

static int read_node(struct reader *c)
{
	struct dl_fabric_record e = { .line = c->at };
	const uint8_t *b = c->bytes, *info = b + 78, *desc = info + ANSWER;
	unsigned int claimed;
	int err = take(c, 207);

	if (err)
		return err;
	claimed = b[77];
	e.lid = little(b, 2);
	e.lmc = b[2];
	e.guid = little(b + 68, 8);
	e.type = b[76];
	e.system_guid = big(info + 4, 8);
	e.port_guid = big(info + 20, 8);
	e.device = big(info + 30, 2);
	e.vendor = big(info + 37, 3);
	if (!e.guid)
		return broken(c, "a GUID other than 0");
	if (e.type != DL_FABRIC_CA && e.type != DL_FABRIC_SWITCH && e.type != DL_FABRIC_ROUTER)
		return broken(c, "a channel adapter, a switch or a router (1 to 3)");
	if (e.lmc > DL_FABRIC_MAX_LMC)
		return broken(c, "an LMC, at most 7");
	err = dl_fabric_parsed_string(c->r.d, (const char *)desc,
				      strnlen((const char *)desc, ANSWER), &e.desc);
	if (err)
		return err;
	e.nports = dl_fabric_ports(c->r.d->log, claimed, e.guid, c->r.d->strings + e.desc);
	if (c->nnodes == DL_FABRIC_PARSED_NODES)
		return broken(c, "at most 65535 nodes");
	if (!dl_array_room(c->nodes, c->nnodes, 1, &c->nodes_cap))
		return -ENOMEM;
	c->nodes[c->nnodes++] = e;
	return take(c, b[206] * (size_t)KEY);
}

static const struct dl_fabric_record *find_node(const struct reader *c, uint64_t guid)
{
	uint32_t low = 0, high = c->nnodes;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (c->by_guid[middle].guid < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->nnodes && c->by_guid[low].guid == guid ? &c->nodes[c->by_guid[low].node] :
								 NULL;
}

static void read_rate(const uint8_t *info, struct dl_fabric_record *e)
{
	static const uint8_t widths[] = { [1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2 };
	static const uint8_t plain[] = { 0, DL_FABRIC_SDR, DL_FABRIC_DDR, 0, DL_FABRIC_QDR };
	static const uint8_t extended[] = {
		[1] = DL_FABRIC_FDR, [2] = DL_FABRIC_EDR, [4] = DL_FABRIC_HDR, [8] = DL_FABRIC_NDR
	};
	static const uint8_t vls[] = { 0, 1, 2, 4, 8, 15 };
	unsigned int width = info[31], speed = info[35] >> 4, more = info[62] >> 4;
	unsigned int code = info[43] >> 4;

	if (more && more < sizeof(extended))
		e->speeds = dl_fabric_speeds_up_to(extended[more]);
	else if (speed < sizeof(plain))
		e->speeds = dl_fabric_speeds_up_to(plain[speed]);
	if (width < sizeof(widths))
		e->widths = dl_fabric_widths_up_to(widths[width]);
	if (code < sizeof(vls))
		e->vls = vls[code];
}

static int read_port(struct reader *c)
{
	struct dl_fabric_record near, far = { .line = c->at };
	const uint8_t *b = c->bytes, *info = b + 13;
	const struct dl_fabric_record *node;
	uint32_t line = c->at;
	int err = take(c, 95);

	if (err)
		return err;
	node = find_node(c, little(b + 77, 8));
	if (!node)
		return broken(c, "the GUID of a node");
	near = *node;
	near.line = line;
	near.num = b[8];
	if (near.num > near.nports || (!near.num && near.type != DL_FABRIC_SWITCH)) {
		dl_fabric_parsed_left_out(c->r.d,
					  (struct dl_fabric_parsed_place){ c->r.file, line },
					  "port %u of \"%.64s\", which has %u", near.num,
					  c->r.d->strings + near.desc, near.nports);
		return 0;
	}
	if (near.type != DL_FABRIC_SWITCH) {
		near.port_guid = little(b, 8);
		near.lid = little(b + 10, 2);
		near.lmc = b[12];
		if (near.lmc > DL_FABRIC_MAX_LMC)
			return broken(c, "an LMC, at most 7");
	}
	read_rate(info, &near);
	far.refers = b[85] && near.num;
	far.port_guid = little(b + 86, 8);
	far.num = b[94];
	if (far.refers && far.num > DL_FABRIC_MAX_PORTS) {
		dl_fabric_parsed_left_out(c->r.d,
					  (struct dl_fabric_parsed_place){ c->r.file, line },
					  "a cable from port %u of \"%.64s\" to port %u, where the "
					  "highest is %u",
					  near.num, c->r.d->strings + near.desc, far.num,
					  DL_FABRIC_MAX_PORTS);
		far.refers = false;
	}
	return dl_fabric_records_add(&c->r, &near, &far);
}

static int read_nodes(struct reader *c, uint32_t n)
{
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++)
		err = read_node(c);
	if (err)
		return err;
	c->by_guid = calloc(n + 1ul, sizeof(*c->by_guid));
	if (!c->by_guid)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		c->by_guid[i] = (struct dl_fabric_guid_key){ c->nodes[i].guid, i };
	qsort(c->by_guid, n, sizeof(*c->by_guid), dl_fabric_compare_guids);
	for (uint32_t i = 1; i < n; i++)
		if (c->by_guid[i].guid == c->by_guid[i - 1].guid)
			return broken(c, "each node once");
	return 0;
}

static int read_all(struct reader *c)
{
	uint32_t nodes, ports;
	int err = take(c, 28);

	if (err)
		return err;
	if (little(c->bytes, 4) != MAGIC || little(c->bytes + 4, 4) != 1)
		return broken(c, "a cache of ibnetdiscover, version 1");
	nodes = little(c->bytes + 8, 4);
	ports = little(c->bytes + 12, 4);
	if (ports > DL_FABRIC_PARSED_PORTS)
		return broken(c, "at most 4194304 ports");
	err = read_nodes(c, nodes);
	for (uint32_t i = 0; i < ports && !err; i++)
		err = read_port(c);
	if (!err && getc(c->from) != EOF)
		err = broken(c, "nothing more");
	if (!err)
		err = dl_fabric_records_resolve(&c->r);
	return err ? err : dl_fabric_records_fill(&c->r);
}

int dl_fabric_read_cache(FILE *from, const char *name, struct dl_fabric_parsed *d)
{
	struct reader *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	if (!c)
		return err;
	c->from = from;
	c->r.d = d;
	err = dl_fabric_parsed_string(d, name, strlen(name), &c->r.file);
	if (!err)
		err = read_all(c);
	free(c->r.record);
	free(c->by_guid);
	free(c->nodes);
	free(c);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A certificate: why tables have no credit loop, in a form that a program of
 * one page can check.
 *
 * A graph has no cycle if its vertices have numbers that fall along each edge.
 * The certificate holds such a number, a rank, for each channel between
 * switches that packets use: no packet waits for a channel of a higher or an
 * equal rank than the one that it holds.  Who has the tables needs to follow
 * each packet once and compare.  It also holds checksums of each switch's
 * tables, so that it belongs to these and no others, and of itself.
 *
 *	dateline-certificate 1
 *	tables 0x00d1000000000000 5c1b3f02	GUID, CRC-32
 *	rank 0x00d1000000000000 1 0 17		GUID, output port, VL, rank
 *	end 0b7a9c11				CRC-32 of all lines before
 *
 * A switch's checksum is that of zlib over these bytes: for each LID in use, ascending,
 * the output port, or 255; for each input port, 0 included, and each output port
 * above 0, both in use, the VLs of SL 0 to 15, or 255 sixteen times where the
 * map is not known; for each multicast LID with ports there, ascending, the LID
 * (high byte first), and its ports; for each end port with a LID, by the
 * switch's port, the path SL to each LID in use, or 255.
 *
 * The rank is the length of the longest chain of channels that wait, counted
 * from its end (cycle.c).  Complexity: that of dl_verify().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "verify/internal.h"

/* ---- checksums ------------------------------------------------------------ */

/*
 * A CRC of eight bytes at a time: table[k][b] is what byte b does to the CRC when
 * k more bytes follow it.
 */
struct checksums {
	const struct dl_tables *t;
	uint16_t *lids; /* in use, ascending */
	uint32_t nlids;
	uint8_t *bytes; /* of each LID in use */
	uint32_t table[8][256];
};

static int certificate_prepare(struct checksums *c, const struct dl_tables *t,
			       struct dl_arena *arena)
{
	const struct dl_fabric *f = t->fabric;

	c->t = t;
	c->lids = dl_arena_array(arena, f->top_lid + 1u, sizeof(*c->lids));
	c->bytes = dl_arena_array(arena, f->top_lid + 1u, 1);
	if (!c->lids || !c->bytes)
		return -ENOMEM;
	for (uint32_t lid = 1; lid <= f->top_lid; lid++)
		if (f->lid_port[lid] != DL_NONE)
			c->lids[c->nlids++] = lid;
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t state = b;

		for (unsigned int i = 0; i < 8; i++)
			state = state >> 1 ^ (state & 1 ? 0xEDB88320u : 0);
		c->table[0][b] = state;
	}
	for (unsigned int k = 1; k < 8; k++)
		for (uint32_t b = 0; b < 256; b++)
			c->table[k][b] = c->table[k - 1][b] >> 8 ^
					 c->table[0][c->table[k - 1][b] & 0xFF];
	return 0;
}

static uint32_t certificate_crc(const struct checksums *c, uint32_t state, const uint8_t *bytes,
				size_t n)
{
	for (; n >= 8; bytes += 8, n -= 8) {
		uint32_t next = 0;

		for (unsigned int i = 0; i < 4; i++)
			next ^= c->table[7 - i][(state >> 8 * i & 0xFF) ^ bytes[i]] ^
				c->table[3 - i][bytes[4 + i]];
		state = next;
	}
	while (n--)
		state = state >> 8 ^ c->table[0][(state ^ *bytes++) & 0xFF];
	return state;
}

static uint32_t crc_maps(const struct checksums *c, uint32_t s, uint32_t state)
{
	const struct dl_tables *t = c->t;
	const struct dl_fabric_node *n = dl_fabric_switch_node(t->fabric, s);

	for (unsigned int i = 0; i <= n->nports; i++) {
		for (unsigned int o = 1; o <= n->nports; o++) {
			uint16_t row = t->sl2vl[dl_tables_map_index(t, s, i, o)];
			uint8_t vls[16];

			if (!dl_fabric_in_use(t->fabric, n, i) ||
			    !dl_fabric_in_use(t->fabric, n, o))
				continue;
			for (unsigned int sl = 0; sl < 16; sl++)
				vls[sl] = row == DL_TABLES_NO_ROW ?
						  0xFF :
						  dl_tables_sl2vl_get(t->rows[row], sl);
			state = certificate_crc(c, state, vls, sizeof(vls));
		}
	}
	return state;
}

static uint32_t crc_groups(const struct checksums *c, uint32_t s, uint32_t state)
{
	const struct dl_tables *t = c->t;

	for (uint32_t g = 0; g < t->ngroups; g++) {
		const uint64_t *row = dl_tables_mask_find(&t->groups[g].masks, s);
		uint16_t mlid = t->groups[g].mlid;
		bool any = false;

		for (unsigned int o = 0; row && o < 256; o++) {
			uint8_t bytes[3] = { mlid >> 8, mlid, o };

			if (!(row[o / 64] >> o % 64 & 1))
				continue;
			state = any ? certificate_crc(c, state, &bytes[2], 1) :
				      certificate_crc(c, state, bytes, 3);
			any = true;
		}
	}
	return state;
}

static uint32_t crc_paths(const struct checksums *c, uint32_t s, uint32_t state)
{
	const struct dl_fabric *f = c->t->fabric;
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);

	for (unsigned int i = 0; i <= n->nports; i++) {
		uint32_t end = dl_fabric_end_at(f, n, i);

		if (end == DL_NONE || !f->ports[end].lid)
			continue;
		for (uint32_t k = 0; k < c->nlids; k++)
			c->bytes[k] = dl_tables_path_sl(c->t, end, c->lids[k]);
		state = certificate_crc(c, state, c->bytes, c->nlids);
	}
	return state;
}

static uint32_t certificate_checksum(const struct checksums *c, uint32_t s)
{
	uint32_t state = 0xFFFFFFFF;

	for (uint32_t k = 0; k < c->nlids; k++)
		c->bytes[k] = dl_tables_lft(c->t, s, c->lids[k]);
	state = certificate_crc(c, state, c->bytes, c->nlids);
	return ~crc_paths(c, s, crc_groups(c, s, crc_maps(c, s, state)));
}

/* ---- all ------------------------------------------------------------------ */

static int write_all(const struct dl_verify_net *net, const uint32_t *rank,
		     const struct checksums *c, FILE *to)
{
	const struct dl_fabric *f = net->f;

	fprintf(to, "dateline-certificate 1\n");
	for (uint32_t s = 0; s < net->nsw; s++)
		fprintf(to, "tables 0x%016" PRIx64 " %08" PRIx32 "\n",
			dl_fabric_switch_node(f, s)->guid, certificate_checksum(c, s));
	for (uint32_t l = 0; l < net->links.n; l++) {
		const struct dl_fabric_port *port = &f->ports[net->links.link[l].port];

		for (unsigned int vl = 0; vl < net->nvl; vl++)
			if (net->vls[l] >> vl & 1)
				fprintf(to, "rank 0x%016" PRIx64 " %u %u %" PRIu32 "\n",
					f->nodes[port->node].guid, port->num, vl,
					rank[l * net->nvl + vl]);
	}
	return 0;
}

/* The lines, and what they add up to. */
static int write_whole(const struct dl_verify_net *net, const uint32_t *rank,
		       const struct checksums *c, FILE *to)
{
	char *text;
	size_t size;
	int err = dl_memory_write(&text, &size, lines, write_all(net, rank, c, lines));

	if (err)
		return err;
	fwrite(text, 1, size, to);
	fprintf(to, "end %08" PRIx32 "\n",
		~certificate_crc(c, 0xFFFFFFFF, (const uint8_t *)text, size));
	free(text);
	return ferror(to) ? -EIO : 0;
}

static int certificate_certify(struct dl_verify_net *net, const struct dl_verify_options *o,
			       FILE *to)
{
	struct checksums *c = dl_arena_zalloc(net->arena, sizeof(*c));
	uint32_t *rank =
		dl_arena_array(net->arena, net->links.n * (size_t)net->nvl + 1, sizeof(*rank));
	int err;

	if (!c || !rank)
		return -ENOMEM;
	err = certificate_prepare(c, net->t, net->arena);
	if (!err)
		err = dl_verify_unicast(net, NULL, 0);
	if (!err)
		err = dl_verify_multicast(net, NULL, o->multicast_sls & net->alive, NULL, 0);
	if (!err)
		err = dl_verify_rank(net, rank);
	return err ? err : write_whole(net, rank, c, to);
}

int dl_verify_certificate(const struct dl_tables *t, const struct dl_verify_options *o, FILE *to)
{
	struct dl_verify_options defaults;
	struct dl_verify_net net = { 0 };
	struct dl_arena arena = { 0 };
	int err = dl_tables_check(t, NULL);

	if (!o) {
		dl_verify_options_init(&defaults);
		o = &defaults;
	}
	if (!err)
		err = dl_verify_net_init(&net, &arena, t, o);
	if (!err && !t->psl)
		net.sls = net.sls ? net.sls : dl_verify_net_distinct(&net, net.alive);
	if (!err)
		err = certificate_certify(&net, o, to);
	dl_verify_net_release(&net);
	dl_arena_free(&arena);
	return err;
}

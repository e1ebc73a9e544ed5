/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading opensm.fdbs and opensm.mcfdbs, OpenSM's tables in ibdmchk's form.
 *
 *   dump_ucast_routes: Switch 0x0000000000200000
 *   LID    : Port : Hops : Optimal
 *   0x0007 : 007  : 01   : yes
 *   0x0008 : UNREACHABLE
 *
 *   Switch 0x0000000000200000
 *   LID    : Out Port(s)
 *   0xC000 : 0x003  0x005
 *
 * What OpenSM says after the port (hops, whether it likes the way) is passed
 * over.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tables/internal.h"

#define LAST_MLID 0xFFFE

struct fdb {
	struct dl_text text;
	struct dl_tables *t;
	uint32_t sw;	 /* of the present block, or DL_NONE */
	uint8_t *met;	 /* by switch */
	uint16_t *group; /* multicast: by MLID, number + 1 */
};

/* A line that begins a block?  1: it did; 0: it is something else. */
static int take_head(struct fdb *x)
{
	int err;

	dl_text_take_string(&x->text, "dump_ucast_routes:");
	if (!dl_text_take_string(&x->text, "Switch"))
		return 0;
	err = dl_tables_read_switch(&x->text, x->t->fabric, &x->sw);
	if (err)
		return err;
	if (x->met[x->sw]++)
		return dl_text_error(&x->text,
				     "a second table for this switch");
	return 1;
}

static int take_lid(struct fdb *x, uint64_t from, uint64_t to, const char *what,
		    uint16_t *out)
{
	uint64_t lid;
	int err;

	if (x->sw == DL_NONE)
		return dl_text_expected(&x->text, "\"Switch\" and its GUID");
	err = dl_text_number(&x->text, 16, to, what, &lid);
	if (err)
		return err;
	if (lid < from)
		return dl_text_error(&x->text, "0x%04" PRIX64 " is not %s", lid,
				     what);
	if (!dl_text_take(&x->text, ':'))
		return dl_text_expected(&x->text, "\":\"");
	*out = lid;
	return 0;
}

static int read_unicast(struct fdb *x)
{
	struct dl_tables *t = x->t;
	uint8_t *entry;
	uint64_t port;
	uint16_t lid;
	int err = take_lid(x, 0, DL_FABRIC_MAX_LID, "a unicast LID", &lid);

	if (err || dl_text_take_string(&x->text, "UNREACHABLE"))
		return err;
	if (lid > t->top_lid)
		return dl_text_error(&x->text,
				     "LID 0x%04X is above 0x%04X, the highest "
				     "in the fabric",
				     lid, t->top_lid);
	err = dl_text_number(&x->text, 10, DL_TABLES_NO_PORT, "a port number",
			     &port);
	if (err)
		return err;
	entry = &t->lft[x->sw * (size_t)t->stride + lid];
	if (*entry != DL_TABLES_NO_PORT && *entry != port)
		return dl_text_error(&x->text,
				     "LID 0x%04X a second time, with another "
				     "port",
				     lid);
	*entry = port;
	return 0;
}

/* Looking a group up by MLID is too slow to be done for every line. */
static struct dl_tables_mcast_group *find_group(struct fdb *x, uint16_t mlid)
{
	uint16_t *number = &x->group[mlid - DL_TABLES_MCAST_LID];
	struct dl_tables_mcast_group *g;

	if (*number)
		return &x->t->groups[*number - 1];
	g = dl_tables_group(x->t, mlid);
	if (g)
		*number = g - x->t->groups + 1;
	return g;
}

static int read_multicast(struct fdb *x)
{
	const struct dl_fabric_node *n;
	struct dl_tables_mcast_group *g;
	unsigned int port;
	uint16_t mlid;
	int err = take_lid(x, DL_TABLES_MCAST_LID, LAST_MLID, "a multicast LID",
			   &mlid);

	if (err)
		return err;
	n = dl_tables_switch_node(x->t->fabric, x->sw);
	while (!err && !dl_text_at_end(&x->text)) {
		err = dl_tables_read_port(&x->text, n, 16, &port);
		if (err)
			break;
		g = find_group(x, mlid);
		if (!g)
			return -ENOMEM;
		dl_tables_mask_set(g->masks, x->sw, port);
	}
	return err;
}

static int read_blocks(struct fdb *x, int (*read)(struct fdb *))
{
	int err = 0, state;

	while (!err && (state = dl_text_next(&x->text)) > 0) {
		if (dl_text_at_end(&x->text))
			continue;
		err = take_head(x);
		if (err) {
			err = err < 0 ? err : 0;
			continue;
		}
		if (!dl_text_take_string(&x->text, "LID "))
			err = read(x);
	}
	return err ? err : state;
}

static int read_file(struct dl_tables *t, FILE *from, const char *name,
		     const struct dl_log *log, int (*read)(struct fdb *))
{
	struct fdb x = { .t = t, .sw = DL_NONE };
	int err = -ENOMEM;

	dl_text_begin(&x.text, from, name, log);
	x.met = calloc(t->fabric->nswitches + 1, 1);
	x.group = calloc(LAST_MLID - DL_TABLES_MCAST_LID + 1, sizeof(*x.group));
	if (x.met && x.group)
		err = read_blocks(&x, read);
	free(x.met);
	free(x.group);
	dl_text_end(&x.text);
	return err;
}

int dl_tables_read_fdbs(struct dl_tables *t, FILE *from, const char *name,
			const struct dl_log *log)
{
	return read_file(t, from, name, log, read_unicast);
}

int dl_tables_read_mcfdbs(struct dl_tables *t, FILE *from, const char *name,
			  const struct dl_log *log)
{
	return read_file(t, from, name, log, read_multicast);
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading forwarding tables: opensm-lfts.dump, opensm.fdbs and opensm.mcfdbs.
 *
 *   Unicast lids [0-60] of switch Lid 1 guid 0x0000000000200000 ('name'):
 *   0x0007 007 # Channel Adapter portguid 0x0000000020400001: 'name'
 *   60 lids dumped
 *
 * A block per switch, a line per LID.  UNREACHABLE instead of the port number
 * is a LID without a route.  The count at the end of each block distinguishes
 * a whole dump from a truncated one.  The other two have ibdmchk's form:
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
 * What OpenSM says after the port (hops, whether it likes the route) is passed
 * over.
 *
 * Nothing else in a directory of OpenSM's dumps says how many LIDs each port
 * has, and a netlist may have none: dl_tables_read_lids() takes them from the
 * first block, before tables of the right size can be made.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "tables/internal.h"

#define LAST_MLID 0xFFFE

/* A port number, or UNREACHABLE, of a LID at the present switch. */
static int read_route(struct dl_tables_dump *d, uint32_t lid, uint8_t *port)
{
	uint64_t number = DL_TABLES_NO_PORT;
	int err = 0;

	if (!dl_text_take_string(&d->text, "UNREACHABLE"))
		err = dl_text_number(&d->text, 10, DL_TABLES_NO_PORT, "a port number", &number);
	if (!err && isalnum((unsigned char)*d->text.at))
		err = dl_text_expected(&d->text, "a blank behind the port number");
	if (!err && d->t && lid > d->t->top_lid && number != DL_TABLES_NO_PORT)
		err = dl_text_error(&d->text,
				    "LID 0x%04x is above 0x%04x, the highest "
				    "in the fabric",
				    lid, d->t->top_lid);
	*port = number;
	return err;
}

static int set_route(struct dl_tables_dump *d, uint32_t lid, uint8_t port)
{
	uint8_t *entry;

	if (lid > d->t->top_lid) /* unreachable, and in no table */
		return 0;
	entry = &d->t->lft[d->sw * (size_t)d->t->stride + lid];
	if (*entry != DL_TABLES_NO_PORT && *entry != port)
		return dl_text_error(&d->text,
				     "LID 0x%04x a second time, with another "
				     "port",
				     lid);
	*entry = port;
	return 0;
}

/* By character: the digit's value + 1; 0: it is none. */
static const uint8_t hex_digit[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* Four hexadecimal digits; above 0xFFFF: they are not. */
static uint32_t four_digits(const char *at)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < 4; i++) {
		unsigned int digit = hex_digit[(unsigned char)at[i]];

		value = digit ? value << 4 | (digit - 1) : UINT32_MAX >> 4;
	}
	return value;
}

/* Three decimal digits; above 999: they are not. */
static unsigned int three_digits(const char *at)
{
	unsigned int a = (unsigned char)at[0] - '0', b = (unsigned char)at[1] - '0';
	unsigned int c = (unsigned char)at[2] - '0';

	return a > 9 || b > 9 || c > 9 ? UINT_MAX : 100 * a + 10 * b + c;
}

#define ROUTE_BYTES 16 /* of a line, at least, for it to be read here */

/* "0x0007" `between` "007", and anything to the end of the line. */
static inline char *read_routes(struct dl_tables_dump *d, char *at, char *end, const char *between,
				size_t len)
{
	const uint32_t top = d->t ? d->t->top_lid : 0;
	uint8_t *row;

	if (d->sw == DL_NONE)
		return at;
	row = d->t->lft + d->sw * (size_t)d->t->stride;
	while (end - at >= ROUTE_BYTES) {
		uint32_t lid = four_digits(at + 2);
		unsigned int port = three_digits(at + 6 + len);
		char after = at[6 + len + 3], *newline;

		if (at[0] != '0' || at[1] != 'x' || memcmp(at + 6, between, len) || lid > top ||
		    port > DL_TABLES_NO_PORT || (after != ' ' && after != '\n') ||
		    (row[lid] != DL_TABLES_NO_PORT && row[lid] != port))
			break;
		newline = memchr(at + 6 + len + 3, '\n', end - (at + 6 + len + 3));
		row[lid] = port;
		d->lines++;
		d->text.line++;
		at = newline + 1;
	}
	return at;
}

static char *read_lfts_fast(struct dl_tables_dump *d, char *at, char *end)
{
	return read_routes(d, at, end, " ", 1);
}

static char *read_fdbs_fast(struct dl_tables_dump *d, char *at, char *end)
{
	return read_routes(d, at, end, " : ", 3);
}

/* ---- opensm-lfts.dump -------------------------------------------------- */

struct lfts {
	struct dl_tables_dump d;
	struct dl_fabric_index owners; /* reading LIDs: the end ports */
	struct dl_fabric *f;	       /* and where to put them */
};

static int lfts_read_head(struct lfts *x)
{
	struct dl_text *text = &x->d.text;
	char *guid;

	x->d.lines = 0;
	if (!dl_text_take_string(text, "Unicast lids"))
		return dl_text_expected(text, "\"Unicast lids ... of switch\"");
	guid = strstr(text->at, " guid ");
	if (!guid)
		return dl_text_error(text, "expected \"guid\" and the switch's "
					   "GUID");
	text->at = guid + strlen(" guid ");
	return dl_tables_dump_table(&x->d);
}

/* "60 lids dumped" */
static int read_count(struct lfts *x)
{
	uint64_t number;
	int err = dl_text_number(&x->d.text, 10, UINT32_MAX, "a LID, or the number of LIDs dumped",
				 &number);

	if (!err)
		err = dl_tables_dump_word(&x->d, "lids dumped");
	if (!err && number != x->d.lines)
		err = dl_text_error(&x->d.text, "%" PRIu64 " LIDs announced, %u read", number,
				    x->d.lines);
	x->d.sw = DL_NONE;
	return err;
}

static int read_lid(struct lfts *x, uint64_t *lid, uint8_t *port)
{
	int err = dl_text_number(&x->d.text, 16, DL_FABRIC_MAX_LID, "a unicast LID", lid);

	x->d.lines++;
	return err ? err : read_route(&x->d, *lid, port);
}

static int read_lfts_line(struct dl_tables_dump *d)
{
	struct lfts *x = (struct lfts *)d;
	uint64_t lid;
	uint8_t port;
	int err;

	if (d->sw == DL_NONE)
		return lfts_read_head(x);
	if (strncmp(d->text.at, "0x", 2))
		return read_count(x);
	err = read_lid(x, &lid, &port);
	return err ? err : set_route(d, lid, port);
}

int dl_tables_read_lfts(struct dl_tables *t, FILE *from, const char *name, const struct dl_log *log)
{
	struct lfts x = { .d = { .t = t, .f = t->fabric, .fast = read_lfts_fast } };
	int err = dl_tables_dump_read(&x.d, from, name, log, read_lfts_line);

	if (!err && x.d.sw != DL_NONE)
		err = dl_text_error(&x.d.text, "the file ends inside a switch's table: "
					       "expected \"... lids dumped\"");
	return err;
}

/* ---- owners of LIDs ---------------------------------------------------- */

/* The owner that a line's comment names, or DL_NONE when it names none. */
static int read_owner(struct lfts *x, uint32_t *owner)
{
	struct dl_text *text = &x->d.text;
	char *at = strstr(text->at, " portguid ");
	uint64_t guid;
	int err;

	*owner = DL_NONE;
	if (!at)
		return 0;
	text->at = at + strlen(" portguid ");
	err = dl_text_number(text, 16, UINT64_MAX, "a port's GUID", &guid);
	if (err)
		return err;
	*owner = dl_fabric_find_port(x->f, &x->owners, guid);
	if (*owner == DL_NONE)
		return dl_text_error(text,
				     "the fabric has no port with the GUID "
				     "0x%016" PRIx64,
				     guid);
	return 0;
}

/*
 * Each port owns an aligned range of 2^LMC LIDs.  Ports that have a LID
 * already keep it; what the dump says must agree.
 */
static int give_lid(struct lfts *x, uint32_t owner, uint16_t lid)
{
	struct dl_fabric_port *p = &x->f->ports[owner];

	if (!p->lid)
		p->lid = lid;
	while (p->lmc < DL_FABRIC_MAX_LMC && lid >= p->lid + (1u << p->lmc) &&
	       lid < p->lid + (1u << DL_FABRIC_MAX_LMC))
		p->lmc++;
	if (lid >= p->lid && lid < p->lid + (1u << p->lmc))
		return 0;
	return dl_text_error(&x->d.text,
			     "LID 0x%04x belongs to \"%s\" here, whose LIDs "
			     "begin at 0x%04x in the fabric",
			     lid, dl_fabric_node_name(x->f, p->node), p->lid);
}

static int read_lids_line(struct dl_tables_dump *d)
{
	struct lfts *x = (struct lfts *)d;
	uint64_t lid;
	uint32_t owner;
	uint8_t port;
	int err;

	if (d->sw == DL_NONE)
		return lfts_read_head(x);
	if (strncmp(d->text.at, "0x", 2)) {
		err = read_count(x);
		return err ? err : 1; /* one switch's table is enough */
	}
	err = read_lid(x, &lid, &port);
	if (!err)
		err = read_owner(x, &owner);
	if (!err && owner != DL_NONE)
		err = give_lid(x, owner, lid);
	return err;
}

int dl_tables_read_lids(struct dl_fabric *f, FILE *from, const char *name, const struct dl_log *log)
{
	struct lfts x = { .d = { .f = f }, .f = f };
	int err = dl_fabric_index_ports(f, &x.owners);

	if (!err)
		err = dl_tables_dump_read(&x.d, from, name, log, read_lids_line);
	dl_fabric_index_free(&x.owners);
	return err ? err : dl_fabric_finish(f, log);
}

/* ---- opensm.fdbs and opensm.mcfdbs ------------------------------------- */

/* 1: an entry of this LID follows; 0: the line is a head, and was read. */
static int read_fdb(struct dl_tables_dump *d, uint32_t last, const char *what, uint64_t *lid)
{
	int err;

	dl_text_take_string(&d->text, "dump_ucast_routes:");
	if (dl_text_take_string(&d->text, "Switch"))
		return dl_tables_dump_table(d);
	if (dl_text_take_string(&d->text, "LID "))
		return 0;
	if (d->sw == DL_NONE)
		return dl_text_expected(&d->text, "\"Switch\" and its GUID");
	err = dl_text_number(&d->text, 16, last, what, lid);
	if (!err)
		err = dl_tables_dump_word(d, ":");
	return err ? err : 1;
}

static int read_unicast(struct dl_tables_dump *d)
{
	uint64_t lid;
	uint8_t port;
	int err = read_fdb(d, DL_FABRIC_MAX_LID, "a unicast LID", &lid);

	if (err <= 0)
		return err;
	err = read_route(d, lid, &port);
	return err ? err : set_route(d, lid, port);
}

static int read_multicast(struct dl_tables_dump *d)
{
	struct dl_tables_mcast_group *g;
	unsigned int port;
	uint64_t mlid;
	int err = read_fdb(d, LAST_MLID, "a multicast LID", &mlid);

	if (err <= 0)
		return err;
	if (mlid < DL_TABLES_MCAST_LID)
		return dl_text_error(&d->text, "0x%04" PRIx64 " is not a multicast LID", mlid);
	for (err = 0; !err && !dl_text_at_end(&d->text);) {
		err = dl_tables_dump_port(d, dl_fabric_switch_node(d->f, d->sw), 16, &port);
		if (err)
			break;
		g = dl_tables_group(d->t, mlid);
		if (!g)
			return -ENOMEM;
		err = dl_tables_mask_set(&g->masks, d->sw, port);
	}
	return err;
}

int dl_tables_read_fdbs(struct dl_tables *t, FILE *from, const char *name, const struct dl_log *log)
{
	struct dl_tables_dump d = { .t = t, .f = t->fabric, .fast = read_fdbs_fast };

	return dl_tables_dump_read(&d, from, name, log, read_unicast);
}

int dl_tables_read_mcfdbs(struct dl_tables *t, FILE *from, const char *name,
			  const struct dl_log *log)
{
	struct dl_tables_dump d = { .t = t, .f = t->fabric };

	return dl_tables_dump_read(&d, from, name, log, read_multicast);
}

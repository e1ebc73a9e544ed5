/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The readers of dumps: what the writers write comes back, OpenSM's own text
 * is understood, and what is wrong is refused with its line.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fabric_text.h"
#include "dateline/tables.h"
#include "verify_fixture.h"

#define FIXTURES 300

typedef int (*reader)(struct dl_tables *t, FILE *from, const char *name, const struct dl_log *log);
typedef int (*writer)(const struct dl_tables *t, FILE *to);

static int read_text(reader read, struct dl_tables *t, const char *text, size_t len,
		     struct heard *h)
{
	FILE *from = fmemopen((void *)(len ? text : "\n"), len ? len : 1, "r");
	int err;

	assert_non_null(from);
	heard_init(h);
	err = read(t, from, "test", &h->log);
	fclose(from);
	return err;
}

/* ---- there and back ---------------------------------------------------- */

static void copy(writer write, const struct dl_tables *from, reader read, struct dl_tables *to)
{
	struct heard h;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int err;

	assert_non_null(f);
	assert_int_equal(write(from, f), 0);
	fclose(f);
	err = read_text(read, to, text, len, &h);
	if (err)
		fail_msg("%s", h.error);
	free(text);
}

static void same_forwarding(const struct dl_tables *a, const struct dl_tables *b, bool owned_only)
{
	const struct dl_fabric *f = a->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t lid = 1; lid <= a->top_lid; lid++)
			if (!owned_only || f->lid_port[lid] != DL_NONE)
				assert_int_equal(dl_tables_lft(a, s, lid),
						 dl_tables_lft(b, s, lid));
}

static dl_tables_sl2vl_row row_of(const struct dl_tables *t, uint16_t number)
{
	return number == DL_TABLES_NO_ROW ? ~(dl_tables_sl2vl_row)0 : t->rows[number];
}

static void same_maps(const struct dl_tables *a, const struct dl_tables *b, bool end_ports)
{
	const struct dl_fabric *f = a->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];

		for (unsigned int i = 0; i <= n->nports; i++) {
			for (unsigned int o = 1; o <= n->nports; o++) {
				uint32_t at = a->sl2vl_first[s] + i * (n->nports + 1) + o;

				/* Ports without a cable are not dumped. */
				if (f->ports[n->first_port + o].peer != DL_NONE)
					assert_true(row_of(a, a->sl2vl[at]) ==
						    row_of(b, b->sl2vl[at]));
			}
		}
	}
	for (uint32_t p = 0; end_ports && p < f->nports; p++)
		assert_true(row_of(a, a->end_sl2vl[p]) == row_of(b, b->end_sl2vl[p]));
}

static void same_sls(const struct dl_tables *a, const struct dl_tables *b)
{
	const struct dl_fabric *f = a->fabric;

	for (uint32_t p = 0; p < f->nports; p++)
		for (uint32_t lid = 1; lid <= a->top_lid; lid++)
			if (dl_fabric_is_end_port(f, p) && f->ports[p].lid &&
			    f->lid_port[lid] != DL_NONE && f->lid_port[lid] != p)
				assert_int_equal(dl_tables_path_sl(a, p, lid),
						 dl_tables_path_sl(b, p, lid));
}

static void same_groups(const struct dl_tables *a, const struct dl_tables *b)
{
	uint32_t nsw = a->fabric->nswitches;
	struct dl_tables *to = (struct dl_tables *)b;

	for (uint32_t i = 0; i < a->ngroups; i++) {
		struct dl_tables_mcast_group *g = dl_tables_group(to, a->groups[i].mlid);

		for (uint32_t s = 0; s < nsw; s++) {
			const struct dl_fabric_node *n = &a->fabric->nodes[a->fabric->switches[s]];

			for (unsigned int o = 0; o <= n->nports; o++)
				assert_int_equal(dl_tables_mask_get(a->groups[i].masks, s, o),
						 dl_tables_mask_get(g->masks, s, o));
		}
	}
	assert_int_equal(a->ngroups, b->ngroups);
}

static void same_arbs(const struct dl_tables *a, const struct dl_tables *b)
{
	for (uint32_t p = 0; p < a->fabric->nports; p++) {
		assert_int_equal(a->vlarb[p] == DL_TABLES_NO_ROW, b->vlarb[p] == DL_TABLES_NO_ROW);
		if (a->vlarb[p] != DL_TABLES_NO_ROW)
			assert_memory_equal(&a->arbs[a->vlarb[p]], &b->arbs[b->vlarb[p]],
					    sizeof(*a->arbs));
	}
}

/* What the dumps cannot say goes; arbitration tables come. */
static void adapt(struct draw *d, struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;

	for (uint32_t lid = 1; t->psl && lid <= t->top_lid; lid++)
		if (f->lid_port[lid] == DL_NONE)
			t->psl_dst[lid] = DL_NONE;
	for (uint32_t p = 0; p < f->nports; p++) {
		struct dl_tables_vlarb arb;
		int number;

		if (!f->ports[p].num || !dl_fabric_is_end_port(f, p) || !f->ports[p].lid)
			t->end_sl2vl[p] = DL_TABLES_NO_ROW;
		if (!draw_one_in(d, 4))
			continue;
		memset(&arb, 0, sizeof(arb));
		arb.nhigh = draw_below(d, 65);
		arb.nlow = draw_below(d, 65);
		arb.high_limit = draw32(d);
		for (unsigned int i = 0; i < arb.nhigh; i++)
			arb.high[i] = (struct dl_tables_vlarb_entry){ draw_below(d, 16),
								      draw_below(d, 256) };
		for (unsigned int i = 0; i < arb.nlow; i++)
			arb.low[i].weight = draw_below(d, 256);
		number = dl_tables_arb(t, &arb);
		assert_true(number >= 0);
		t->vlarb[p] = number;
	}
}

static void comes_back(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < FIXTURES; i++) {
		struct draw d = { .seed = i };
		struct dl_tables *a, *b;
		struct fixture w;

		fixture_make(&d, &w);
		a = w.tables;
		adapt(&d, a);
		assert_int_equal(dl_tables_new(w.fabric, &b), 0);
		copy(dl_tables_write_lfts, a, dl_tables_read_lfts, b);
		same_forwarding(a, b, true);
		copy(dl_tables_write_sl2vl, a, dl_tables_read_sl2vl, b);
		same_maps(a, b, true);
		copy(dl_tables_write_mcfdbs, a, dl_tables_read_mcfdbs, b);
		same_groups(a, b);
		copy(dl_tables_write_vlarb, a, dl_tables_read_vlarb, b);
		same_arbs(a, b);
		copy(dl_tables_write_psl, a, dl_tables_read_psl, b);
		same_sls(a, b);
		dl_tables_free(b);

		assert_int_equal(dl_tables_new(w.fabric, &b), 0);
		copy(dl_tables_write_fdbs, a, dl_tables_read_fdbs, b);
		same_forwarding(a, b, false);
		copy(dl_tables_write_slvl, a, dl_tables_read_slvl, b);
		same_maps(a, b, false);
		dl_tables_free(b);
		fixture_free(&w);
	}
}

/* ---- one small fabric -------------------------------------------------- */

/* Switches A0 (LID 1) and B0 (LID 2), adapters C0 at A0 (3), D0 at B0 (4). */
static struct dl_fabric *small_fabric(bool lids)
{
	static const struct {
		enum dl_fabric_node_type type;
		unsigned int nports;
		uint64_t guid;
	} nodes[] = {
		{ DL_FABRIC_SWITCH, 4, 0xA0 },
		{ DL_FABRIC_SWITCH, 4, 0xB0 },
		{ DL_FABRIC_CA, 1, 0xC0 },
		{ DL_FABRIC_CA, 1, 0xD0 },
	};
	static const uint8_t cables[][4] = {
		/* node, port, node, port */
		{ 0, 1, 1, 1 },
		{ 0, 2, 2, 1 },
		{ 1, 2, 3, 1 },
	};
	struct dl_fabric *f;

	assert_int_equal(dl_fabric_new(&f), 0);
	for (unsigned int i = 0; i < 4; i++) {
		const char id[] = { 'a' + i, '\0' };

		assert_int_equal(dl_fabric_add_node(f, nodes[i].type, nodes[i].nports,
						    nodes[i].guid, id, NULL),
				 0);
	}
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(
			dl_fabric_connect(f, f->nodes[cables[i][0]].first_port + cables[i][1],
					  f->nodes[cables[i][2]].first_port + cables[i][3]),
			0);
	for (uint32_t i = 2; i < 4; i++)
		f->ports[f->nodes[i].first_port + 1].guid = f->nodes[i].guid + 1;
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	if (lids)
		assert_int_equal(dl_fabric_assign_lids(f, 0), 0);
	return f;
}

#define LFT_HEAD "Unicast lids [0-4] of switch Lid 1 guid 0x00a0 ('x'):\n"
#define SL2VL_HEAD "Switch 0x00a0, base LID 1, \"x\"\n"
#define ZEROS " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

static const struct {
	reader read;
	const char *text;
	unsigned int line;
	const char *words;
} wrong[] = {
	{ dl_tables_read_lfts, "0x0001 000\n", 1, "expected \"Unicast lids" },
	{ dl_tables_read_lfts, "Unicast lids [0-4]\n", 1, "expected \"guid\"" },
	{ dl_tables_read_lfts, "Unicast lids of guid 0x99 ('x'):\n", 1,
	  "no node with the GUID 0x0000000000000099" },
	{ dl_tables_read_lfts, "Unicast lids of guid 0xc0 ('x'):\n", 1, "no switch" },
	{ dl_tables_read_lfts, LFT_HEAD "0x0001 256\n", 2, "expected a port number" },
	{ dl_tables_read_lfts, LFT_HEAD "0x0001\n", 2, "expected a port number" },
	{ dl_tables_read_lfts, LFT_HEAD "0x0001 zz\n", 2, "expected a port number" },
	{ dl_tables_read_lfts, LFT_HEAD "0xC000 001\n", 2, "expected a unicast LID" },
	{ dl_tables_read_lfts, LFT_HEAD "0x0009 001\n", 2, "above 0x0004" },
	{ dl_tables_read_lfts, LFT_HEAD "\n0x0001 000\n0x0001 001\n", 4, "a second time" },
	{ dl_tables_read_lfts, LFT_HEAD "0x0001 000\n", 2, "the file ends inside" },
	{ dl_tables_read_lfts, LFT_HEAD "0x0001 000\n2 lids dumped\n", 3,
	  "2 LIDs announced, 1 read" },
	{ dl_tables_read_lfts, LFT_HEAD "0 lids dumped\n" LFT_HEAD "0 lids dumped\n", 3,
	  "a second table" },
	{ dl_tables_read_lfts, LFT_HEAD "1 lids\n", 2, "expected \"lids dumped\"" },
	{ dl_tables_read_lfts, LFT_HEAD "-1 lids dumped\n", 2, "expected a LID" },

	{ dl_tables_read_fdbs, "0x0001 : 000\n", 1, "expected \"Switch\"" },
	{ dl_tables_read_fdbs, "Switch 0xA0\n0x0001 000\n", 2, "expected \":\"" },
	{ dl_tables_read_fdbs, "Switch 0xA0\n0x0005 : 000\n", 2, "above 0x0004" },
	{ dl_tables_read_fdbs, "Switch 0xA0\n0x0001 : port\n", 2, "expected a port number" },
	{ dl_tables_read_fdbs, "Switch 0xA0\n0x0001 : 1\n0x0001 : 2\n", 3, "a second time" },
	{ dl_tables_read_fdbs, "Switch 0xA0\nSwitch 0xA0\n", 2, "a second table" },

	{ dl_tables_read_mcfdbs, "Switch 0xA0\n0x0001 : 0x001\n", 2,
	  "0x0001 is not a multicast LID" },
	{ dl_tables_read_mcfdbs, "Switch 0xA0\n0xFFFF : 0x001\n", 2, "expected a multicast LID" },
	{ dl_tables_read_mcfdbs, "Switch 0xA0\n0xC000 : 0x005\n", 2,
	  "port 5 of a node with 4 ports" },
	{ dl_tables_read_mcfdbs, "Switch 0xA0\n0xC000 : 0x001 x\n", 2, "expected a port number" },

	{ dl_tables_read_sl2vl, "0 1 :" ZEROS, 1, "expected \"Switch\"" },
	{ dl_tables_read_sl2vl, SL2VL_HEAD "0 5 :" ZEROS, 2, "port 5 of a node with 4 ports" },
	{ dl_tables_read_sl2vl, SL2VL_HEAD "0 1 : 0 0 0\n", 2, "expected a VL" },
	{ dl_tables_read_sl2vl, SL2VL_HEAD "0 1 : 16\n", 2, "expected a VL" },
	{ dl_tables_read_sl2vl, SL2VL_HEAD "0 1 0\n", 2, "expected \":\"" },
	{ dl_tables_read_sl2vl, SL2VL_HEAD "0 1 : 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", 2,
	  "expected end of line" },
	{ dl_tables_read_sl2vl, SL2VL_HEAD "0 1 :" ZEROS "0 1 : 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
	  3, "a second, different map" },
	{ dl_tables_read_sl2vl, "Channel Adapter 0xC1, base LID 9, \"x\"\n", 1,
	  "no adapter in the fabric has LID 9" },
	{ dl_tables_read_sl2vl, "Channel Adapter 0xC1, base LID 4, \"x\"\n", 1,
	  "LID 4 belongs to port 0x00000000000000d1" },
	{ dl_tables_read_sl2vl, "Channel Adapter 0xA0, base LID 1, \"x\"\n", 1, "no adapter" },

	{ dl_tables_read_slvl, "0xA0 1 2 0x00 0x00\n", 1, "expected the VLs" },
	{ dl_tables_read_slvl, "0xA0 1 9 0x00\n", 1, "port 9" },
	{ dl_tables_read_slvl, "0xA0 1 2 0x100\n", 1, "expected the VLs" },

	{ dl_tables_read_vlarb, "0xA0 1 limit 256\n", 1, "expected a limit" },
	{ dl_tables_read_vlarb, "0xA0 1 limit 4 low -\n", 1, "expected high" },
	{ dl_tables_read_vlarb, "0xA0 1 limit 4 high 16:1 low -\n", 1, "expected a VL" },
	{ dl_tables_read_vlarb, "0xA0 1 limit 4 high 1 low -\n", 1, "expected \":\" and a weight" },
	{ dl_tables_read_vlarb, "0xA0 1 limit 4 high - low - x\n", 1, "expected end of line" },
	{ dl_tables_read_vlarb, "0xA9 1 limit 4 high - low -\n", 1, "no node" },

	{ dl_tables_read_psl, "0xC0 4 16\n", 1, "expected an SL" },
	{ dl_tables_read_psl, "0xC0 9 0\n", 1, "no port of the fabric has LID 9" },
	{ dl_tables_read_psl, "0xC0 4 0\n0xC0 4 1\n", 2, "with another SL" },
	{ dl_tables_read_psl, "0xC9 4 0\n", 1, "no such end port" },
	{ dl_tables_read_psl, "0x0 4 0\n", 1, "no such end port" },
	{ dl_tables_read_psl, "0xC0 4\n", 1, "expected an SL" },
	{ dl_tables_read_psl, "0xC0 0x4 0\n", 1, "expected an SL" },
	{ dl_tables_read_psl, "#port 2 of 0xC0: 4 0\n", 1, "no such end port" },
	{ dl_tables_read_psl, "#port 1 in 0xC0: 4 0\n", 1, "expected \"of\"" },
};

static void refuses(void **state)
{
	struct dl_fabric *f = small_fabric(true);

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct dl_tables *t;
		struct heard h;

		assert_int_equal(dl_tables_new(f, &t), 0);
		assert_int_equal(read_text(wrong[i].read, t, wrong[i].text, strlen(wrong[i].text),
					   &h),
				 -EINVAL);
		assert_error(&h, wrong[i].line, wrong[i].words);
		dl_tables_free(t);
	}
	dl_fabric_free(f);
}

static void reads_what_others_write(void **state)
{
	static const char lfts[] = LFT_HEAD
		"0x0001 000 # Switch portguid 0xa0: 'x'\r\n"
		"0x0002 001 # Switch portguid 0xb0: 'x'\n"
		"0x0004 UNREACHABLE # Channel Adapter portguid 0xd1: 'x'\n"
		"3 lids dumped\n\n";
	static const char fdbs[] = "dump_ucast_routes: Switch 0x00a0\n"
				   "LID    : Port : Hops : Optimal\n"
				   "0x0001 : 000  : 00   : yes\n"
				   "0x0002 : 001  : 01   : No 0 hop path possible via port 1!\n"
				   "0x0004 : UNREACHABLE\n";
	static const char psl[] = "# a comment\n0xc0 4 3\n0xd1 3 5\n";
	struct dl_fabric *f = small_fabric(true);
	struct dl_tables *t;
	struct heard h;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(dl_tables_new(f, &t), 0);
		assert_int_equal(i ? read_text(dl_tables_read_lfts, t, lfts, strlen(lfts), &h) :
				     read_text(dl_tables_read_fdbs, t, fdbs, strlen(fdbs), &h),
				 0);
		assert_int_equal(dl_tables_lft(t, 0, 1), 0);
		assert_int_equal(dl_tables_lft(t, 0, 2), 1);
		assert_int_equal(dl_tables_lft(t, 0, 3), DL_TABLES_NO_PORT);
		assert_int_equal(dl_tables_lft(t, 0, 4), DL_TABLES_NO_PORT);
		dl_tables_free(t);
	}
	/* A source named by its node, and one by its port. */
	assert_int_equal(dl_tables_new(f, &t), 0);
	assert_int_equal(read_text(dl_tables_read_psl, t, psl, strlen(psl), &h), 0);
	assert_int_equal(dl_tables_path_sl(t, f->nodes[2].first_port + 1, 4), 3);
	assert_int_equal(dl_tables_path_sl(t, f->nodes[3].first_port + 1, 3), 5);
	assert_int_equal(dl_tables_path_sl(t, f->nodes[0].first_port, 3), DL_TABLES_NO_SL);
	dl_tables_free(t);
	dl_fabric_free(f);
}

/* ---- LIDs -------------------------------------------------------------- */

static int read_lids(struct dl_fabric *f, const char *text, struct heard *h)
{
	FILE *from = fmemopen((void *)text, strlen(text), "r");
	int err;

	heard_init(h);
	err = dl_tables_read_lids(f, from, "test", &h->log);
	fclose(from);
	return err;
}

static void completes_lids(void **state)
{
	struct dl_fabric *f = small_fabric(false);
	struct heard h;

	(void)state;
	assert_int_equal(read_lids(f,
				   LFT_HEAD "0x0001 000 # Switch portguid 0xa0: 'x'\n"
					    "0x0008 002 # Channel Adapter portguid 0xc1: 'x'\n"
					    "0x0009 002 # Channel Adapter portguid 0xc1: 'x'\n"
					    "0x000b 002 # Channel Adapter portguid 0xc1: 'x'\n"
					    "4 lids dumped\n",
				   &h),
			 0);
	assert_int_equal(f->top_lid, 11);
	assert_int_equal(f->lid_port[1], f->nodes[0].first_port);
	assert_int_equal(f->lid_port[10], f->nodes[2].first_port + 1);
	assert_int_equal(f->ports[f->nodes[2].first_port + 1].lmc, 2);

	assert_int_equal(read_lids(f,
				   LFT_HEAD "0x0002 000 # Switch portguid 0xa0: 'x'\n"
					    "0x0001 002 # Channel Adapter portguid 0xc1: 'x'\n",
				   &h),
			 -EINVAL);
	assert_error(&h, 3, "whose LIDs begin at 0x0008");
	assert_int_equal(read_lids(f, LFT_HEAD "0x0002 000 # Switch portguid 0xee: 'x'\n", &h),
			 -EINVAL);
	assert_error(&h, 2, "no port with the GUID 0x00000000000000ee");
	dl_fabric_free(f);
}

/* ---- directories ------------------------------------------------------- */

static const char *const names[] = {
	"dateline.net",	     "opensm-subnet.lst",    "opensm-lfts.dump",     "opensm.fdbs",
	"opensm.mcfdbs",     "opensm-sl2vl.dump",    "dateline-vlarb.dump",  "dateline-slvl.dump",
	"dateline-psl.dump", "dateline-opensm.conf", "dateline-partial.txt",
};

static void in_folder(char *path, size_t size, const char *dir, const char *name)
{
	assert_true(snprintf(path, size, "%s/%s", dir, name) < (int)size);
}

static void drop(const char *dir, const char *name)
{
	char path[256];

	in_folder(path, sizeof(path), dir, name);
	unlink(path);
}

static int read_directory(const char *dir, const char *net, struct heard *h, struct dl_snapshot *s)
{
	heard_init(h);
	memset(s, 0, sizeof(*s));
	return dl_snapshot_read(dir, net, NULL, &h->log, s);
}

static struct dl_tables *small_tables(const struct dl_fabric *f)
{
	struct dl_tables *t;

	assert_int_equal(dl_tables_new(f, &t), 0);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t lid = 1; lid <= f->top_lid; lid++)
			t->lft[s * (size_t)t->stride + lid] = (s + lid) % 3;
	return t;
}

static void reads_folders(void **state)
{
	char dir[] = "read-XXXXXX", net[256], path[256];
	struct dl_fabric *f = small_fabric(true);
	struct dl_tables *t = small_tables(f);
	struct dl_snapshot s;
	struct heard h;
	FILE *to;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(dl_snapshot_write(t, dir, DL_SNAPSHOT_PSL, NULL), 0);
	assert_int_equal(read_directory(dir, NULL, &h, &s), 0);
	same_forwarding(t, s.tables, true);
	assert_true(s.parts & DL_SNAPSHOT_HAS_LFTS && !(s.parts & DL_SNAPSHOT_IS_PARTIAL));
	dl_snapshot_release(&s);

	/* OpenSM's own files suffice; either form of the tables does. */
	drop(dir, "dateline.net");
	drop(dir, "opensm-lfts.dump");
	drop(dir, "opensm-sl2vl.dump");
	drop(dir, "dateline-slvl.dump");
	assert_int_equal(read_directory(dir, NULL, &h, &s), 0);
	same_forwarding(t, s.tables, true);
	assert_false(s.parts & DL_SNAPSHOT_HAS_SL2VL);
	dl_snapshot_release(&s);

	/* Which does not tell VLs: maps to VL 9 mean that there is one. */
	in_folder(path, sizeof(path), dir, "dateline-slvl.dump");
	to = fopen(path, "w");
	fputs("0xA0 1 2 0x99 0x00 0x00 0x00 0x00 0x00 0x00 0x00\n", to);
	fclose(to);
	assert_int_equal(read_directory(dir, NULL, &h, &s), 0);
	assert_true(s.parts & DL_SNAPSHOT_HAS_SL2VL);
	assert_int_equal(s.fabric->ports[1].vls, 15);
	dl_snapshot_release(&s);

	/* Marked as partial: said, not refused. */
	in_folder(path, sizeof(path), dir, "dateline-partial.txt");
	to = fopen(path, "w");
	fclose(to);
	assert_int_equal(read_directory(dir, NULL, &h, &s), 0);
	assert_int_equal(h.warnings, 1);
	assert_true(s.parts & DL_SNAPSHOT_IS_PARTIAL);
	dl_snapshot_release(&s);

	/* Without a fabric, unless it is given. */
	drop(dir, "opensm-subnet.lst");
	assert_int_equal(read_directory(dir, NULL, &h, &s), -ENOENT);
	assert_int_equal(h.errors, 1);
	in_folder(net, sizeof(net), dir, "given.net");
	to = fopen(net, "w");
	assert_int_equal(dl_fabric_write_netlist(f, to), 0);
	fclose(to);
	assert_int_equal(read_directory(dir, net, &h, &s), 0);
	dl_snapshot_release(&s);

	/* Without forwarding tables there is nothing to judge. */
	drop(dir, "opensm.fdbs");
	assert_int_equal(read_directory(dir, net, &h, &s), -ENOENT);
	assert_int_equal(h.errors, 1);
	assert_int_equal(read_directory("no such directory", NULL, &h, &s), -ENOENT);
	assert_int_equal(h.errors, 1);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		drop(dir, names[i]);
	unlink(net);
	assert_int_equal(rmdir(dir), 0);
	dl_tables_free(t);
	dl_fabric_free(f);
}

static bool exists(const char *dir, const char *name)
{
	char path[256];

	in_folder(path, sizeof(path), dir, name);
	return !access(path, F_OK);
}

static void make_file(const char *dir, const char *name)
{
	char path[256];
	FILE *to;

	in_folder(path, sizeof(path), dir, name);
	to = fopen(path, "w");
	assert_non_null(to);
	fclose(to);
}

/* A directory in the place of a file: that cannot be written or renamed to. */
static void block(const char *dir, const char *name)
{
	char path[256];

	in_folder(path, sizeof(path), dir, name);
	unlink(path);
	assert_int_equal(mkdir(path, 0777), 0);
}

static void unblock(const char *dir, const char *name)
{
	char path[256];

	in_folder(path, sizeof(path), dir, name);
	assert_int_equal(rmdir(path), 0);
}

static void replaces_whole(void **state)
{
	char dir[] = "read-XXXXXX";
	struct dl_fabric *f = small_fabric(true);
	struct dl_tables *t = small_tables(f), *u = small_tables(f);
	struct dl_snapshot s;
	struct heard h;

	(void)state;
	assert_non_null(mkdtemp(dir));
	u->lft[1] = 2;
	assert_int_equal(dl_snapshot_write(t, dir, DL_SNAPSHOT_PSL, NULL), 0);
	make_file(dir, "dateline-partial.txt");
	assert_true(exists(dir, "dateline-psl.dump"));

	/* A partial one keeps what its writer says; none is left unfinished. */
	assert_int_equal(dl_snapshot_write(t, dir, DL_SNAPSHOT_PARTIAL, NULL), 0);
	assert_true(exists(dir, "dateline-partial.txt"));
	assert_false(exists(dir, "dateline-psl.dump"));
	assert_false(exists(dir, "dateline-unfinished"));

	/* Nothing of an earlier one stays. */
	assert_int_equal(dl_snapshot_write(t, dir, 0, NULL), 0);
	assert_false(exists(dir, "dateline-partial.txt"));

	/* A failure while files are written: the earlier one is still there. */
	block(dir, "dateline-vlarb.dump");
	assert_int_equal(dl_snapshot_write(u, dir, 0, NULL), -EISDIR);
	unblock(dir, "dateline-vlarb.dump");
	assert_int_equal(read_directory(dir, NULL, &h, &s), 0);
	same_forwarding(t, s.tables, true);
	dl_snapshot_release(&s);

	/* Cut short while they are put in place: a mixture, which is refused. */
	make_file(dir, "dateline-unfinished");
	assert_int_equal(read_directory(dir, NULL, &h, &s), -EINVAL);
	assert_int_equal(h.errors, 1);
	assert_non_null(strstr(h.error, "was interrupted"));
	assert_int_equal(dl_snapshot_write(u, dir, 0, NULL), 0);
	assert_int_equal(read_directory(dir, NULL, &h, &s), 0);
	same_forwarding(u, s.tables, true);
	dl_snapshot_release(&s);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		drop(dir, names[i]);
	assert_int_equal(rmdir(dir), 0);
	dl_tables_free(t);
	dl_tables_free(u);
	dl_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(refuses),
		cmocka_unit_test(reads_what_others_write),
		cmocka_unit_test(completes_lids),
		cmocka_unit_test(reads_folders),
		cmocka_unit_test(replaces_whole),
	};

	return cmocka_run_group_tests_name("read", tests, NULL, NULL);
}

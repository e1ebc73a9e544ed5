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
#include "share.h"
#include "dateline/tables.h"
#include "verify_fixture.h"

#define FIXTURES share(300)

static int read_text(enum dl_tables_file which, struct dl_tables *t, const char *text, size_t len,
		     struct heard *h)
{
	FILE *from = fmemopen((void *)(len ? text : "\n"), len ? len : 1, "r");
	int err;

	assert_non_null(from);
	heard_init(h);
	err = dl_tables_read_file(t, which, from, "test", &h->log);
	fclose(from);
	return err;
}

/* ---- there and back ---------------------------------------------------- */

static void copy(const struct dl_tables *from, enum dl_tables_file which, struct dl_tables *to)
{
	struct heard h;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int err;

	assert_non_null(f);
	assert_int_equal(dl_tables_write_file(from, which, f), 0);
	fclose(f);
	err = read_text(which, to, text, len, &h);
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
				assert_int_equal(dl_tables_mask_get(&a->groups[i].masks, s, o),
						 dl_tables_mask_get(&g->masks, s, o));
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
		copy(a, DL_TABLES_LFTS, b);
		same_forwarding(a, b, true);
		copy(a, DL_TABLES_SL2VL, b);
		same_maps(a, b, true);
		copy(a, DL_TABLES_MCFDBS, b);
		same_groups(a, b);
		copy(a, DL_TABLES_VLARB, b);
		same_arbs(a, b);
		copy(a, DL_TABLES_PSL, b);
		same_sls(a, b);
		dl_tables_free(b);

		assert_int_equal(dl_tables_new(w.fabric, &b), 0);
		copy(a, DL_TABLES_FDBS, b);
		same_forwarding(a, b, false);
		copy(a, DL_TABLES_SLVL, b);
		same_maps(a, b, false);
		dl_tables_free(b);
		fixture_free(&w);
	}
}

/* ---- the fast reader and the careful one -------------------------------- */

#define DAMAGED 40 /* texts for each dump of a fixture */

/* Each line behind a tab: the same text, but none of it for the fast readers. */
static char *behind_tabs(const char *text, size_t len, size_t *out)
{
	char *copy = malloc(2 * len + 1), *to = copy;

	assert_non_null(copy);
	for (size_t i = 0; i < len; i++) {
		if (!i || text[i - 1] == '\n')
			*to++ = '\t';
		*to++ = text[i];
	}
	*out = to - copy;
	return copy;
}

/* Another byte, none, one more, or a line again elsewhere. */
static size_t damage(struct draw *d, char *text, size_t len, size_t room)
{
	static const char bytes[] = "0123456789abcdefx: \n\t#F";
	size_t at = draw_below(d, len), from = draw_below(d, len), n = 1;

	switch (draw_below(d, 4)) {
	case 0:
		text[at] = bytes[draw_below(d, sizeof(bytes) - 1)];
		return len;
	case 1:
		memmove(text + at, text + at + 1, len - at - 1);
		return len - 1;
	case 2:
		memmove(text + at + 1, text + at, len - at);
		text[at] = bytes[draw_below(d, sizeof(bytes) - 1)];
		return len + 1;
	default:
		while (from && text[from - 1] != '\n')
			from--;
		while (at && text[at - 1] != '\n')
			at--;
		while (from + n < len && text[from + n - 1] != '\n')
			n++;
		if (len + n > room || n > 80)
			return len;
		memmove(text + at + n, text + at, len - at);
		memmove(text + at, text + from + (from >= at ? n : 0), n);
		return len + n;
	}
}

static void same_readings(const struct dl_fabric *f, enum dl_tables_file which, const char *text,
			  size_t len, unsigned int *good)
{
	struct dl_tables *a, *b;
	struct heard h, careful;
	size_t len2;
	char *tabs = behind_tabs(text, len, &len2);
	int err;

	assert_int_equal(dl_tables_new(f, &a), 0);
	assert_int_equal(dl_tables_new(f, &b), 0);
	err = read_text(which, a, text, len, &h);
	assert_int_equal(read_text(which, b, tabs, len2, &careful), err);
	assert_string_equal(h.error, careful.error);
	same_forwarding(a, b, false);
	same_maps(a, b, true);
	if (!err)
		same_sls(a, b);
	*good += !err;
	dl_tables_free(a);
	dl_tables_free(b);
	free(tabs);
}

static void fast_as_careful(void **state)
{
	static const enum dl_tables_file files[] = { DL_TABLES_LFTS, DL_TABLES_FDBS,
						     DL_TABLES_SL2VL, DL_TABLES_PSL };
	unsigned int good = 0, all = 0;

	(void)state;
	for (uint32_t i = 0; i < FIXTURES / 10; i++) {
		struct draw d = { .seed = 7000 + i };
		struct fixture w;

		fixture_make(&d, &w);
		for (size_t k = 0; k < sizeof(files) / sizeof(*files); k++) {
			char *text, *copy;
			size_t len;
			FILE *to = open_memstream(&text, &len);

			assert_non_null(to);
			assert_int_equal(dl_tables_write_file(w.tables, files[k], to), 0);
			fclose(to);
			copy = malloc(len + 1000);
			assert_non_null(copy);
			for (unsigned int n = 0; len && n < DAMAGED; n++, all++) {
				size_t now = len;

				memcpy(copy, text, len);
				for (unsigned int j = draw_below(&d, 4); j; j--)
					now = damage(&d, copy, now, len + 1000);
				same_readings(w.fabric, files[k], copy, now, &good);
			}
			free(copy);
			free(text);
		}
		fixture_free(&w);
	}
	/* Neither all refused nor all read. */
	assert_in_range(good, all / 5, all - all / 5);
}

/* ---- one small fabric -------------------------------------------------- */

#define LFT_HEAD "Unicast lids [0-4] of switch Lid 1 guid 0x00a0 ('x'):\n"
#define SL2VL_HEAD "Switch 0x00a0, base LID 1, \"x\"\n"
#define ZEROS " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

static const struct {
	enum dl_tables_file which;
	const char *text;
	unsigned int line;
	const char *words;
} wrong[] = {
	{ DL_TABLES_LFTS, "0x0001 000\n", 1, "expected \"Unicast lids" },
	{ DL_TABLES_LFTS, "Unicast lids [0-4]\n", 1, "expected \"guid\"" },
	{ DL_TABLES_LFTS, "Unicast lids of guid 0x99 ('x'):\n", 1,
	  "no node with the GUID 0x0000000000000099" },
	{ DL_TABLES_LFTS, "Unicast lids of guid 0xc0 ('x'):\n", 1, "no switch" },
	{ DL_TABLES_LFTS, LFT_HEAD "0x0001 256\n", 2, "expected a port number" },
	{ DL_TABLES_LFTS, LFT_HEAD "0x0001\n", 2, "expected a port number" },
	{ DL_TABLES_LFTS, LFT_HEAD "0x0001 zz\n", 2, "expected a port number" },
	{ DL_TABLES_LFTS, LFT_HEAD "0x0001 1e3\n", 2, "a blank behind the port number" },
	{ DL_TABLES_LFTS, LFT_HEAD "0xC000 001\n", 2, "expected a unicast LID" },
	{ DL_TABLES_LFTS, LFT_HEAD "0x0009 001\n", 2, "above 0x0004" },
	{ DL_TABLES_LFTS, LFT_HEAD "\n0x0001 000\n0x0001 001\n", 4, "a second time" },
	{ DL_TABLES_LFTS, LFT_HEAD "0x0001 000\n", 2, "the file ends inside" },
	{ DL_TABLES_LFTS, LFT_HEAD "0x0001 000\n2 lids dumped\n", 3, "2 LIDs announced, 1 read" },
	{ DL_TABLES_LFTS, LFT_HEAD "0 lids dumped\n" LFT_HEAD "0 lids dumped\n", 3,
	  "a second table" },
	{ DL_TABLES_LFTS, LFT_HEAD "1 lids\n", 2, "expected \"lids dumped\"" },
	{ DL_TABLES_LFTS, LFT_HEAD "-1 lids dumped\n", 2, "expected a LID" },

	{ DL_TABLES_FDBS, "0x0001 : 000\n", 1, "expected \"Switch\"" },
	{ DL_TABLES_FDBS, "Switch 0xA0\n0x0001 000\n", 2, "expected \":\"" },
	{ DL_TABLES_FDBS, "Switch 0xA0\n0x0005 : 000\n", 2, "above 0x0004" },
	{ DL_TABLES_FDBS, "Switch 0xA0\n0x0001 : port\n", 2, "expected a port number" },
	{ DL_TABLES_FDBS, "Switch 0xA0\n0x0001 : 1\n0x0001 : 2\n", 3, "a second time" },
	{ DL_TABLES_FDBS, "Switch 0xA0\nSwitch 0xA0\n", 2, "a second table" },

	{ DL_TABLES_MCFDBS, "Switch 0xA0\n0x0001 : 0x001\n", 2, "0x0001 is not a multicast LID" },
	{ DL_TABLES_MCFDBS, "Switch 0xA0\n0xFFFF : 0x001\n", 2, "expected a multicast LID" },
	{ DL_TABLES_MCFDBS, "Switch 0xA0\n0xC000 : 0x005\n", 2, "port 5 of a node with 4 ports" },
	{ DL_TABLES_MCFDBS, "Switch 0xA0\n0xC000 : 0x001 x\n", 2, "expected a port number" },

	{ DL_TABLES_SL2VL, "0 1 :" ZEROS, 1, "expected \"Switch\"" },
	{ DL_TABLES_SL2VL, SL2VL_HEAD "0 5 :" ZEROS, 2, "port 5 of a node with 4 ports" },
	{ DL_TABLES_SL2VL, SL2VL_HEAD "0 1 : 0 0 0\n", 2, "expected a VL" },
	{ DL_TABLES_SL2VL, SL2VL_HEAD "0 1 : 16\n", 2, "expected a VL" },
	{ DL_TABLES_SL2VL, SL2VL_HEAD "0 1 0\n", 2, "expected \":\"" },
	{ DL_TABLES_SL2VL, SL2VL_HEAD "0 1 : 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", 2,
	  "expected end of line" },
	{ DL_TABLES_SL2VL, SL2VL_HEAD "0 1 :" ZEROS "0 1 : 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", 3,
	  "a second, different map" },
	{ DL_TABLES_SL2VL, "Channel Adapter 0xC1, base LID 9, \"x\"\n", 1,
	  "no adapter in the fabric has LID 9" },
	{ DL_TABLES_SL2VL, "Channel Adapter 0xC1, base LID 4, \"x\"\n", 1,
	  "LID 4 belongs to port 0x00000000000000d1" },
	{ DL_TABLES_SL2VL, "Channel Adapter 0xA0, base LID 1, \"x\"\n", 1, "no adapter" },

	{ DL_TABLES_SLVL, "0xA0 1 2 0x00 0x00\n", 1, "expected the VLs" },
	{ DL_TABLES_SLVL, "0xA0 1 9 0x00\n", 1, "port 9" },
	{ DL_TABLES_SLVL, "0xA0 1 2 0x100\n", 1, "expected the VLs" },

	{ DL_TABLES_VLARB, "0xA0 1 limit 256\n", 1, "expected a limit" },
	{ DL_TABLES_VLARB, "0xA0 1 limit 4 low -\n", 1, "expected high" },
	{ DL_TABLES_VLARB, "0xA0 1 limit 4 high 16:1 low -\n", 1, "expected a VL" },
	{ DL_TABLES_VLARB, "0xA0 1 limit 4 high 1 low -\n", 1, "expected \":\" and a weight" },
	{ DL_TABLES_VLARB, "0xA0 1 limit 4 high - low - x\n", 1, "expected end of line" },
	{ DL_TABLES_VLARB, "0xA9 1 limit 4 high - low -\n", 1, "no node" },

	{ DL_TABLES_PSL, "0xC0 4 16\n", 1, "expected an SL" },
	{ DL_TABLES_PSL, "0xC0 9 0\n", 1, "no port of the fabric has LID 9" },
	{ DL_TABLES_PSL, "0xC0 4 0\n0xC0 4 1\n", 2, "with another SL" },
	{ DL_TABLES_PSL, "0xC9 4 0\n", 1, "no such end port" },
	{ DL_TABLES_PSL, "0x0 4 0\n", 1, "no such end port" },
	{ DL_TABLES_PSL, "0xC0 4\n", 1, "expected an SL" },
	{ DL_TABLES_PSL, "0xC0 0x4 0\n", 1, "expected an SL" },
	{ DL_TABLES_PSL, "#port 2 of 0xC0: 4 0\n", 1, "no such end port" },
	{ DL_TABLES_PSL, "#port 1 in 0xC0: 4 0\n", 1, "expected \"of\"" },

	/* Whole as far as it goes, which may not be all. */
	{ DL_TABLES_PSL, "0xC0 4 0\n0xD1 3 1", 2, "ends within a line" },
	{ DL_TABLES_LFTS, LFT_HEAD "0x0001 000\n1 lids dumped", 3, "ends within a line" },
	{ DL_TABLES_FDBS, "Switch 0xA0\n0x0001 : 1", 2, "ends within a line" },
	{ DL_TABLES_MCFDBS, "Switch 0xA0\n0xC000 : 0x001", 2, "ends within a line" },
	{ DL_TABLES_SL2VL, SL2VL_HEAD "0 1 : 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1", 2,
	  "ends within a line" },
	{ DL_TABLES_SLVL, "0xA0 1 2 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00", 1,
	  "ends within a line" },
	{ DL_TABLES_VLARB, "0xA0 1 limit 4 high - low 0:1", 1, "ends within a line" },
};

static void refuses(void **state)
{
	struct dl_fabric *f = small_fabric(true);

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct dl_tables *t;
		struct heard h;

		assert_int_equal(dl_tables_new(f, &t), 0);
		assert_int_equal(read_text(wrong[i].which, t, wrong[i].text, strlen(wrong[i].text),
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
		assert_int_equal(i ? read_text(DL_TABLES_LFTS, t, lfts, strlen(lfts), &h) :
				     read_text(DL_TABLES_FDBS, t, fdbs, strlen(fdbs), &h),
				 0);
		assert_int_equal(dl_tables_lft(t, 0, 1), 0);
		assert_int_equal(dl_tables_lft(t, 0, 2), 1);
		assert_int_equal(dl_tables_lft(t, 0, 3), DL_TABLES_NO_PORT);
		assert_int_equal(dl_tables_lft(t, 0, 4), DL_TABLES_NO_PORT);
		dl_tables_free(t);
	}
	/* A source named by its node, and one by its port. */
	assert_int_equal(dl_tables_new(f, &t), 0);
	assert_int_equal(read_text(DL_TABLES_PSL, t, psl, strlen(psl), &h), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),	  cmocka_unit_test(fast_as_careful),
		cmocka_unit_test(refuses),	  cmocka_unit_test(reads_what_others_write),
		cmocka_unit_test(completes_lids),
	};

	return cmocka_run_group_tests_name("read", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports of ports by infiniband-diags: random fabrics, printed as the tools print
 * them, and read back; damaged ones.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric_text.h"

static const fabric_reader read_any = dl_fabric_read_netlist_stream;

/* ---- what the tools print ----------------------------------------------- */

/* Another switch's name for the second half, and many adapters of one name. */
static const char *const names[] = {
	"spine", "leaf 1", "x\" (Could be", "y\" 5 3[  ] ==(", "a:b:", "' )",
};

static struct dl_fabric *draw(struct test_random *r, bool lids)
{
	uint32_t nswitches = 1 + test_random(r, 4), nadapters = test_random(r, 6), node;
	struct dl_fabric *f;

	assert_int_equal(dl_fabric_new(&f), 0);
	for (uint32_t i = 0; i < nswitches + nadapters; i++) {
		bool sw = i < nswitches;
		unsigned int nports = sw ? 2 + test_random(r, 5) : 1 + test_random(r, 2);
		uint64_t guid = sw ? 0x100 + i : 0x2000 + 0x10 * i;
		char name[40];

		assert_int_equal(dl_fabric_add_node(f, sw ? DL_FABRIC_SWITCH : DL_FABRIC_CA, nports,
						    guid, "n", &node),
				 0);
		snprintf(name, sizeof(name), "%s%.0u", names[test_random(r, 6)], sw ? i + 1 : 0);
		assert_int_equal(dl_fabric_set_desc(f, node, name), 0);
		for (unsigned int n = !!sw ^ 1; n <= (sw ? 0 : nports); n++) {
			f->ports[f->nodes[node].first_port + n].guid = guid + n;
			if (lids)
				f->ports[f->nodes[node].first_port + n].lid = 1 + 16 * i + n;
		}
	}
	for (uint32_t i = 0; i < 3 * f->nports; i++) {
		uint32_t a = test_random(r, f->nports), b = test_random(r, f->nports);
		uint8_t lanes = 1 << (test_random(r, 2) * 2), speed = 1 + test_random(r, 9);

		if (dl_fabric_connect(f, a, b) || f->ports[a].width)
			continue;
		f->ports[a].width = f->ports[b].width = lanes;
		f->ports[a].speed = f->ports[b].speed = speed;
	}
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	return f;
}

static const struct dl_fabric_port *end_of(const struct dl_fabric *f,
					   const struct dl_fabric_port *p)
{
	return dl_fabric_is_switch(f, p->node) ? &f->ports[f->nodes[p->node].first_port] : p;
}

static const char *name_of(const struct dl_fabric *f, const struct dl_fabric_port *p)
{
	return dl_fabric_node_name(f, p->node);
}

static void print_port(FILE *to, const struct dl_fabric *f, const struct dl_fabric_port *p)
{
	const struct dl_fabric_port *far = p->peer == DL_NONE ? NULL : &f->ports[p->peer];
	static const char *const types[] = { "", "CA", "SW", "RT" };

	fprintf(to, "%2s %5d %2d 0x%016" PRIx64 " %ux %s", types[f->nodes[p->node].type],
		end_of(f, p)->lid, p->num, end_of(f, p)->guid, far ? p->width : 4,
		far ? dl_fabric_speed_name(p->speed) : "???");
	if (far)
		fprintf(to, " - %2s %5d %2d 0x%016" PRIx64 " ( '%s' - '%s' )\n",
			types[f->nodes[far->node].type], end_of(f, far)->lid, far->num,
			end_of(f, far)->guid, name_of(f, p), name_of(f, far));
	else
		fprintf(to, "%36s'%s'\n", "", name_of(f, p));
}

static void print_link(FILE *to, const struct dl_fabric *f, const struct dl_fabric_port *p,
		       bool line)
{
	static const char *const speeds[] = { "",
					      "2.5 Gbps",
					      "5.0 Gbps",
					      "10.0 Gbps",
					      "10.0 Gbps (FDR10)",
					      "14.0625 Gbps",
					      "25.78125 Gbps",
					      "53.125 Gbps",
					      "106.25 Gbps",
					      "212.5 Gbps" };
	const struct dl_fabric_port *far = p->peer == DL_NONE ? NULL : &f->ports[p->peer];

	if (line)
		fprintf(to, "0x%016" PRIx64 " \"%30s\" ", end_of(f, p)->guid, name_of(f, p));
	else
		fprintf(to, "      ");
	if (!line && !dl_fabric_is_switch(f, p->node))
		fprintf(to, "0x%016" PRIx64 " ", p->guid);
	fprintf(to, "%6d %4d[%2s] ==", end_of(f, p)->lid, p->num, p->num == 3 ? "7" : "");
	if (!far) {
		fprintf(to, "(              %6s/%8s)==>  %s", "Down", "Polling",
			p->num == 1 ? "    \"Port not available\"\n" :
				      "           [  ] \"\" ( )\n");
		return;
	}
	fprintf(to, "(%2uX %18s %6s/%8s)%s==>  ", p->width, speeds[p->speed], "Active", "LinkUp",
		line ? " (HOQ:16 VL_Stall:7)" : "");
	if (line)
		fprintf(to, "0x%016" PRIx64 " ", end_of(f, far)->guid);
	fprintf(to, "%6d %4d[  ] \"%s\" (Could be 12X )\n", end_of(f, far)->lid, far->num,
		name_of(f, far));
}

enum format { PORTS, LINKS, LINES, NFORMATS };

static char *print(const struct dl_fabric *f, enum format format)
{
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	for (uint32_t i = 0; i < f->nnodes; i++) {
		const struct dl_fabric_node *n = &f->nodes[i];
		const struct dl_fabric_port *p = &f->ports[n->first_port];

		if (format == LINKS && dl_fabric_is_switch(f, i))
			fprintf(to, "Switch: 0x%016" PRIx64 " %s:\n", p->guid, name_of(f, p));
		else if (format == LINKS)
			fprintf(to, "CA: %s:\n", name_of(f, p));
		for (uint32_t k = 1; k <= n->nports; k++) {
			if (format == PORTS)
				print_port(to, f, &p[n->nports + 1 - k]);
			else
				print_link(to, f, &p[k], format == LINES);
		}
	}
	assert_int_equal(fclose(to), 0);
	return text;
}

/* What all formats say, a line for each port, sorted by the far end's GUID. */
static int compare_lines(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static char *summary(const struct dl_fabric *f)
{
	char **lines = calloc(f->nports, sizeof(*lines)), *text;
	uint32_t n = 0;
	size_t len;
	FILE *to;

	for (uint32_t i = 0; i < f->nports; i++) {
		const struct dl_fabric_port *p = &f->ports[i];
		const struct dl_fabric_port *far = p->peer == DL_NONE ? NULL : &f->ports[p->peer];

		if (p->num)
			assert_true(asprintf(&lines[n++],
					     "type %u of %u ports, 0x%" PRIx64
					     " %u \"%s\" LID %u %ux%u to 0x%" PRIx64 " %u",
					     f->nodes[p->node].type, f->nodes[p->node].nports,
					     end_of(f, p)->guid, p->num, name_of(f, p),
					     end_of(f, p)->lid, p->width, p->speed,
					     far ? end_of(f, far)->guid : 0,
					     far ? far->num : 0) > 0);
	}
	qsort(lines, n, sizeof(*lines), compare_lines);
	to = open_memstream(&text, &len);
	for (uint32_t i = 0; i < n; i++) {
		fprintf(to, "%s\n", lines[i]);
		free(lines[i]);
	}
	assert_int_equal(fclose(to), 0);
	free(lines);
	return text;
}

static void test_random_fabrics(void **state)
{
	struct test_random r = { text_seed(5), 0 };

	(void)state;
	for (int i = 0; i < 600; i++) {
		struct dl_fabric *f = draw(&r, i & 1), *g;
		char *want = summary(f);

		for (enum format format = 0; format < NFORMATS; format++) {
			char *text = print(f, format), *got;
			struct heard h;
			int err = read_bytes(read_any, text, strlen(text), &h, &g);

			if (err && format == LINKS && !(i & 1) &&
			    strstr(h.error, "expected the output of iblinkinfo -l")) {
				free(text);
				continue;
			}
			if (err || h.warnings)
				fail_msg("round %d: %s%s\nin:\n%s", i, h.error, h.warning, text);
			got = summary(g);
			if (strcmp(got, want))
				fail_msg("round %d:\n%s\nin place of\n%s\nin:\n%s", i, got, want,
					 text);
			free(got);
			free(text);
			dl_fabric_free(g);
		}
		free(want);
		dl_fabric_free(f);
	}
}

/* ---- damage ------------------------------------------------------------- */

#define GUID(n) "0x000000000000000" n
#define PORT(near, far) near " - " far " ( 'n' - 'm' )\n"
#define LINE(guid, num, far) guid " \"n\" 1 " num "[  ] ==( 4X 10.0 Gbps Active/LinkUp)==> " far
#define UP "==( 4X 10.0 Gbps Active/LinkUp)==> "

static const struct {
	const char *text;
	unsigned int line;
	const char *words;
} damaged[] = {
	{ "SW 1 1 " GUID("a") " 4x QDR 'a'\nSwitch: 0x1 b:\n", 2,
	  "\"Switch:\": expected SW, CA or" },
	{ "SW 1 1 " GUID("a") " 4x ZDR 'a'\n", 1, "\"ZDR\": expected a speed from SDR to XDR" },
	{ "SW 1 1 " GUID("a") " 3x QDR 'a'\n", 1, "\"3x\": expected 1x, 2x, 4x, 8x or 12x" },
	{ "SW 65536 1 " GUID("a") " 4x QDR 'a'\n", 1, "\"65536\": expected a LID, 16 bits" },
	{ "SW 1 256 " GUID("a") " 4x QDR 'a'\n", 1, "\"256\": expected a port, 1 to 254" },
	{ "SW 1 1 0x 4x QDR 'a'\n", 1, "\"4x\": expected 0x and a port's GUID" },
	{ "SW 1 1 0x0 4x QDR 'a'\n", 1, "port GUID 0: expected another one" },
	{ "SW 1 1 " GUID("a") " 4x QDR\n", 1, "end of line: expected - and a far end" },
	{ "SW 1 1 " GUID("a") " 4x QDR - CA 2 1 " GUID("b") " ( 'a' )\n", 1,
	  "expected ( 'a name'" },
	{ "Switch: 0x1 b\n", 1, "expected a name and :" },
	{ "Switch: 0x1 b:\n 1 1[  ] ==( 4X 3.0 Gbps Active/LinkUp)==> [  ] \"\" ( )\n", 2,
	  "\"3.0\": expected a speed from 2.5" },
	{ "Switch: 0x1 b:\n 1 1[  ] ==( 3X 2.5 Gbps Active/LinkUp)==> [  ] \"\" ( )\n", 2,
	  "\"3X\": expected 1X" },
	{ "Switch: 0x1 b:\n 1 1 ==(", 2, "expected [, a chassis port" },
	{ "Switch: 0x1 b:\n 1 1[  ] ==( 4X", 2, "expected ==( , a state and )==>" },
	{ "Switch: 0x1 b:\n 1 1[  ] " UP "2 1[  ] \"c\"\n", 2, "expected a far end's name" },
	{ LINE(GUID("a"), "1", "[  ] \"\" ( )\n") "CA: b:\n", 2,
	  "\"CA:\": expected 0x and a port's" },
	{ "0xa n 1 1[  ] ==(", 1, "\"n\": expected a name in quotes" },
	{ "0xa \"n\" 1 1( ", 1, "expected a name in quotes, a LID and a port" },
	/* Two switches of one name, without LIDs, each at port 1 of another one. */
	{ "Switch: 0x1 s:\n 0 1[  ] " UP "0 1[  ] \"s\" ( )\n"
	  "Switch: 0x2 s:\n 0 1[  ] " UP "0 1[  ] \"s\" ( )\n",
	  2, "several have this name and LID 0: expected the output of iblinkinfo -l" },
};

static void test_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		const char *text = damaged[i].text;
		struct dl_fabric *f;
		struct heard h;

		assert_int_equal(read_bytes(read_any, text, strlen(text), &h, &f), -EINVAL);
		assert_error(&h, damaged[i].line, damaged[i].words);
	}
}

static const struct contradiction contradictions[] = {
	{ PORT("SW 1 1 " GUID("a") " 4x QDR", "SW 2 1 " GUID("b"))
		  PORT("SW 2 1 " GUID("b") " 4x QDR", "SW 3 1 " GUID("c")),
	  1, "where test:2 says", "1.1-2.1", NULL },
	{ PORT("SW 1 1 " GUID("a") " 4x QDR", "SW 2 1 " GUID("b"))
		  PORT("SW 1 255 " GUID("a") " 4x QDR", "SW 2 1 " GUID("b")),
	  2, "port 255 of \"n\": left out", "0.1-1.1", NULL },
	{ PORT("SW 1 2 " GUID("a") " 4x QDR", "SW 2 4 " GUID("b"))
		  PORT("SW 2 1 " GUID("b") " 4x QDR", "SW 1 1 " GUID("a")),
	  1, "a cable to port 4 of \"n\", which has 1: left out", "0.1-1.1", NULL },
	{ PORT("SW 1 1 " GUID("a") " 4x QDR", "SW 2 1 " GUID("b"))
		  PORT("SW 9 2 " GUID("a") " 4x QDR", "SW 2 2 " GUID("b")),
	  2, "described otherwise than in test:1", "0.1-1.1", NULL },
	{ "Switch: 0x1 s:\n 1 1[  ] " UP "2 1[  ] \"t\" ( )\n 1 2[  ] " UP "3 1[  ] \"u\" ( )\n"
	  "Switch: 0x2 t:\n 2 1[  ] " UP "1 1[  ] \"s\" ( )\n",
	  3, "\"u\" port 1 has no line of its own: left out", "0.1-1.1", "1 2" },
};

static void test_contradictions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(contradictions) / sizeof(*contradictions); i++)
		assert_contradiction(read_any, &contradictions[i]);
}

/* Switches alone are listed: who answers through several ports is one, too. */
static void test_unlisted(void **state)
{
	static const char lines[] = LINE(GUID("a"), "1", GUID("b") " 2 1[  ] \"h\" ( )\n")
		LINE(GUID("a"), "2", GUID("c") " 3 1[  ] \"s\" ( )\n")
			LINE(GUID("a"), "3", GUID("c") " 3 2[  ] \"s\" ( )\n");
	static const uint8_t types[] = { DL_FABRIC_SWITCH, DL_FABRIC_CA, DL_FABRIC_SWITCH };
	struct dl_fabric *f;
	struct heard h;

	(void)state;
	assert_int_equal(read_bytes(read_any, lines, strlen(lines), &h, &f), 0);
	assert_int_equal(h.warnings, 0);
	assert_int_equal(f->nnodes, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(f->nodes[i].type, types[i]);
	dl_fabric_free(f);
}

/* Bytes changed at random: refused with an error, or read and told as a netlist. */
static void test_mutations(void **state)
{
	static const char *const texts[] = {
		PORT("SW 1 1 " GUID("a") " 4x QDR", "SW 2 1 " GUID("b"))
			PORT("SW 2 1 " GUID("b") " 4x QDR", "SW 1 1 " GUID("a")),
		"Switch: 0x1 s:\n 1 1[  ] " UP "2 1[  ] \"t\" ( )\n"
		"CA: t:\n 0x2 2 1[  ] " UP "1 1[  ] \"s\" ( )\n",
		LINE(GUID("a"), "1", GUID("b") " 2 1[  ] \"h\" ( )\n")
			LINE(GUID("b"), "1", GUID("a") " 1 1[  ] \"n\" ( )\n"),
	};
	static const char bytes[] = "0123456789abcdef \"'()[]=x-:\n\xff\x1b";
	struct test_random r = { text_seed(6), 0 };
	unsigned int good = 0;

	(void)state;
	for (int i = 0; i < 30000; i++) {
		char *text = strdup(texts[i % 3]);
		size_t len = strlen(text);
		struct dl_fabric *f;
		struct heard h;

		for (uint32_t n = 1 + test_random(&r, 3); n; n--)
			text[test_random(&r, len)] = bytes[test_random(&r, sizeof(bytes) - 1)];
		if (read_bytes(read_any, text, len, &h, &f)) {
			assert_int_equal(h.errors, 1);
			assert_int_equal(strncmp(h.error, "test:", 5), 0);
		} else {
			char *netlist = write_string(dl_fabric_write_netlist, f);

			assert_int_equal(h.errors, 0);
			dl_fabric_free(f);
			assert_int_equal(read_bytes(read_any, netlist, strlen(netlist), &h, &f), 0);
			dl_fabric_free(f);
			free(netlist);
			good++;
		}
		free(text);
	}
	assert_in_range(good, 3000, 27000);
}

/* ---- the cache ---------------------------------------------------------- */

/* Binary, and read by ibnetdiscover alone. */
static void test_cache(void **state)
{
	static const char bytes[] = "\x2b\x83\xe7\x8f\x01\0\0";
	struct dl_fabric *f;
	struct heard h;

	(void)state;
	assert_int_equal(read_bytes(read_any, bytes, sizeof(bytes), &h, &f), -EINVAL);
	assert_int_equal(h.errors, 1);
	assert_non_null(strstr(h.error, "print it with ibnetdiscover --load-cache test > NET"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_fabrics), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_contradictions), cmocka_unit_test(test_unlisted),
		cmocka_unit_test(test_mutations),      cmocka_unit_test(test_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * OpenSM's subnet list: its own bytes written from a netlist, read back, and
 * damaged ones against the line and words of the message.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric_text.h"

static const fabric_reader read_list = dl_fabric_read_subnet_list_stream;
static const fabric_writer write_list = dl_fabric_write_subnet_list;

/*
 * What ibnetdiscover and OpenSM wrote about the same fabric under ibsim (the
 * marks of the subnet manager's node taken out).
 */
static const char netlist[] =
	"vendid=0x0\n"
	"devid=0x1003\n"
	"sysimgguid=0x111\n"
	"switchguid=0x111(111)\n"
	"Switch\t6 \"S-0000000000000111\"\t\t# \"T\" base port 0 lid 2 lmc 0\n"
	"[1]\t\"S-0000000000000110\"[2]\t\t# \"a switch\" lid 5 1xDDR\n"
	"[3]\t\"S-0000000000000110\"[4]\t\t# \"a switch\" lid 5 4xDDR\n"
	"\n"
	"vendid=0x2c9\n"
	"devid=0xc738\n"
	"sysimgguid=0x111\n"
	"switchguid=0x110(110)\n"
	"Switch\t36 \"S-0000000000000110\"\t\t# \"a switch\" enhanced port 0 "
	"lid 5 "
	"lmc 0\n"
	"[1]\t\"H-0000000000000220\"[1](221) \t\t# \"host HCA-1\" lid 8 4xQDR\n"
	"[2]\t\"S-0000000000000111\"[1]\t\t# \"T\" lid 2 1xDDR\n"
	"[3]\t\"R-0000000000000800\"[1](801) \t\t# \"R\" lid 1 4xSDR\n"
	"[4]\t\"S-0000000000000111\"[3]\t\t# \"T\" lid 2 4xDDR\n"
	"\n"
	"vendid=0x2c9\n"
	"devid=0x1003\n"
	"sysimgguid=0x223\n"
	"caguid=0x220\n"
	"Ca\t2 \"H-0000000000000220\"\t\t# \"host HCA-1\"\n"
	"[1](221) \t\"S-0000000000000110\"[1]\t\t# lid 8 lmc 0 \"a switch\" "
	"lid 5 "
	"4xQDR\n"
	"\n"
	"vendid=0x0\n"
	"devid=0x1003\n"
	"sysimgguid=0x800\n"
	"rtguid=0x800\n"
	"Rt\t1 \"R-0000000000000800\"\t\t# \"R\"\n"
	"[1](801) \t\"S-0000000000000110\"[3]\t\t# lid 1 lmc 0 \"a switch\" "
	"lid 5 "
	"4xSDR\n";

#define GUIDS(system, node, port)                                         \
	" SystemGUID:0000000000000" system " NodeGUID:0000000000000" node \
	" PortGUID:0000000000000" port
#define REV " Rev:000000A1 "
#define RT " Rt Ports:01" GUIDS("800", "800", "801")
#define S110 " SW Ports:24" GUIDS("111", "110", "110")
#define S111 " SW Ports:06" GUIDS("111", "111", "111")
#define H220 " CA Ports:02" GUIDS("223", "220", "221")
#define NEAR_RT "{" RT " VenID:000000 DevID:1003" REV "{R} LID:0001"
#define FAR_RT "{" RT " VenID:00000000 DevID:10030000" REV "{R} LID:0001"
#define NEAR_110 "{" S110 " VenID:0002C9 DevID:C738" REV "{a switch} LID:0005"
#define FAR_110 "{" S110 " VenID:000002C9 DevID:C7380000" REV "{a switch} LID:0005"
#define NEAR_111 "{" S111 " VenID:000000 DevID:1003" REV "{T} LID:0002"
#define FAR_111 "{" S111 " VenID:00000000 DevID:10030000" REV "{T} LID:0002"
#define NEAR_220 "{" H220 " VenID:0002C9 DevID:1003" REV "{host HCA-1} LID:0008"
#define FAR_220 "{" H220 " VenID:000002C9 DevID:10030000" REV "{host HCA-1} LID:0008"

static const char list[] = NEAR_RT " PN:01 } " FAR_110 " PN:03 } PHY=4x LOG=ACT SPD=2.5\n" NEAR_110
				   " PN:01 } " FAR_220 " PN:01 } PHY=4x LOG=ACT SPD=10\n" NEAR_110
				   " PN:02 } " FAR_111 " PN:01 } PHY=1x LOG=ACT SPD=5\n" NEAR_110
				   " PN:03 } " FAR_RT " PN:01 } PHY=4x LOG=ACT SPD=2.5\n" NEAR_110
				   " PN:04 } " FAR_111 " PN:03 } PHY=4x LOG=ACT SPD=5\n" NEAR_111
				   " PN:01 } " FAR_110 " PN:02 } PHY=1x LOG=ACT SPD=5\n" NEAR_111
				   " PN:03 } " FAR_110 " PN:04 } PHY=4x LOG=ACT SPD=5\n" NEAR_220
				   " PN:01 } " FAR_110 " PN:01 } PHY=4x LOG=ACT SPD=10\n";

static struct dl_fabric *read_good(fabric_reader read, const char *text)
{
	struct dl_fabric *f;
	struct heard h;

	if (read_bytes(read, text, strlen(text), &h, &f))
		fail_msg("%s\nin:\n%s", h.error, text);
	return f;
}

static void test_opensm_bytes(void **state)
{
	struct dl_fabric *f = read_good(dl_fabric_read_netlist_stream, netlist);
	char *text = write_string(write_list, f);

	(void)state;
	assert_string_equal(text, list);
	free(text);
	dl_fabric_free(f);
}

static void test_read(void **state)
{
	struct dl_fabric *f = read_good(read_list, list), *g;
	uint32_t s110, s111, h220, rt;
	const struct dl_fabric_port *p;
	char *text;

	(void)state;
	/* In the order of the file. */
	rt = 0, s110 = 1, h220 = 2, s111 = 3;
	assert_int_equal(f->nnodes, 4);
	assert_int_equal(dl_fabric_find_guid(f, 0x800), rt);
	assert_int_equal(dl_fabric_find_guid(f, 0x110), s110);
	assert_int_equal(dl_fabric_find_guid(f, 0x220), h220);
	assert_int_equal(dl_fabric_find_guid(f, 0x111), s111);
	assert_int_equal(f->nodes[rt].type, DL_FABRIC_ROUTER);
	assert_int_equal(f->nodes[s110].type, DL_FABRIC_SWITCH);
	assert_int_equal(f->nodes[h220].type, DL_FABRIC_CA);
	assert_int_equal(f->nodes[s110].nports, 36);
	assert_int_equal(f->nodes[s110].system_guid, 0x111);
	assert_int_equal(f->nodes[s110].vendor, 0x2c9);
	assert_int_equal(f->nodes[s110].device, 0xc738);
	assert_int_equal(f->nodes[s111].device, 0x1003);
	assert_string_equal(dl_fabric_node_id(f, s110), "S-0000000000000110");
	assert_string_equal(dl_fabric_node_name(f, h220), "host HCA-1");
	assert_int_equal(f->lid_port[1], f->nodes[rt].first_port + 1);
	assert_int_equal(f->lid_port[5], f->nodes[s110].first_port);
	assert_int_equal(f->lid_port[8], f->nodes[h220].first_port + 1);
	assert_int_equal(f->top_lid, 8);
	p = &f->ports[f->nodes[s111].first_port + 3];
	assert_int_equal(p->peer, f->nodes[s110].first_port + 4);
	assert_int_equal(p->width, 4);
	assert_int_equal(p->speed, DL_FABRIC_DDR);
	assert_int_equal(f->ports[f->nodes[h220].first_port + 1].guid, 0x221);

	text = write_string(write_list, f);
	assert_string_equal(text, list);
	free(text);
	/* Through a netlist and back. */
	text = write_string(dl_fabric_write_netlist, f);
	g = read_good(dl_fabric_read_netlist_stream, text);
	assert_same_fabric(f, g);
	free(text);
	dl_fabric_free(g);
	dl_fabric_free(f);
}

#define CA(guid, ports, num, lid, desc)                                          \
	"{ CA Ports:" ports " SystemGUID:1 NodeGUID:" guid " PortGUID:" guid num \
	" VenID:0 DevID:0 Rev:0 {" desc "} LID:" lid " PN:" num " } "
#define A CA("a", "2", "1", "1", "a")
#define A2 CA("a", "2", "2", "2", "a")
#define B CA("b", "2", "1", "3", "b")
#define B2 CA("b", "2", "2", "4", "b")
#define C CA("c", "2", "1", "5", "c")
#define SW(desc, lid, num)                                                    \
	"{ SW-SM Ports:4 SystemGUID:1 NodeGUID:5 PortGUID:5 VenID:0 DevID:0 " \
	"Rev:0 {" desc "} LID:" lid " PN:" num " } "
#define END "PHY=4x LOG=ACT SPD=2.5\n"

static void test_forms(void **state)
{
	static const struct {
		const char *text;
		unsigned int width, speed;
		const char *desc;
	} cases[] = {
		{ A B END, 4, DL_FABRIC_SDR, "a" },
		{ "\n" A B END "\r\n" B A END, 4, DL_FABRIC_SDR, "a" },
		{ A B "PHY=12x LOG=INI SPD=FDR10\n", 12, DL_FABRIC_FDR10, "a" },
		{ A B "PHY=8x LOG=ARM SPD=200\n", 8, DL_FABRIC_XDR, "a" },
		{ A B "PHY=?? LOG=ACT SPD=??\n", 0, DL_FABRIC_SPEED_UNKNOWN, "a" },
		{ A B "PHY=4x LOG=ACT SPD=10\n" B A "PHY=1x LOG=ACT SPD=5\n", 1, DL_FABRIC_DDR,
		  "a" },
		{ A B "PHY=?? LOG=ACT SPD=25\n" B A "PHY=2x LOG=ACT SPD=??\n", 2, DL_FABRIC_EDR,
		  "a" },
		{ CA("a", "2", "1", "1", "x } LID: } {y} LID") B END, 4, DL_FABRIC_SDR,
		  "x } LID: } {y} LID" },
		{ CA("a", "2", "1", "1", "") B END, 4, DL_FABRIC_SDR, "H-000000000000000a" },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct dl_fabric *f;

		f = read_good(read_list, cases[i].text);
		assert_int_equal(f->nnodes, 2);
		assert_int_equal(f->ports[1].peer, 4);
		assert_int_equal(f->ports[4].peer, 1);
		assert_int_equal(f->ports[1].lid, 1);
		assert_int_equal(f->ports[1].width, cases[i].width);
		assert_int_equal(f->ports[4].speed, cases[i].speed);
		assert_string_equal(dl_fabric_node_name(f, 0), cases[i].desc);
		dl_fabric_free(f);
	}
}

static const struct {
	const char *text;
	unsigned int line;
	const char *words;
} damaged[] = {
	{ "x", 1, "\"x\": expected {" },
	{ "{ HCA", 1, "\"HCA\": expected SW, CA or Rt" },
	{ "{ CA", 1, "end of line: expected Ports:" },
	{ "{ CA Ports:100", 1, "\"100\": expected 1 to FE ports" },
	{ "{ CA Ports:1 NodeGUID:1", 1, "\"NodeGUID:1\": expected System" },
	{ "{ CA Ports:1 SystemGUID:g", 1, "\"g\": expected a GUID" },
	{ "{ CA Ports:1 SystemGUID:10000000000000000", 1, "expected a GUID" },
	{ A, 1, "expected a description and } LID:.. PN:.. }" },
	{ A A B END, 1, "expected a description and } LID:.. PN:.. }" },
	{ "\n" A B, 2, "end of line: expected PHY= and 1x, 2x, 4x, 8x or" },
	{ A B "PHY=3x LOG=ACT SPD=5", 1, "\"PHY=3x\": expected PHY= and" },
	{ A B "PHY=4x SPD=5", 1, "\"SPD=5\": expected LOG= and a state" },
	{ A B "PHY=4x LOG=ACT", 1, "end of line: expected SPD= and 2.5" },
	{ A B "PHY=4x LOG=ACT SPD=7", 1, "\"SPD=7\": expected SPD= and 2.5" },
	{ A B "PHY=4x LOG=ACT SPD=5 x", 1, "\"x\": expected the end of the" },
	{ CA("0", "2", "1", "1", "a") B END, 1, "NodeGUID 0: expected anot" },
	{ CA("a", "2", "1", "10000", "a") B END, 1, "\"10000\": expected a LID, at most FFFF" },
	{ A CA("b", "2", "1", "x", "b") END, 1, "expected a description and" },
	{ A "{ CA Ports:1 SystemGUID:0 NodeGUID:b PortGUID:b VenID:0 "
	    "DevID:10001 Rev:0 {b} LID:2 PN:1 } " END,
	  1, "DevID:00010001: expected 16 bits" },
	{ "{ CA Ports:1 SystemGUID:0 NodeGUID:b PortGUID:b VenID:0 "
	  "DevID:10000 Rev:0 {b} LID:2 PN:1 } " B END,
	  1, "DevID:00010000: expected 16 bits" },
};

/* One device that contradicts the others is left out, and named. */
static const struct contradiction contradictions[] = {
	/* Ports that cannot be. */
	{ A B END
	  "{ CA Ports:0 SystemGUID:1 NodeGUID:d PortGUID:d1 VenID:0 DevID:0 Rev:0 {d} LID:4 "
	  "PN:1 } " C END,
	  0, "\"d\" (node GUID 0x000000000000000d) claims 0 ports", "0.1-1.1 2.1-3.1", NULL },
	{ A B END
	  "{ CA Ports:ff SystemGUID:1 NodeGUID:d PortGUID:d1 VenID:0 DevID:0 Rev:0 {d} LID:4 "
	  "PN:1 } " C END,
	  0, "claims 255 ports", "0.1-1.1 2.1-3.1", NULL },
	{ A B END CA("d", "2", "0", "4", "d") C END, 2,
	  "node 0x000000000000000d \"d\" claims port 0 of 2: left out", "0.1-1.1", NULL },
	{ A B END CA("d", "2", "3", "4", "d") C END, 2, "claims port 3 of 2", "0.1-1.1", NULL },
	{ CA("a", "2", "1", "c000", "a") B END, 0, "where unicast LIDs are 1 to", "0.1-1.1",
	  "0 0 3 0" },
	/* One node, described in two ways. */
	{ A B END "\n" B CA("a", "3", "1", "1", "a") END, 3,
	  "node 0x000000000000000a port 1 is described otherwise than in test:1: left out",
	  "0.1-1.1", NULL },
	{ A B END B CA("a", "2", "1", "1", "x") END, 2, "otherwise than in test:1", "0.1-1.1",
	  NULL },
	{ A B END B CA("a", "2", "1", "7", "a") END, 2, "otherwise than in test:1", "0.1-1.1",
	  "1 0 3 0" },
	{ C B END A B2 END A2 CA("b", "2", "2", "6", "b") END, 3,
	  "node 0x000000000000000b port 2 is described otherwise than in test:2", NULL, NULL },
	{ SW("s", "9", "1") A END SW("s", "8", "2") B END, 2,
	  "node 0x0000000000000005 port 2 is described otherwise than in test:1", "0.1-1.1",
	  "9 1 0 3 0" },
	{ SW("s", "9", "2") A END SW("s", "8", "1") B END, 2,
	  "node 0x0000000000000005 port 1 is described otherwise than in test:1", "0.2-1.1",
	  "9 1 0 3 0" },
	/* Cables that contradict each other. */
	{ A B END A C END, 2, "port 1 to \"H-000000000000000c\" port 1, where test:1 says \"H-0",
	  "0.1-1.1", NULL },
	{ A B END A B END, 2, "where test:1 says \"H-0", "0.1-1.1", NULL },
	{ A B END B A2 END, 1, "where test:2 says \"H-0", "0.2-1.1", NULL },
	{ A B END C B END, 2, "where test:1 says \"H-0", "0.1-1.1", NULL },
	{ A B END A2 CA("c", "1", "1", "1", "c") END, 0, "where LID 1 is that of \"a\"",
	  "0.1-1.1 0.2-2.1", NULL },
};

static void test_contradictions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(contradictions) / sizeof(*contradictions); i++)
		assert_contradiction(read_list, &contradictions[i]);
}

/*
 * A description of 64 bytes is all that a host may choose: each of these is
 * read as it is, at both ends of a cable.
 */
static void test_hostile_descriptions(void **state)
{
	static const char *const descs[] = {
		"x} LID:1 PN:1 }",
		"x} LID:1 PN:1 } y} {",
		"x} LID:1 PN:1 } PHY=4x LOG=ACT SPD=5",
		"x} LID:1 PN:1 } { SW Ports:1 SystemGUID:1 NodeGUID:1 PortGUID:1",
		"} LID:0001 PN:01 }} LID:0001 PN:01 }",
		"{{{{",
		"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(descs) / sizeof(*descs); i++) {
		struct dl_fabric *f = NULL;
		char text[1000];
		struct heard h;

		snprintf(text, sizeof(text),
			 "{ CA Ports:2 SystemGUID:1 NodeGUID:a PortGUID:a1 VenID:0 DevID:0 Rev:0 "
			 "{%1$s} LID:1 PN:1 } { CA Ports:2 SystemGUID:1 NodeGUID:b PortGUID:b1 "
			 "VenID:0 "
			 "DevID:0 Rev:0 {%1$s} LID:2 PN:2 } " END,
			 descs[i]);
		assert_int_equal(read_bytes(read_list, text, strlen(text), &h, &f), 0);
		assert_int_equal(h.warnings, 0);
		assert_string_equal(dl_fabric_node_name(f, 0), descs[i]);
		assert_string_equal(dl_fabric_node_name(f, 1), descs[i]);
		assert_int_equal(f->ports[5].lid, 2);
		dl_fabric_free(f);
	}
}

static void test_damaged(void **state)
{
	struct dl_fabric *f = NULL;
	struct heard h;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		char text[1000];

		snprintf(text, sizeof(text), "%s\n", damaged[i].text);
		if (read_bytes(read_list, text, strlen(text), &h, &f) != -EINVAL)
			fail_msg("was read: %s", text);
		assert_error(&h, damaged[i].line, damaged[i].words);
		assert_null(f);
	}
	/* Of SPD=25, or of SPD=200? */
	assert_int_equal(read_bytes(read_list, A B END B A "PHY=4x LOG=ACT SPD=2",
				    strlen(A B END B A "PHY=4x LOG=ACT SPD=2"), &h, &f),
			 -EINVAL);
	assert_error(&h, 2, "ends within a line");
	heard_init(&h);
	assert_int_equal(dl_fabric_read_subnet_list("no such file", &h.log, &f), -ENOENT);
	assert_string_equal(h.error, "no such file: No such file or "
				     "directory");
}

static void test_mutations(void **state)
{
	static const char *const texts[] = {
		list,
		A B END,
		A2 SW("s", "9", "1") "PHY=2x LOG=ACT SPD=25\n",
		SW("s", "9", "3") SW("s", "9", "4") "PHY=8x LOG=INI SPD=??\n" C SW("s", "9", "2")
			END,
	};
	struct test_random r = { .seed = text_seed(4) };

	(void)state;
	mutate(read_list, write_list, texts, 4, &r, 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opensm_bytes),   cmocka_unit_test(test_read),
		cmocka_unit_test(test_forms),	       cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_contradictions), cmocka_unit_test(test_hostile_descriptions),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading netlists: real ones, and damaged ones against the line and words of the
 * message.  What ibsim and OpenSM make of the same text was observed and stands
 * here as expected values.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "netlist_text.h"

static void test_dump(void **state)
{
	struct dl_fabric *f = read_good(netlist_dump);

	(void)state;
	assert_int_equal(f->nnodes, 4);
	assert_int_equal(f->nswitches, 2);
	assert_int_equal(f->nodes[0].guid, 0x110);
	assert_int_equal(f->nodes[0].system_guid, 0x111);
	assert_int_equal(f->nodes[0].vendor, 0x2c9);
	assert_int_equal(f->nodes[0].device, 0xc738);
	assert_string_equal(dl_fabric_node_id(f, 0), "S-0000000000000110");
	assert_string_equal(dl_fabric_node_name(f, 0), "a \"big\" switch");
	assert_int_equal(port_of(f, 0, 0)->guid, 0x112);
	assert_int_equal(port_of(f, 0, 0)->lid, 5);
	assert_int_equal(port_of(f, 0, 0)->lmc, 1);
	assert_int_equal(f->nodes[1].type, DL_FABRIC_CA);
	assert_int_equal(port_of(f, 1, 1)->guid, 0x229);
	assert_int_equal(port_of(f, 1, 2)->guid, 0x230);
	assert_int_equal(port_of(f, 1, 1)->lid, 8);
	assert_int_equal(port_of(f, 1, 1)->lmc, 2);
	assert_int_equal(port_of(f, 1, 2)->lid, 12);
	/* Not said again: not carried over from the node before. */
	assert_int_equal(f->nodes[2].system_guid, 0);
	assert_int_equal(f->nodes[2].vendor, 0);
	assert_int_equal(f->nodes[3].type, DL_FABRIC_ROUTER);
	assert_int_equal(f->top_lid, 15);
	assert_int_equal(f->lid_port[15], f->nodes[1].first_port + 2);
	assert_cable(f, 0, 1, 1, 1);
	assert_cable(f, 0, 2, 2, 6);
	assert_cable(f, 0, 3, 3, 1);
	assert_cable(f, 1, 2, 2, 1);
	assert_int_equal(port_of(f, 0, 1)->speed, DL_FABRIC_QDR);
	assert_int_equal(port_of(f, 0, 1)->vls, 8);
	assert_int_equal(port_of(f, 0, 2)->width, 1);
	assert_int_equal(port_of(f, 0, 2)->speed, DL_FABRIC_DDR);
	assert_int_equal(port_of(f, 2, 6)->vls, 15);
	assert_int_equal(port_of(f, 0, 3)->width, 12);
	assert_int_equal(port_of(f, 0, 3)->speed, DL_FABRIC_EDR);
	assert_int_equal(port_of(f, 3, 1)->vls, 4);
	assert_int_equal(port_of(f, 1, 2)->width, 2);
	assert_int_equal(port_of(f, 1, 2)->speed, DL_FABRIC_FDR10);
	assert_int_equal(port_of(f, 2, 3)->peer, DL_NONE);
	dl_fabric_free(f);
}

/* A description that is the id, as ibsim gives, is not kept twice. */
static void test_names(void **state)
{
	struct dl_fabric *f = read_good("Switch 1 \"a\"\n\nSwitch 1 \"b\" # \"b\"\n\n"
					"Ca 1 \"c\" # \"\"\n\nCa 1 \"d\" # \"x\"\n");
	uint32_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(f->nodes[i].desc, 0);
		assert_string_equal(dl_fabric_node_name(f, i), dl_fabric_node_id(f, i));
	}
	assert_string_equal(dl_fabric_node_name(f, 3), "x");
	dl_fabric_free(f);
}

/* The same cables in every form that a line may have. */
static void test_forms(void **state)
{
	static const char *const texts[] = {
		/* ibsim's own example; line ends; no last line end */
		"Switch 8 \"s\"\n[1] \"h\"[1]\n\nHca 2 \"h\"\n[1] \"s\"[1]\n",
		"Switch 8 \"s\"\r\n[1] \"h\"[1]\r\n\r\nCa 2 \"h\"\r\n"
		"[1] \"s\"[1]",
		/* one end only, a peer named ahead, the default port 1 */
		"Switch 8 \"s\"\n[1] \"h\"[1]\nCa 2 \"h\"",
		"Switch 8 \"s\"\n\nCa 2 \"h\"\n[1] \"s\"[1]\n",
		"Switch 8 \"s\"\n[1]\"h\"\n\n\n\nCa 2 \"h\"\n[1]\"s\"\n",
		/* blanks */
		" Switch\t8\t\"s\" \n  [ 1 ] \"h\" [ 1 ] \n\n\tCa 2 \"h\"\n"
		"\t[1]\t\"s\"\t[1]\t\n",
		/* a chassis, comments */
		"Chassis 1 (guid 0x2)\n\n# Spine Nodes\nSwitch 8 \"s\"#x\n"
		"# ha\n[1][ext 12](5)\"h\"[1][ext 3](100001) # Chassis 1\n\n"
		"Non-Chassis Nodes\nsysimgguid=0x0\t# Chassis 1\nCa 2 \"h\" # "
		"lid lmc x 4x?? \"\n[1](100001)\"s\"[1] # lid lmc w=9 v=z\n",
		/* ibsim's commands */
		"do verbose 3\nSwitch 8 \"s\"\n[1] \"h\"[1] w=2,s=1 e=0 #x\n\n"
		"do\nCa 2 \"h\"\n[1] \"s\"[1] w=3\n",
	};
	struct dl_fabric *plain = read_good(texts[0]), *f;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		f = read_good(texts[i]);
		assert_same_fabric(plain, f);
		dl_fabric_free(f);
	}
	assert_cable(plain, 0, 1, 1, 1);
	assert_int_equal(plain->nodes[0].guid, 0x200000);
	assert_int_equal(plain->nodes[1].guid, 0x100000);
	assert_int_equal(port_of(plain, 0, 0)->guid, 0x200000);
	assert_int_equal(port_of(plain, 1, 2)->guid, 0x100002);
	assert_int_equal(port_of(plain, 0, 1)->width, 4);
	assert_int_equal(port_of(plain, 0, 1)->speed, DL_FABRIC_SDR);
	assert_int_equal(port_of(plain, 0, 1)->vls, 8);
	assert_int_equal(port_of(plain, 0, 1)->arb_high_cap, 8);
	assert_int_equal(port_of(plain, 0, 1)->arb_low_cap, 8);
	dl_fabric_free(plain);

	f = read_good("# nothing\n\n");
	assert_int_equal(f->nnodes, 0);
	dl_fabric_free(f);
	f = read_good("");
	assert_int_equal(f->nnodes, 0);
	dl_fabric_free(f);
}

/* The GUIDs which OpenSM sees when ibsim plays this netlist. */
static void test_guids(void **state)
{
	struct dl_fabric *f =
		read_good("Switch 4 \"A\"\n\nSwitch 4 \"B\"\n\n"
			  "switchguid=0x500\nSwitch 2 \"C\"\n\nSwitch 2 \"D\"\n\n"
			  "Ca 2 \"H1\"\n\nCa 3 \"H2\"\n\n"
			  "caguid=0x900\nCa 1 \"H3\"\n\nHca 1 \"H4\"\n\n"
			  "switchguid=0x700\nCa 1 \"H5\"\n\nSwitch 1 \"S7\"\n\n"
			  "Rt 2 \"R1\"\n\nrtguid=0x800\nRt 2 \"R2\"\n\nRt 2 \"R3\"\n\n"
			  "hcaguid=0xa00\nSwitch 2 \"S8\"\n\nCa 1 \"H9\"\n\n"
			  "switchguid+0x10\nSwitch 1 \"P\"\n\nswitchguid+4\n"
			  "Switch 1 \"Q\"\n\n");
	static const uint64_t expected[] = {
		0x200000, 0x200001, 0x500, 0x501, 0x100000, 0x100003, 0x900, 0x902, 0x904,
		0x700,	  0,	    0x800, 0x803, 0x701,    0xa00,    0x710, 0x704,
	};
	uint32_t i;

	(void)state;
	assert_int_equal(f->nnodes, sizeof(expected) / sizeof(*expected));
	for (i = 0; i < f->nnodes; i++)
		assert_int_equal(f->nodes[i].guid, expected[i]);
	dl_fabric_free(f);

	/* Numbers as ibsim reads them; ids that are GUIDs. */
	f = read_good("switchguid=500\nSwitch 4 \"A\"\n\nswitchguid = 0500\n"
		      "Switch 4 \"B\"\n\nSwitch 2 \"S-0008f10400410015\"\n\n"
		      "Ca 2 \"H-00000000000000AB\"\n\nCa 2 "
		      "\"S-0008f10400410016\"\n\nSwitch 1 \"C\"\n\n");
	assert_int_equal(f->nodes[0].guid, 500);
	assert_int_equal(f->nodes[1].guid, 0500);
	assert_int_equal(f->nodes[2].guid, 0x8f10400410015);
	assert_int_equal(f->nodes[3].guid, 0xab);
	assert_int_equal(port_of(f, 3, 2)->guid, 0xad);
	assert_int_equal(f->nodes[4].guid, 0x100000);
	assert_int_equal(f->nodes[5].guid, 0501);
	dl_fabric_free(f);
}

/* ibnetdiscover --full: the code of the VLs; the fewer of two ends. */
static void test_vls(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned int vls;
	} cases[] = {
		{ "", "", 8 },	   { "v=1", "v=1", 1 }, { "v=2", "v=3", 2 }, { "v=4", "v=3", 4 },
		{ "v=5", "", 15 }, { "", "v=1", 1 },	{ "v=0", "v=2", 2 }, { "v=6", "v=33", 8 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct dl_fabric *f;
		char text[200];

		snprintf(text, sizeof(text),
			 "Switch 4 \"A\"\n[1]\"B\"[2] # "
			 "\"B\" 4xSDR %s\n\nSwitch 4 \"B\"\n[2]\"A\"[1] # "
			 "\"A\" 4xSDR %s\n",
			 cases[i].a, cases[i].b);
		f = read_good(text);
		assert_int_equal(port_of(f, 0, 1)->vls, cases[i].vls);
		assert_int_equal(port_of(f, 1, 2)->vls, cases[i].vls);
		assert_int_equal(port_of(f, 1, 1)->vls, 8);
		dl_fabric_free(f);
	}
}

/* Width and speed that ibsim reports for the words at the two ends. */
static void test_speeds(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned int width, speed;
	} cases[] = {
		{ "w=1", "w=1", 1, DL_FABRIC_SDR },
		{ "w=2", "w=2", 4, DL_FABRIC_SDR },
		{ "w=4", "w=4", 8, DL_FABRIC_SDR },
		{ "w=8", "w=8", 12, DL_FABRIC_SDR },
		{ "w=12", "w=12", 12, DL_FABRIC_SDR },
		{ "w=16", "w=16", 2, DL_FABRIC_SDR },
		{ "w=18", "w=18", 4, DL_FABRIC_SDR },
		{ "w=31", "w=31", 12, DL_FABRIC_SDR },
		{ "w=0x4", "w=0x4", 8, DL_FABRIC_SDR },
		{ "w=3", "w=1", 1, DL_FABRIC_SDR },
		{ "w=3", "", 4, DL_FABRIC_SDR },
		{ "s=2", "s=2", 4, DL_FABRIC_DDR },
		{ "s=5", "s=5", 4, DL_FABRIC_QDR },
		{ "s=7", "s=3", 4, DL_FABRIC_DDR },
		{ "s=7", "", 4, DL_FABRIC_SDR },
		{ "e=2", "e=3", 4, DL_FABRIC_EDR },
		{ "e=4", "e=4", 4, DL_FABRIC_HDR },
		{ "e=2", "", 4, DL_FABRIC_SDR },
		{ "s=1 e=7", "e=3 w=2", 4, DL_FABRIC_EDR },
		{ "w=4,s=2", "w=4,s=2", 8, DL_FABRIC_DDR },
		{ "# lid 3 4xQDR", "", 4, DL_FABRIC_SDR },
		{ "# lid 3 4xQDR", "# lid 4 1xSDR", 1, DL_FABRIC_SDR },
		{ "# lid 3 4xQDR", "# lid 4 4xFDR", 4, DL_FABRIC_QDR },
		{ "# \"x\" lid 3 4xQDR", "s=7", 4, DL_FABRIC_QDR },
		{ "# lid 3 4xFDR10", "# lid 3 4xFDR", 4, DL_FABRIC_FDR10 },
		{ "# lid 3 8xQDR", "# lid 3 8xQDR", 8, DL_FABRIC_QDR },
		{ "# lid 3 2xHDR", "# lid 3 2xHDR", 2, DL_FABRIC_HDR },
		{ "w=1 # \"h\" 4xQDR", "w=1 # \"h\" 4xQDR", 4, DL_FABRIC_QDR },
		/* Not ibsim's: it stops at HDR. */
		{ "# lid 3 4xNDR", "# lid 3 4xXDR", 4, DL_FABRIC_NDR },
		{ "# 4x??", "# 4x4x4, 3xFOO", 4, DL_FABRIC_SDR },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct dl_fabric_port *p;
		struct dl_fabric *f;
		char text[200];

		snprintf(text, sizeof(text),
			 "Switch 4 \"A\"\n[1]\"B\"[2] %s\n"
			 "\nSwitch 4 \"B\"\n[2]\"A\"[1] %s\n",
			 cases[i].a, cases[i].b);
		f = read_good(text);
		p = port_of(f, 0, 1);
		if (p->width != cases[i].width || p->speed != cases[i].speed ||
		    port_of(f, 1, 2)->width != p->width || port_of(f, 1, 2)->speed != p->speed)
			fail_msg("%s and %s give %ux, speed %u", cases[i].a, cases[i].b, p->width,
				 p->speed);
		dl_fabric_free(f);
	}
}

static const struct {
	const char *text;
	unsigned int line;
	const char *words;
} damaged[] = {
	{ "Swich 4 \"s\"", 1, "\"Swich\": expected Switch, Ca, " },
	{ "switch 4 \"s\"", 1, "\"switch\": expected Switch, Ca, " },
	{ "\n\nRouter 4 \"s\"", 3, "\"Router\": expected Switch, Ca, " },
	{ "Switch", 1, "end of line: expected a number of ports" },
	{ "Switch 4 \"s\"\n[1] \"t\"[1] # \"t\" lid 3 4xSDRx", 2,
	  "\"4xSDRx\": expected a speed from SDR to XDR" },
	{ "Switch 4 \"s\"\n[1] \"t\"[1] # 1xGDR", 2, "\"1xGDR\": expected a speed" },
	{ "Switch x \"s\"", 1, "\"x\": expected a number of ports, 1 to 254" },
	{ "Switch -1 \"s\"", 1, "\"-1\": expected a number of ports" },
	{ "Switch 256 \"s\"", 1, "\"256\": expected a number of ports" },
	{ "Switch 99999999999999999999 \"s\"", 1, "expected a number of" },
	{ "Switch 4", 1, "end of line: expected a node id in quotes" },
	{ "Switch 4 s", 1, "\"s\": expected a node id in quotes" },
	{ "Switch 4 \"s", 1, "\"\"s\": expected a node id in quotes" },
	{ "Switch 4 \"\"", 1, "expected an id of one character or more" },
	{ "Switch 4 \"a#b\"", 1, "without #, @ and control" },
	{ "Switch 4 \"a@b\"", 1, "without #, @ and control" },
	{ "Switch 4 \"a\tb\"", 1, "without #, @ and control" },
	{ "Switch 4 \"s\" x", 1, "\"x\": expected # or the end" },
	{ "Switch 4 \"s\" # \"s\" base port 0 lid 65536 lmc 0", 1,
	  "\"65536\": expected a LID, 16 bits" },
	{ "Switch 4 \"s\" # \"s\" base port 0 lid 1 lmc 8", 1,
	  "\"8\": expected an LMC, at most 7" },
	{ "[1] \"s\"[1]", 1, "expected a Switch, Ca, Hca or Rt line before" },
	{ S "[] \"s\"[1]", 2, "\"]\": expected a port, 1 to 254" },
	{ S "[256] \"s\"[1]", 2, "\"256]\": expected a port, 1 to 254" },
	{ S "[1x] \"s\"[1]", 2, "\"x]\": expected ]" },
	{ S "[1", 2, "end of line: expected ]" },
	{ S "[1](zz) \"s\"[1]", 2, "\"zz)\": expected a port's GUID" },
	{ S "[1](1 \"s\"[1]", 2, "expected )" },
	{ S "[1][ext x] \"s\"[1]", 2, "\"x]\": expected a chassis port" },
	{ S "[1][ext 1 \"s\"[1]", 2, "expected ]" },
	{ S "[1]", 2, "end of line: expected a peer's id in quotes" },
	{ S "[1] s[1]", 2, "\"s[1]\": expected a peer's id in quotes" },
	{ S "[1] \"t\"[256]", 2, "\"256]\": expected a port, 1 to 254" },
	{ S "[1] \"t\"[1", 2, "end of line: expected ]" },
	{ S "[1] \"t\"[1] x=3", 2, "\"x=3\": expected w=, s=, e=, # or" },
	{ S "[1] \"t\"[1] w=0", 2, "an empty set of widths" },
	{ S "[1] \"t\"[1] w=32", 2, "\"32\": expected a set of widths" },
	{ S "[1] \"t\"[1] s=0", 2, "an empty set of speeds" },
	{ S "[1] \"t\"[1] s=8", 2, "\"8\": expected a set of speeds" },
	{ S "[1] \"t\"[1] e=8", 2, "expected a set of extended speeds" },
	{ S "[1] \"t\"[1] s=", 2, "end of line: expected a set of speeds" },
	{ S "[1] \"t\"[1]\n", 2, "\"t\": expected the id of a node" },
	{ S "[1] \"t\"[1]\n[1] \"t\"[2]\n\n" T, 3,
	  "port 1: expected another one, line 2 gives it already" },
	{ "switchguid", 1, "end of line: expected = or + and a GUID" },
	{ "switchguid-0x5", 1, "\"switchguid-0x5\": expected Switch" },
	{ "switchguid:5", 1, "\":5\": expected = or + and a GUID" },
	{ "switchguid=", 1, "end of line: expected a GUID" },
	{ "caguid=g", 1, "\"g\": expected a GUID" },
	{ "caguid=0x10000000000000000", 1, "expected a GUID" },
	{ "rtguid=5(x)", 1, "\"x)\": expected a port's GUID" },
	{ "rtguid=5(5", 1, "end of line: expected )" },
	{ "hcaguid=5 5", 1, "\"5\": expected (, # or the end of the line" },
	{ "sysimgguid 5", 1, "\"5\": expected =" },
	{ "vendid=0x100000000", 1, "expected a vendor, 32 bits" },
	{ "devid=0x10000", 1, "\"0x10000\": expected a device, 16 bits" },
	{ "devid=1 2", 1, "\"2\": expected # or the end of the line" },
	{ "include x", 1, "\"x\": expected a file name in quotes" },
	{ "include \"x\" y", 1, "\"y\": expected # or the end of the line" },
	{ "include \"/etc/passwd\"", 1, "include: expected none, unless --include allows it" },
	{ "\x01\x02 x", 1, "\"??\": expected Switch" },
};

/*
 * One device that contradicts the others is left out, and named: two adapters
 * and two switches, of which all else is there.
 */
#define LIDS(s, t, g, h)                                                               \
	"Switch 4 \"s\" # \"s\" base port 0 lid " s "\n[1] \"g\"[1]\n[2] \"t\"[1]\n\n" \
	"Switch 4 \"t\" # \"t\" base port 0 lid " t "\n[1] \"s\"[2]\n[2] \"h\"[1]\n\n" \
	"Ca 1 \"g\"\n[1] \"s\"[1] # lid " g "\n\nCa 1 \"h\"\n[1] \"t\"[2] # lid " h "\n"
#define LIDS_CABLES "0.1-2.1 0.2-1.1 1.2-3.1"

static const struct contradiction contradictions[] = {
	/* LIDs: who claims less goes first, then a switch, then the first. */
	{ LIDS("1 lmc 0", "2 lmc 0", "4 lmc 7", "5 lmc 0"), 0,
	  "\"g\" (node GUID 0x0000000000100000) port 1 claims LID 4 with LMC 7, where LID 5 is "
	  "that "
	  "of \"h\" (node GUID 0x0000000000100002) port 1: left without a LID",
	  LIDS_CABLES, "1 2 0 5" },
	{ LIDS("1 lmc 0", "2 lmc 0", "2 lmc 0", "5 lmc 0"), 0, "\"g\"", LIDS_CABLES, "1 2 0 5" },
	{ LIDS("1 lmc 0", "1 lmc 0", "4 lmc 0", "5 lmc 0"), 0, "\"t\"", LIDS_CABLES, "1 0 4 5" },
	{ LIDS("1 lmc 0", "2 lmc 0", "5 lmc 0", "5 lmc 0"), 0, "\"h\"", LIDS_CABLES, "1 2 5 0" },
	{ LIDS("1 lmc 0", "2 lmc 0", "49152 lmc 0", "5 lmc 0"), 0, "where unicast LIDs are 1 to",
	  LIDS_CABLES, "1 2 0 5" },
	{ LIDS("1 lmc 0", "2 lmc 0", "49151 lmc 1", "5 lmc 0"), 0, "LID 49151 with LMC 1",
	  LIDS_CABLES, "1 2 0 5" },
	/* Numbers of ports that no node has. */
	{ S "[1] \"t\"[1]\n[2] \"u\"[1]\n\nCa 0 \"u\"\n[1] \"s\"[2]\n[2] \"s\"[3]\n\n" T, 0,
	  "\"u\" (node GUID 0x0000000000000000) claims 0 ports, where 1 to 254 are possible: taken "
	  "for 1",
	  "0.1-2.1 0.2-1.1", NULL },
	{ S "[1] \"t\"[1]\n[2] \"u\"[1]\n\nSwitch 255 \"u\" # lid 1\n[255] \"s\"[3]\n\n" T, 0,
	  "claims 255 ports, where 1 to 254 are possible: taken for 254", "0.1-2.1 0.2-1.1", NULL },
	{ S "[1] \"t\"[1]\n[5] \"t\"[2]\n[0] \"t\"[2]\n\n" T, 3,
	  "port 5 of \"s\", which has 4: left out", "0.1-1.1", NULL },
	{ S "[1] \"t\"[5]\n[2] \"t\"[2]\n\n" T, 2, "a cable to port 5 of \"t\", which has 4",
	  "0.2-1.2", NULL },
	{ S "[1] \"t\"[0]\n[2] \"t\"[255]\n\n" T, 2, "a cable to port 0 of \"t\"", "", NULL },
	/* One id, one GUID: an adapter gives way to a switch, else the later one. */
	{ S "[1] \"t\"[1]\n\n" T "\n" S "[2] \"t\"[2]\n", 6, "\"s\" has the id of test:1",
	  "0.1-1.1", NULL },
	{ "switchguid=0x5\n" S "[1] \"h\"[1]\n[2] \"t\"[1]\n\n" T "\ncaguid=5\nCa 1 \"h\"\n", 9,
	  "\"h\" has GUID 0x0000000000000005, that of \"s\" in test:2: left out", "0.2-1.1", NULL },
	{ "caguid=5\nCa 1 \"h\"\n[1] \"s\"[1]\n\nswitchguid=0x5\n" S "[2] \"t\"[1]\n\n" T, 2,
	  "\"h\" has GUID 0x0000000000000005, that of \"s\" in test:6: left out", "0.2-1.1", NULL },
	/* Cables: what both ends say goes first, whatever the order. */
	{ S "[1] \"t\"[1]\n\n" T "[1] \"s\"[2]\n", 2,
	  "\"s\" port 1 to \"t\" port 1, where test:5 says \"t\" port 1 to \"s\" port 2: left out",
	  "0.2-1.1", NULL },
	{ S "[1] \"t\"[1]\n[2] \"t\"[1]\n\n" T, 3,
	  "\"s\" port 2 to \"t\" port 1, where test:2 says", "0.1-1.1", NULL },
	{ S "[2] \"t\"[1]\n[1] \"t\"[1]\n\n" T "[1] \"s\"[1]\n", 2,
	  "\"s\" port 2 to \"t\" port 1, where test:6 says", "0.1-1.1", NULL },
	{ S "[1] \"t\"[1]\n\n" T "[2] \"s\"[1]\n", 5,
	  "\"t\" port 2 to \"s\" port 1, where test:2 says", "0.1-1.1", NULL },
	{ S "[1] \"u\"[1]\n\n" T "[1] \"u\"[1]\n\nCa 1 \"u\"\n", 5,
	  "\"t\" port 1 to \"u\" port 1, where test:2 says", "0.1-2.1", NULL },
	{ S "[1] \"u\"[1]\n\n" T "[1] \"u\"[1]\n\nCa 1 \"u\"\n[1] \"t\"[1]\n", 2,
	  "\"s\" port 1 to \"u\" port 1, where test:8 says", "1.1-2.1", NULL },
	{ S "[1] \"s\"[1]\n\n" T "[1] \"s\"[1]\n", 2, "port 1 is plugged into itself", "", NULL },
	/* Two ends that cannot have trained. */
	{ S "[1] \"t\"[1] s=2\n[2] \"t\"[2]\n\n" T "[1] \"s\"[1]\n", 2,
	  "\"s\" port 1 has no width and speed that its far end in test:6 has too", "0.2-1.2",
	  NULL },
	{ S "[1] \"t\"[1] w=1\n\n" T "[1] \"s\"[1]\n", 2, "no width and speed", "", NULL },
};

static void test_contradictions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(contradictions) / sizeof(*contradictions); i++)
		assert_contradiction(read_netlist, &contradictions[i]);
}

static void test_damaged(void **state)
{
	struct dl_fabric *f = NULL;
	struct heard h;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		const char *text = damaged[i].text;

		if (read_bytes(read_netlist, text, strlen(text), &h, &f) != -EINVAL)
			fail_msg("was read: %s", text);
		assert_error(&h, damaged[i].line, damaged[i].words);
		assert_null(f);
	}
	assert_int_equal(read_bytes(read_netlist, S "# a\0b", sizeof(S) + 4, &h, &f), -EINVAL);
	assert_error(&h, 2, "a byte 0: expected text");
}

/* Half a megabyte of switches that claim all ports there can be. */
static void test_costs(void **state)
{
	struct dl_fabric *f = NULL;
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	struct heard h;

	(void)state;
	assert_non_null(to);
	for (unsigned int i = 0; i < 30000; i++)
		fprintf(to, "Switch 254 \"%x\"\n", i);
	fclose(to);
	assert_int_equal(read_bytes(read_netlist, text, len, &h, &f), -EINVAL);
	assert_error(&h, (1 << 28) / (255 * 255) + 1,
		     "one node too many: expected at most 65535 nodes");
	free(text);
}

static void test_warnings(void **state)
{
	struct dl_fabric *f;
	struct heard h;

	(void)state;
	/* A plug that leads back; the port has no cable. */
	assert_int_equal(read_bytes(read_netlist, S "[1] \"s\"[1]\n", strlen(S "[1] \"s\"[1]\n"),
				    &h, &f),
			 0);
	assert_int_equal(h.warnings, 1);
	assert_int_equal(port_of(f, 0, 1)->peer, DL_NONE);
	dl_fabric_free(f);
	/* Lines that ibsim passes over: said once. */
	assert_int_equal(read_bytes(read_netlist,
				    S "[1] \"t\"[1]\n" T "[2]\"s\"[2]\n"
				      "Ca 1 \"h\"\n",
				    strlen(S "[1] \"t\"[1]\n" T "[2]\"s\"[2]\n"
					     "Ca 1 \"h\"\n"),
				    &h, &f),
			 0);
	assert_int_equal(h.warnings, 1);
	assert_int_equal(f->nnodes, 3);
	dl_fabric_free(f);
}

/* ---- files ------------------------------------------------------------- */

static void put_file(const char *dir, const char *name, const char *text)
{
	char path[200];
	FILE *to;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	to = fopen(path, "w");
	assert_non_null(to);
	fputs(text, to);
	assert_int_equal(fclose(to), 0);
}

static int read_path(const char *dir, const char *name, struct heard *h, struct dl_fabric **out)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	heard_init(h);
	return dl_fabric_read_netlist_including(path, &h->log, out);
}

static void test_files(void **state)
{
	static const char *const names[] = {
		"top", "sub_one", "sub_two", "loop", "self", "deep", "late", "sub",
	};
	char dir[] = "test-netlist-XXXXXX", path[200], text[200];
	struct dl_fabric *f;
	struct heard h;
	size_t i;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sub", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	put_file(dir, "top",
		 S "[1] \"t\"[1]\n\ninclude \"sub_one\" # below\n"
		   "Ca 1 \"h\"\n[1] \"s\"[2]\n");
	put_file(dir, "sub_one", "include \"sub_two\"\nRt 1 \"r\"\n");
	put_file(dir, "sub_two", T "[1] \"s\"[1]");
	assert_int_equal(read_path(dir, "top", &h, &f), 0);
	assert_int_equal(h.errors, 0);
	assert_int_equal(f->nnodes, 4);
	assert_string_equal(dl_fabric_node_id(f, 0), "s");
	assert_string_equal(dl_fabric_node_id(f, 1), "t");
	assert_string_equal(dl_fabric_node_id(f, 2), "r");
	assert_int_equal(f->nodes[1].guid, 0x200001);
	assert_cable(f, 0, 1, 1, 1);
	assert_cable(f, 0, 2, 3, 1);
	dl_fabric_free(f);

	/* The right file is named, and the right line of both. */
	put_file(dir, "sub_two", "\n" T "[1] \"s\"[3]");
	assert_int_equal(read_path(dir, "top", &h, &f), 0);
	dl_fabric_free(f);
	snprintf(text, sizeof(text),
		 "%s/top:2: \"s\" port 1 to \"t\" port 1, where %s/sub_two:3 says \"t\" port 1 to "
		 "\"s\" port 3: left out",
		 dir, dir);
	assert_string_equal(h.warning, text);
	/* Ports belong to a node of their own file. */
	put_file(dir, "late", S "include \"sub_two\"\n[2] \"t\"[2]\n");
	assert_int_equal(read_path(dir, "late", &h, &f), -EINVAL);
	assert_non_null(strstr(h.error, "/late:3: \"[2]\": expected a Switch"));

	put_file(dir, "self", "include \"self\"\n");
	assert_int_equal(read_path(dir, "self", &h, &f), -EINVAL);
	assert_non_null(strstr(h.error, "/self:1: "));
	assert_non_null(strstr(h.error, "expected a file that does not"));
	put_file(dir, "loop", "\ninclude \"sub_one\"\n");
	put_file(dir, "sub_one", "\n\n\ninclude \"loop\"\n");
	assert_int_equal(read_path(dir, "loop", &h, &f), -EINVAL);
	assert_non_null(strstr(h.error, "/sub_one:4: "));
	/* Twice is not a cycle, a thousand times is an attack. */
	put_file(dir, "sub_one", "# nothing\n");
	put_file(dir, "loop", "include \"sub_one\"\ninclude \"sub_one\"\n");
	assert_int_equal(read_path(dir, "loop", &h, &f), 0);
	dl_fabric_free(f);
	*text = '\0';
	put_file(dir, "deep", "");
	snprintf(path, sizeof(path), "%s/deep", dir);
	f = NULL;
	{
		FILE *to = fopen(path, "w");

		assert_non_null(to);
		for (i = 0; i < 1100; i++)
			fputs("include \"sub_one\"\n", to);
		fclose(to);
	}
	assert_int_equal(read_path(dir, "deep", &h, &f), -EINVAL);
	assert_non_null(strstr(h.error, "/deep:1025: one include too many"));

	/* Nothing but plain files beside it: no other directory, no link, no pipe. */
	put_file(dir, "late", "include \"/etc/passwd\"\n");
	assert_int_equal(read_path(dir, "late", &h, &f), -EINVAL);
	assert_non_null(strstr(h.error, "\"/etc/passwd\": expected a file beside this one"));
	put_file(dir, "late", "include \"../../etc/passwd\"\n");
	assert_int_equal(read_path(dir, "late", &h, &f), -EINVAL);
	assert_non_null(strstr(h.error, "expected a file beside this one"));
	snprintf(path, sizeof(path), "%s/link", dir);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	put_file(dir, "late", "include \"link\"\n");
	assert_int_equal(read_path(dir, "late", &h, &f), -EINVAL);
	assert_non_null(strstr(h.error, "link\": expected a plain file"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(read_path(dir, "late", &h, &f), -EINVAL);
	assert_non_null(strstr(h.error, "link\": expected a plain file"));
	assert_int_equal(unlink(path), 0);
	put_file(dir, "late", "include \"no such file\"\n");
	assert_int_equal(read_path(dir, "late", &h, &f), -EINVAL);
	assert_non_null(strstr(h.error, "no such file\": No such file"));
	/* Nor those, unless that was asked for. */
	snprintf(path, sizeof(path), "%s/loop", dir);
	assert_int_equal(dl_fabric_read_netlist(path, &h.log, &f), -EINVAL);
	assert_non_null(strstr(h.error, "/loop:1: include: expected none"));

	assert_int_equal(read_path(dir, "none", &h, &f), -ENOENT);
	assert_int_equal(h.errors, 1);
	assert_true(read_path(dir, "sub", &h, &f) < 0);
	assert_int_equal(h.errors, 1);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		assert_int_equal(remove(path), 0);
	}
	assert_int_equal(rmdir(dir), 0);
}

/* Sixteen files deep is the end, however different they are. */
static void test_depth(void **state)
{
	char dir[] = "test-netlist-XXXXXX", name[20], text[40];
	struct dl_fabric *f;
	struct heard h;
	unsigned int i;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (i = 0; i < 17; i++) {
		snprintf(name, sizeof(name), "%u", i);
		snprintf(text, sizeof(text), "include \"%u\"\n", i + 1);
		put_file(dir, name, i < 16 ? text : "");
	}
	assert_int_equal(read_path(dir, "1", &h, &f), 0);
	dl_fabric_free(f);
	assert_int_equal(read_path(dir, "0", &h, &f), -EINVAL);
	assert_non_null(strstr(h.error, "/15:1: one include too many"));
	for (i = 0; i < 17; i++) {
		snprintf(text, sizeof(text), "%s/%u", dir, i);
		assert_int_equal(remove(text), 0);
	}
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump),	cmocka_unit_test(test_names),
		cmocka_unit_test(test_forms),	cmocka_unit_test(test_guids),
		cmocka_unit_test(test_speeds),	cmocka_unit_test(test_vls),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_costs),	cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_files),	cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

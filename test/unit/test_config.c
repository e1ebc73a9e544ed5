/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reader and writer of torus-2QoS.conf: a table of good and of damaged files,
 * random files written by a second, careless hand, and random damage.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grid_fabric.h"

/* ---- reading from memory, with what is said about it ------------------- */

struct record {
	char text[8192]; /* all warnings and errors, a line each */
	unsigned int errors, warnings;
};

static void keep(void *context, enum dl_log_level level, const char *message)
{
	struct record *r = context;
	size_t len = strlen(r->text);

	if (level > DL_LOG_WARNING)
		return;
	r->errors += level == DL_LOG_ERROR;
	r->warnings += level == DL_LOG_WARNING;
	snprintf(r->text + len, sizeof(r->text) - len, "%s %s\n",
		 level == DL_LOG_ERROR ? "error" : "warning", message);
}

static int read_bytes(const char *bytes, size_t len, struct record *r, struct dl_torus_config **out)
{
	struct dl_log log = { .write = keep, .context = r };
	FILE *from = fmemopen((void *)bytes, len, "r");
	int err;

	memset(r, 0, sizeof(*r));
	*out = NULL;
	assert_non_null(from);
	err = dl_torus_config_read_stream(from, "t.conf", &log, out);
	fclose(from);
	return err;
}

static int read_text(const char *text, struct record *r, struct dl_torus_config **out)
{
	/* fmemopen() refuses an empty buffer. */
	return text[0] ? read_bytes(text, strlen(text), r, out) : read_bytes("\n", 1, r, out);
}

/* What the writer makes of it, without comments; lines joined by '|'. */
static char *canonical(const struct dl_torus_config *c)
{
	char *text = NULL, *short_text;
	size_t len, n = 0;
	FILE *to = open_memstream(&text, &len);

	assert_int_equal(dl_torus_config_write(c, to), 0);
	fclose(to);
	short_text = calloc(1, len + 2);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		size_t words = strcspn(line, "#");

		while (words && strchr(" \t", line[words - 1]))
			words--;
		if (!words)
			continue;
		if (n)
			short_text[n++] = '|';
		memcpy(short_text + n, line, words);
		n += words;
	}
	free(text);
	return short_text;
}

/* ---- good files -------------------------------------------------------- */

#define XY "xp_link 0x10 0x11\nyp_link 0x10 0x12\n"
#define T "torus 6 5 1\n"
#define READ_T "torus 6 5 1|xp_link 0x10 0x11|yp_link 0x10 0x12"
#define READ_REST "|portgroup_max_ports 16|max_changes 32"
#define READ_TXY READ_T READ_REST

static const struct good {
	const char *text;
	const char *read;    /* by canonical() */
	const char *warning; /* part of the only one; NULL: none */
} good[] = {
	{ T XY, READ_TXY, NULL },
	/* no seed: the coordinates come from the cabling */
	{ "mesh 4 4 4", "mesh 4 4 4" READ_REST, NULL },
	{ "torus 1 1 1", "torus 1 1 1" READ_REST, NULL },
	{ "torus 1 1 1\n" XY, "torus 1 1 1" READ_REST, NULL },
	/* blanks, comments, ends of lines */
	{ "\n# c\n \t# c\n\t torus\t6  5 1 \n" XY, READ_TXY, NULL },
	{ "torus 6 5 1\r\n\r\n#\r\nxp_link 0x10 0x11\r\nyp_link 0x10 0x12\r\n", READ_TXY, NULL },
	{ T "xp_link 0x10 0x11\nyp_link 0x10 0x12", READ_TXY, NULL },
	{ "torus 6 5 1 more words\nxp_link 0x10 0x11 # to\n"
	  "yp_link 0x10 0x12#to\n",
	  READ_TXY, NULL },
	/* order of lines */
	{ XY T, READ_TXY, NULL },
	{ "x_dateline 1\n" T XY, READ_T "|x_dateline 1" READ_REST, NULL },
	{ T "next_seed\n" XY, READ_TXY, NULL },
	{ "next_seed\n" T XY, READ_TXY, NULL },
	/* suffixes */
	{ "mesh 3T 5 7\nxp_link 1 2\nyp_link 1 3\nzp_link 1 4\n",
	  "mesh 3t 5 7|xp_link 0x1 0x2|yp_link 0x1 0x3|zp_link 0x1 "
	  "0x4" READ_REST,
	  NULL },
	{ "torus 3 5M 7m\nxp_link 1 2\nyp_link 1 3\nzp_link 1 4\n",
	  "mesh 3t 5 7|xp_link 0x1 0x2|yp_link 0x1 0x3|zp_link 0x1 "
	  "0x4" READ_REST,
	  NULL },
	{ "mesh 3t 5t 7\nxp_link 1 2\nyp_link 1 3\nzp_link 1 4\n",
	  "torus 3 5 7m|xp_link 0x1 0x2|yp_link 0x1 0x3|zp_link 0x1 "
	  "0x4" READ_REST,
	  NULL },
	{ "torus 1 5m 1t\nyp_link 1 3\n", "mesh 1t 5 1t|yp_link 0x1 0x3" READ_REST, NULL },
	/* numbers: decimal, octal, hexadecimal, signs */
	{ "torus 0x6 +5 01\nxp_link 16 17\nyp_link 020 022\n", READ_TXY, NULL },
	{ T "xp_link 0xFFFFFFFFFFFFFFFE 18446744073709551615\n"
	    "yp_link 0xfffffffffffffffe 1\n",
	  "torus 6 5 1|xp_link 0xfffffffffffffffe 0xffffffffffffffff|"
	  "yp_link 0xfffffffffffffffe 0x1" READ_REST,
	  NULL },
	{ T XY "x_dateline +5\ny_dateline -4\nz_dateline 0\n",
	  READ_T "|x_dateline 5|y_dateline -4|z_dateline 0" READ_REST, NULL },
	/* both ways */
	{ "torus 4 2 1\nxp_link 1 2\nxm_link 1 3\nyp_link 1 4\nym_link 1 4\n",
	  "torus 4 2 1|xp_link 0x1 0x2|xm_link 0x1 0x3|yp_link 0x1 0x4|"
	  "ym_link 0x1 0x4" READ_REST,
	  NULL },
	{ T "xm_link 1 2\nym_link 1 3\n", "torus 6 5 1|xm_link 0x1 0x2|ym_link 0x1 0x3" READ_REST,
	  NULL },
	{ "mesh 4 5 1\n" XY, "mesh 4 5 1|xp_link 0x10 0x11|yp_link 0x10 0x12" READ_REST, NULL },
	/* several seeds */
	{ T XY "next_seed\nyp_link 7 8\nxm_link 7 9\ny_dateline 2\n",
	  READ_T "|next_seed|xm_link 0x7 0x9|yp_link 0x7 0x8|y_dateline 2" READ_REST, NULL },
	/* the rest */
	{ T XY "portgroup_max_ports 17\nmax_changes 0\n"
	       "port_order 3 1 2 3 0\n",
	  READ_T "|portgroup_max_ports 17|max_changes 0|port_order 3 1 2 0", NULL },
	{ T XY "ties balanced# comment\n", READ_TXY "|ties balanced", NULL },
	{ T XY "ties balanced\nties torus-2QoS all\n", READ_TXY, NULL },
	{ T XY "portgroup_max_ports 4\nportgroup_max_ports 8\n",
	  READ_T "|portgroup_max_ports 8|max_changes 32", NULL },
	{ T XY "port_order 7 8 # why\n", READ_TXY "|port_order 7 8", NULL },
	{ T XY "port_order 7 8#why\n", READ_TXY "|port_order 7 8", NULL },
	{ T XY "port_order 1 2\nport_order 254\n", READ_TXY "|port_order 254", NULL },
	{ T XY "port_order 1\nport_order\n", READ_TXY, NULL },
	/* an absent dimension's links lead nowhere, and harm nobody */
	{ T XY "zp_link 0x99 0x10\n", READ_TXY, NULL },
	/* what deserves a warning */
	{ T "xp_link 0x10 0x99\n" XY, READ_TXY,
	  "t.conf:3: xp_link: this replaces line 2 of the same seed" },
	{ T XY "x_dateline 1\nx_dateline 2\n", READ_T "|x_dateline 2" READ_REST,
	  "t.conf:5: x_dateline: this replaces line 4" },
	{ T XY "xp_link 0x10 0x11\n", READ_TXY, NULL },
	{ "torus 6q 5 1\n" XY, READ_TXY, "t.conf:1: torus: the end of \"6q\"" },
	{ "torus 6tx 5 1\n" XY, READ_TXY, "t.conf:1: torus: the end of" },
	{ "torus 6.5 5 1\n" XY, READ_TXY, "\"6.5\" is no suffix" },
	{ T "xp_link 0x10z 0x11\nyp_link 0x10 0x12\n", READ_TXY,
	  "t.conf:2: xp_link: \"0x10z\": only the number" },
	{ T XY "port_order 7,8\n", READ_TXY "|port_order 7",
	  "t.conf:4: port_order: \"7,8\": only the number" },
	{ "torus 4 5 1\n" XY, "torus 4 5 1|xp_link 0x10 0x11|yp_link 0x10 0x12" READ_REST,
	  "t.conf:2: the seed that begins here has no xm_link" },
	{ "torus 5 4 1\nxp_link 1 2\nym_link 1 3\n",
	  "torus 5 4 1|xp_link 0x1 0x2|ym_link 0x1 0x3" READ_REST, "has no yp_link: with radix 4" },
	{ T XY "next_seed\nxp_link 0 0\nyp_link 0 0\n", READ_TXY,
	  "t.conf:5: xp_link: expected the GUIDs of two switches, found 0; "
	  "this seed is left out" },
};

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct dl_torus_config *c;
		struct record r;
		int err = read_text(good[i].text, &r, &c);
		char *read;

		if (err)
			fail_msg("%s in:\n%s", r.text, good[i].text);
		read = canonical(c);
		assert_string_equal(read, good[i].read);
		assert_string_equal(c->path, "t.conf");
		for (uint32_t n = 0; n < c->nseeds; n++)
			assert_true(c->seeds[n].from != 0);
		if (good[i].warning && !strstr(r.text, good[i].warning))
			fail_msg("no \"%s\" in:\n%s", good[i].warning, r.text);
		if (r.warnings != !!good[i].warning)
			fail_msg("%u warnings:\n%s\n%s", r.warnings, good[i].text, r.text);
		free(read);
		dl_torus_config_free(c);
	}
}

/* ---- damaged files ----------------------------------------------------- */

static const struct bad {
	const char *text;
	const char *errors[3]; /* parts of all of them, in order */
} bad[] = {
	{ "",
	  { "t.conf:1: expected a line \"torus X Y Z\" or \"mesh X Y Z\", "
	    "found the end of the file" } },
	{ XY, { "t.conf:2: expected a line \"torus X Y Z\"" } },
	{ T XY "foo 1 2\n",
	  { "t.conf:4: \"foo\" is no keyword; expected "
	    "torus, mesh" } },
	{ "TORUS 6 5 1\n", { "t.conf:1: \"TORUS\" is no keyword" } },
	{ "xq_link\n\n\002bar" T, { "t.conf:1: \"xq_link\"", "t.conf:3: \"?bartorus\" is no" } },
	/* geometry */
	{ T T XY, { "t.conf:2: torus: the geometry was given in line 1" } },
	{ T "mesh 6 5 1\n" XY, { "t.conf:2: mesh: the geometry was given" } },
	{ "torus 6 5\n" XY,
	  { "t.conf:1: torus: expected the radix of z, a "
	    "number from 1 to 255 with or without m or t, "
	    "found the end of the line" } },
	{ "torus\n", { "t.conf:1: torus: expected the radix of x" } },
	{ "torus 6 x 1\n",
	  { "the radix of y, a number from 1 to 255 with or "
	    "without m or t, found \"x\"" } },
	{ "torus 6 m5 1\n", { "found \"m5\"" } },
	{ "torus 6 5 0\n",
	  {
		  "the radix of z",
	  } },
	{ "torus -6 5 1\n", { "found \"-6\"" } },
	{ "torus 256 5 1\n", { "found \"256\"" } },
	{ "torus 99999999999999999999 5 1\n", { "found \"99999999999999999999\"" } },
	{ "torus 64 32 24\n",
	  { "t.conf:1: torus: expected at most 49151 "
	    "switches, the LIDs of a subnet, found "
	    "64 x 32 x 24 = 49152" } },
	/* links */
	{ T "xp_link\n",
	  { "t.conf:2: xp_link: expected two switch GUIDs, such "
	    "as 0x2000 0x2001, found the end of the line" } },
	{ T "xp_link 0x10\n", { "xp_link: expected two switch GUIDs" } },
	{ T "xp_link 0x10 #0x11\n", { "found \"#0x11\"" } },
	{ T "ym_link abc 0x11\n",
	  { "t.conf:2: ym_link: expected two switch "
	    "GUIDs, such as 0x2000 0x2001, found "
	    "\"abc\"" } },
	{ T "xp_link 0x10 0x11111111111111111\n", { "found \"0x11111111111111111\"" } },
	{ T "xp_link -1 2\n", { "found \"-1\"" } },
	{ T "xp_link 0 0x11\nyp_link 0 0x12\n",
	  { "t.conf:2: xp_link: expected the GUIDs of two switches, found "
	    "0" } },
	{ T "xp_link 0x10 0\nyp_link 0x10 0x12\n",
	  { "t.conf:2: xp_link: expected the GUIDs of two switches, found "
	    "0" } },
	{ T "xp_link 0x10 0x11\nyp_link 0x11 0x12\n",
	  { "t.conf:3: yp_link: expected the link to start at 0x10 like "
	    "xp_link in line 2, found 0x11" } },
	{ T XY "xm_link 0x12 0x10\n", { "t.conf:4: xm_link: expected the link to start at 0x10" } },
	{ T "xp_link 0x10 0x10\nyp_link 0x10 0x12\n",
	  { "t.conf:2: xp_link: expected two different switches, found 0x10 "
	    "twice" } },
	{ T XY "xm_link 0x10 0x11\n",
	  { "t.conf:4: xm_link: 0x11 is the neighbour by xp_link in line 2 "
	    "already" } },
	{ "torus 2 5 1\nxp_link 1 2\nyp_link 1 2\n",
	  { "t.conf:3: yp_link: 0x2 is the neighbour by xp_link in line 2" } },
	/* seeds */
	{ T "xp_link 0x10 0x11\n",
	  { "t.conf:2: the seed that begins here has no yp_link and no "
	    "ym_link; expected one of them, since y has radix 5" } },
	{ T XY "next_seed\n",
	  { "t.conf:4: next_seed: expected links of "
	    "another seed to follow, found none" } },
	{ T XY "next_seed\nnext_seed\n" XY, { "t.conf:4: next_seed:" } },
	{ T "next_seed\nnext_seed\n" XY, { "t.conf:2: next_seed:" } },
	{ T XY "next_seed\nx_dateline 1\n",
	  { "t.conf:4: the seed that begins here has no xp_link",
	    "t.conf:4: the seed that begins here has no yp_link" } },
	{ T "x_dateline 1\nnext_seed\n" XY,
	  { "t.conf:2: the seed that begins here has no xp_link",
	    "t.conf:2: the seed that begins here has no yp_link" } },
	/* datelines */
	{ T XY "x_dateline\n",
	  { "t.conf:4: x_dateline: expected a position "
	    "relative to the seed's switch, found the end "
	    "of the line" } },
	{ T XY "x_dateline abc\n", { "found \"abc\"" } },
	{ T XY "x_dateline -\n", { "found \"-\"" } },
	{ T XY "x_dateline 99999999999\n", { "found \"99999999999\"" } },
	{ T XY "x_dateline 6\ny_dateline -5\n",
	  { "t.conf:4: x_dateline: expected a position from -5 to 5, since x "
	    "has radix 6, found 6",
	    "t.conf:5: y_dateline: expected a position from -4 to 4" } },
	{ T XY "z_dateline 1\n", { "from 0 to 0, since z has radix 1" } },
	{ T XY "x_dateline -2147483648\n", { "found \"-2147483648\"" } },
	/* the rest */
	{ T XY "portgroup_max_ports\n",
	  { "t.conf:4: portgroup_max_ports: "
	    "expected a number of ports" } },
	{ T XY "portgroup_max_ports x\n", { "found \"x\"" } },
	{ T XY "max_changes\n", { "t.conf:4: max_changes: expected" } },
	{ T XY "max_changes -1\n", { "found \"-1\"" } },
	{ T XY "max_changes 4294967296\n", { "found \"4294967296\"" } },
	{ T XY "ties\n", { "t.conf:4: ties: expected balanced or torus-2QoS, found" } },
	{ T XY "ties balance\n", { "found \"balance\"" } },
	{ T XY "port_order 1 255 2\n",
	  { "t.conf:4: port_order: expected port numbers from 0 to 254, found "
	    "\"255\"" } },
	{ T XY "port_order 1 a 2\n", { "found \"a\"" } },
	/* a token too long for a message */
	{ "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\n",
	  { "t.conf:1: \"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz...\" "
	    "is" } },
	/* several mistakes, one run */
	{ "torus 6 5 x\nxp_link 1\nfoo\n", { "t.conf:1: ", "t.conf:2: ", "t.conf:3: " } },
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct dl_torus_config *c;
		struct record r;
		const char *at = r.text;
		unsigned int n;

		assert_int_equal(read_text(bad[i].text, &r, &c), -EINVAL);
		assert_null(c);
		for (n = 0; n < 3 && bad[i].errors[n]; n++) {
			at = strstr(at, bad[i].errors[n]);
			if (!at)
				fail_msg("no \"%s\" for\n%s\nbut\n%s", bad[i].errors[n],
					 bad[i].text, r.text);
		}
		if (n != r.errors)
			fail_msg("%u errors for\n%s\n%s", r.errors, bad[i].text, r.text);
	}
}

static void test_nul(void **state)
{
	static const char text[] = T "xp_link 0x10 0x11 # \0\nyp_link 0x10 0x12";
	struct dl_torus_config *c;
	struct record r;

	(void)state;
	assert_int_equal(read_bytes(text, sizeof(text) - 1, &r, &c), -EINVAL);
	assert_string_equal(r.text, "error t.conf:2: a byte 0: expected text\n");
}

/* A file of nothing but mistakes does not flood the log. */
static void test_many_errors(void **state)
{
	char text[4096];
	struct dl_torus_config *c;
	struct record r;

	(void)state;
	memset(text, '\n', sizeof(text));
	for (size_t i = 0; i < sizeof(text); i += 2)
		text[i] = '?';
	assert_int_equal(read_bytes(text, sizeof(text), &r, &c), -EINVAL);
	assert_int_equal(r.errors, 21);
	assert_non_null(strstr(r.text, "t.conf:20: "));
	assert_non_null(strstr(r.text, "t.conf: too many errors"));
}

static void test_long_line(void **state)
{
	const size_t len = 3000000;
	char *text = malloc(len);
	struct dl_torus_config *c;
	struct record r;

	(void)state;
	memset(text, 'y', len);
	memcpy(text, T XY "xp_link 0x10 0x11 ", strlen(T XY) + 18);
	memcpy(text + len - 12, "\nmax_changes", 12);
	assert_int_equal(read_bytes(text, len, &r, &c), -EINVAL);
	assert_non_null(strstr(r.text, "t.conf:5: max_changes: expected"));
	free(text);
}

static void test_files(void **state)
{
	struct dl_torus_config *c = NULL;
	struct record r = { 0 };
	struct dl_log log = { .write = keep, .context = &r };

	(void)state;
	assert_int_equal(dl_torus_config_read("/nonexistent/t.conf", &log, &c), -ENOENT);
	assert_non_null(strstr(r.text, "/nonexistent/t.conf: cannot be opened: "
				       "No such file"));
	assert_int_equal(dl_torus_config_read("/", &log, &c), -EISDIR);
	assert_non_null(strstr(r.text, "cannot read /: Is a directory"));
	assert_null(c);
	dl_torus_config_free(NULL);
}

static void test_write_error(void **state)
{
	struct dl_torus_config *c;
	struct record r;
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	if (!full)
		skip();
	assert_int_equal(read_text(T XY, &r, &c), 0);
	assert_int_equal(dl_torus_config_write(c, full), -EIO);
	fclose(full);
	dl_torus_config_free(c);
}

/* ---- random files ------------------------------------------------------ */

/* A configuration without fault. */
static void draw_config(struct test_random *rnd, struct dl_torus_config *c)
{
	do {
		for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
			c->grid.radix[d] = 1 + test_random(rnd, 40);
			c->grid.mesh[d] = test_random(rnd, 2);
		}
	} while (dl_torus_grid_sites(&c->grid) > DL_FABRIC_MAX_LID ||
		 dl_torus_grid_sites(&c->grid) < 2);
	c->nseeds = test_random(rnd, 4);
	c->seeds = calloc(c->nseeds + 1, sizeof(*c->seeds));
	for (uint32_t i = 0; i < c->nseeds; i++) {
		struct dl_torus_seed *s = &c->seeds[i];

		s->from = 1 + test_random(rnd, UINT32_MAX);
		for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
			uint32_t radix = c->grid.radix[d];
			uint32_t which = test_random(rnd, 3);

			s->has_dateline[d] = test_random(rnd, 2);
			if (s->has_dateline[d])
				s->dateline[d] =
					(int)test_random(rnd, 2 * radix - 1) - (int)radix + 1;
			for (unsigned int k = 0; radix > 1 && k < 2; k++)
				if (which != k || radix == 4)
					s->to[2 * d + k] = (s->from << 8) + 2 * d + k;
		}
	}
	c->max_changes = test_random(rnd, 100);
	c->portgroup_max_ports = test_random(rnd, 300);
	c->balanced_ties = test_random(rnd, 2);
	for (uint32_t n = test_random(rnd, 2) * test_random(rnd, 300); n; n--) {
		uint8_t port = test_random(rnd, DL_FABRIC_MAX_PORTS + 1);
		bool twice = false;

		for (uint32_t k = 0; k < c->nport_order; k++)
			twice |= c->port_order[k] == port;
		if (!twice)
			c->port_order[c->nport_order++] = port;
	}
}

static const char *end_of_line(struct test_random *rnd)
{
	static const char *const ends[] = { "\n",	   "\r\n",
					    " \n",	   "\n\n",
					    " trailing\n", "\t# note\n",
					    "#\n",	   "\n # torus 1 2 3\n",
					    "\n\t\r\n" };

	return ends[test_random(rnd, sizeof(ends) / sizeof(ends[0]))];
}

/* The same configuration as a careless hand writes it. */
static char *scribble(struct test_random *rnd, const struct dl_torus_config *c)
{
	static const char *const bases[] = { "%" PRIu64, "0x%" PRIx64, "0%" PRIo64, "+%" PRIu64,
					     "0X%" PRIX64 };
	bool mesh = test_random(rnd, 2), geometry_last = test_random(rnd, 2);
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	for (int pass = 0; pass < 2; pass++) {
		if (pass == geometry_last) {
			fputs(mesh ? " mesh" : "torus", to);
			for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
				fprintf(to, "\t%u%s", c->grid.radix[d],
					c->grid.mesh[d] != mesh ? (mesh ? "T" : "m") :
					test_random(rnd, 2)	? (mesh ? "M" : "t") :
								  "");
			fputs(end_of_line(rnd), to);
			continue;
		}
		for (uint32_t i = 0; i < c->nseeds; i++) {
			const struct dl_torus_seed *s = &c->seeds[i];
			uint32_t first = test_random(rnd, 9);

			if (i || test_random(rnd, 2))
				fprintf(to, "next_seed %s", end_of_line(rnd));
			for (uint32_t k = first; k < first + 9; k++) {
				uint32_t what = k % 9;

				if (what >= DL_TORUS_DIRS && s->has_dateline[what - DL_TORUS_DIRS])
					fprintf(to, "%c_dateline %d%s", "xyz"[what - DL_TORUS_DIRS],
						s -> dateline[what - DL_TORUS_DIRS],
						end_of_line(rnd));
				if (what >= DL_TORUS_DIRS || !s->to[what])
					continue;
				fprintf(to, "%c%c_link ", "xyz"[what / 2], "pm"[what % 2]);
				fprintf(to, bases[test_random(rnd, 5)], s->from);
				fputs("\t", to);
				fprintf(to, bases[test_random(rnd, 5)], s->to[what]);
				fputs(end_of_line(rnd), to);
			}
		}
	}
	fprintf(to,
		"portgroup_max_ports 3\nmax_changes %u%s"
		"portgroup_max_ports %u%s",
		c->max_changes, end_of_line(rnd), c->portgroup_max_ports, end_of_line(rnd));
	if (c->balanced_ties)
		fprintf(to, "ties balanced%s", end_of_line(rnd));
	if (c->nport_order)
		fputs("port_order 9 8 7\n  port_order", to);
	for (uint32_t i = 0; i < c->nport_order; i++)
		fprintf(to, " %u\t%u", c->port_order[i], c->port_order[test_random(rnd, i + 1)]);
	fclose(to);
	return text;
}

static void assert_same(const struct dl_torus_config *a, const struct dl_torus_config *b)
{
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		assert_int_equal(a->grid.radix[d], b->grid.radix[d]);
		assert_int_equal(a->grid.mesh[d], b->grid.mesh[d]);
	}
	assert_int_equal(a->nseeds, b->nseeds);
	for (uint32_t i = 0; i < a->nseeds; i++) {
		const struct dl_torus_seed *s = &a->seeds[i], *t = &b->seeds[i];

		for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++)
			assert_int_equal(s->to[dir], t->to[dir]);
		assert_int_equal(s->from, t->from);
		for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
			assert_int_equal(s->has_dateline[d], t->has_dateline[d]);
			assert_int_equal(s->dateline[d], t->dateline[d]);
		}
	}
	assert_int_equal(a->max_changes, b->max_changes);
	assert_int_equal(a->portgroup_max_ports, b->portgroup_max_ports);
	assert_int_equal(a->nport_order, b->nport_order);
	assert_memory_equal(a->port_order, b->port_order, a->nport_order);
}

static void test_round_trips(void **state)
{
	struct test_random rnd = { .seed = test_seed(1) };

	(void)state;
	for (unsigned int i = 0; i < 500; i++) {
		struct dl_torus_config drawn = { 0 };
		struct dl_torus_config *c, *again;
		char *text, *clean = NULL;
		struct record r;
		size_t len;
		FILE *to;

		draw_config(&rnd, &drawn);
		text = scribble(&rnd, &drawn);
		if (read_text(text, &r, &c))
			fail_msg("%s in:\n%s", r.text, text);
		assert_int_equal(r.warnings, 0);
		assert_same(&drawn, c);
		to = open_memstream(&clean, &len);
		assert_int_equal(dl_torus_config_write(c, to), 0);
		fclose(to);
		if (read_text(clean, &r, &again))
			fail_msg("%s in:\n%s", r.text, clean);
		assert_int_equal(r.warnings, 0);
		assert_same(&drawn, again);
		dl_torus_config_free(c);
		dl_torus_config_free(again);
		free(drawn.seeds);
		free(text);
		free(clean);
	}
}

/* Damage by chance: read without fault, or refused with a line number. */
static void test_damage(void **state)
{
	struct test_random rnd = { .seed = test_seed(2) };
	unsigned int refused = 0;

	(void)state;
	for (unsigned int i = 0; i < 2000; i++) {
		struct dl_torus_config drawn = { 0 };
		struct dl_torus_config *c;
		struct record r;
		char *text;
		size_t len;
		int err;

		draw_config(&rnd, &drawn);
		text = scribble(&rnd, &drawn);
		len = strlen(text);
		for (uint32_t n = 1 + test_random(&rnd, 4); n; n--)
			text[test_random(&rnd, len)] = test_random(&rnd, 256);
		err = read_bytes(text, len, &r, &c);
		if (err) {
			assert_int_equal(err, -EINVAL);
			assert_true(r.errors > 0);
			assert_non_null(strstr(r.text, "error t.conf:"));
			refused++;
		} else {
			assert_int_equal(r.errors, 0);
			dl_torus_config_free(c);
		}
		free(drawn.seeds);
		free(text);
	}
	assert_in_range(refused, 500, 1999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	    cmocka_unit_test(test_bad),
		cmocka_unit_test(test_nul),	    cmocka_unit_test(test_many_errors),
		cmocka_unit_test(test_long_line),   cmocka_unit_test(test_files),
		cmocka_unit_test(test_write_error), cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

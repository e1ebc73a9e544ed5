/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Congestion control of a running fabric: which devices are asked, and what is made of
 * what they answer.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include "dateline/live.h"
#include "fake_umad.h"
#include "random.h"

#define MOST 1024 /* LIDs */
#define KEY UINT64_C(0x8000000000001234)
#define SILENT (-1)

/* By LID: what a device answers. */
struct device {
	int status; /* or SILENT */
	unsigned int threshold, rate, timer, increase, limit, factor;
	bool victims;
	unsigned int sls; /* of an adapter, that have these settings; the others: */
	unsigned int other_timer, other_increase;
	int table_status;
};

static struct {
	struct dl_fabric *f;
	struct device devices[MOST];
	unsigned int asked[MOST];
	char messages[8192];
} net;

/* ---- what devices answer ------------------------------------------------------ */

static void put16(uint8_t *to, unsigned int value)
{
	to[0] = value >> 8;
	to[1] = value;
}

/* The layouts of annex A10, 4.3. */
static void answer(uint8_t *mad, const struct device *d, bool is_switch)
{
	unsigned int attr = mad[16] << 8 | mad[17];
	uint8_t *data = mad + 64;

	memset(data, 0, 192);
	mad[3] = 0x81;
	put16(mad + 4, d->status);
	assert_int_equal(attr == 0x14, is_switch);
	if (attr == 0x14) {
		data[4 + 30] = d->victims ? 2 : 0;
		data[68] = d->threshold << 4;
		data[69] = 8;
		put16(data + 74, d->rate);
	} else if (attr == 0x16) {
		for (unsigned int sl = 0; sl < 16; sl++) {
			put16(data + 4 + 8 * sl, sl < d->sls ? d->timer : d->other_timer);
			data[6 + 8 * sl] = sl < d->sls ? d->increase : d->other_increase;
			data[7 + 8 * sl] = 100 + sl; /* Trigger_Threshold */
		}
	} else {
		assert_int_equal(attr, 0x17);
		put16(mad + 4, d->table_status);
		put16(data, d->limit);
		for (unsigned int i = 0; i < 64; i++) {
			unsigned int index = mad[23] * 64 + i;

			/* Behind the limit is anything. */
			put16(data + 4 + 2 * i, index > d->limit ?
							d - net.devices :
							index * d->factor | (index % 4) << 14);
		}
	}
}

int umad_send(int id, int agent, void *umad, int len, int timeout, int retries)
{
	const struct ib_user_mad *u = umad;
	const uint8_t *mad = umad_get_mad(umad);
	unsigned int lid = ntohs(u->addr.lid);
	uint64_t key;

	(void)id, (void)len, (void)timeout, (void)retries;
	memcpy(&key, mad + 24, sizeof(key));
	assert_true(be64toh(key) == KEY && agent == IB_CC_CLASS && lid < MOST);
	assert_true(mad[1] == 0x21 && mad[2] == 2 && mad[3] == 1 && ntohl(u->addr.qpn) == 1);
	net.asked[lid]++;
	if (net.devices[lid].status == SILENT)
		return 0;
	assert_true(fake_umad.nwaiting < FAKE_UMAD_MOST);
	memcpy(fake_umad.waiting[fake_umad.nwaiting], mad, IB_MAD_SIZE);
	answer(fake_umad.waiting[fake_umad.nwaiting++], &net.devices[lid],
	       dl_fabric_is_switch(net.f, net.f->ports[net.f->lid_port[lid]].node));
	return 0;
}

/* ---- a fabric ------------------------------------------------------------------- */

/* A row of so many switches with an adapter each; LIDs of switches come first. */
static void build_row(uint32_t n)
{
	uint32_t node;

	memset(&net, 0, sizeof(net));
	fake_umad.nwaiting = fake_umad.ms = 0;
	assert_int_equal(dl_fabric_new(&net.f), 0);
	for (uint32_t i = 0; i < 2 * n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%c%u", i < n ? 's' : 'h', i % n);
		assert_int_equal(dl_fabric_add_node(net.f, i < n ? DL_FABRIC_SWITCH : DL_FABRIC_CA,
						    i < n ? 3 : 1, 0x1000 + i, name, &node),
				 0);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct dl_fabric_node *s = &net.f->nodes[i];

		assert_int_equal(dl_fabric_connect(net.f, s->first_port + 1,
						   net.f->nodes[n + i].first_port + 1),
				 0);
		if (i + 1 < n)
			assert_int_equal(dl_fabric_connect(net.f, s->first_port + 2,
							   s[1].first_port + 3),
					 0);
	}
	assert_int_equal(dl_fabric_finish(net.f, NULL), 0);
	assert_int_equal(dl_fabric_assign_lids(net.f, 0), 0);
	for (uint32_t lid = 0; lid < MOST; lid++)
		net.devices[lid] = (struct device){ .threshold = 12,
						    .rate = 300,
						    .timer = 1000,
						    .increase = 1,
						    .limit = 2,
						    .factor = 3,
						    .victims = true,
						    .sls = 16 };
}

static struct device *device_of(bool is_switch, uint32_t i)
{
	const struct dl_fabric_node *n = &net.f->nodes[is_switch ? i : net.f->nnodes / 2 + i];

	return &net.devices[net.f->ports[n->first_port + !is_switch].lid];
}

static void hear(void *context, enum dl_log_level level, const char *message)
{
	(void)context;
	dl_text_append(net.messages, sizeof(net.messages), "%s%s\n",
		       level == DL_LOG_WARNING ? "warning: " : "", message);
}

/* What is written, for free(). */
static char *survey(uint32_t in_flight, int expected)
{
	const struct dl_log log = { .write = hear };
	struct dl_live_options o;
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	dl_live_options_init(&o);
	o.cc_key = KEY;
	o.in_flight = in_flight;
	fake_umad.on = true;
	assert_int_equal(dl_live_congestion(&o, net.f, &log, to), expected);
	fake_umad.on = false;
	fclose(to);
	return text;
}

static void survey_end(char *text)
{
	free(text);
	dl_fabric_free(net.f);
}

static void assert_says(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("expected \"%s\" in:\n%s", what, text);
}

/* ---- what is asked ----------------------------------------------------------------- */

static unsigned int devices_asked(void)
{
	unsigned int n = 0;

	for (uint32_t lid = 0; lid < MOST; lid++)
		n += net.asked[lid] > 0;
	return n;
}

/* Nobody answers: it ends after two time-outs of five times half a second. */
static void test_silence(void **state)
{
	char *text;

	(void)state;
	build_row(300);
	for (uint32_t lid = 0; lid < MOST; lid++)
		net.devices[lid].status = SILENT;
	text = survey(64, 1);
	assert_says(text, "\ncongestion_control FALSE\n");
	assert_says(net.messages, "warning: congestion control: no device has answered");
	assert_says(net.messages, "not asked, as no other has answered: 2"); /* hundred */
	assert_true(devices_asked() <= 2 * 64 && fake_umad.ms <= 2 * 5 * 500);
	assert_null(strstr(text, "cc_"));
	survey_end(text);
}

/* One in nine answers, wherever they are: all are asked; and where no adapter does. */
static void test_few_answer(void **state)
{
	char *text;

	(void)state;
	for (unsigned int adapters = 0; adapters < 2; adapters++) {
		build_row(300);
		for (uint32_t i = 0; i < 300; i++) {
			device_of(true, i)->status = i % 9 ? SILENT : 0;
			device_of(false, i)->status = i % 9 || !adapters ? SILENT : 0;
		}
		text = survey(64, 1);
		for (uint32_t i = 0; i < 300; i++)
			assert_true(net.asked[device_of(true, i) - net.devices]);
		assert_int_equal(devices_asked() == 600, adapters);
		assert_says(net.messages, "no answer (not supported, or another CC_Key): 266 of "
					  "300 switches, such as \"s1\"\n");
		assert_says(text, adapters ? "# on in 34 of 300 switches and 34 of 300 adapter" :
					     "# on in 34 of 300 switches and 0 of 300 adapter");
		assert_int_equal(strstr(text, "cc_cct 0:0,1:3,2:6\n") != NULL, adapters);
		survey_end(text);
	}
}

/* One at a time: that the first ones are silent says nothing; nor that their half is. */
static void test_half_silent(void **state)
{
	char *text;

	(void)state;
	for (unsigned int half = 0; half < 2; half++) {
		build_row(half ? 300 : 20);
		for (uint32_t i = 0; i < (half ? 150 : 10); i++)
			device_of(true, i)->status = device_of(false, i)->status = SILENT;
		text = survey(half ? 64 : 1, 1);
		assert_int_equal(devices_asked(), half ? 600 : 40);
		survey_end(text);
	}
}

/* Ports without a LID or a cable are not asked. */
static void test_left_out(void **state)
{
	struct dl_fabric_port *ports;
	char *text;

	(void)state;
	build_row(4);
	ports = net.f->ports;
	ports[net.f->nodes[0].first_port].lid = 0;
	ports[net.f->nodes[5].first_port + 1].peer = DL_NONE;
	text = survey(64, 0);
	assert_says(text, "# on in 3 of 3 switches and 3 of 3 adapter ports\n");
	survey_end(text);
}

/* ---- what is made of it -------------------------------------------------------------- */

static void test_all_alike(void **state)
{
	char expected[2048] =
		"# on in 3 of 3 switches and 3 of 3 adapter ports\n"
		"# Not read: single ports of switches, Packet_Size, credit starvation, CCTI_Min.\n"
		"congestion_control TRUE\n"
		"cc_sw_cong_setting_threshold 0x0C\n"
		"cc_sw_cong_setting_victim_mask "
		"0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFE\n"
		"cc_sw_cong_setting_marking_rate 300\n";
	char *text;

	(void)state;
	for (unsigned int sl = 0; sl < 16; sl++)
		dl_text_append(expected, sizeof(expected),
			       "cc_ca_cong_setting_ccti_timer %u 1000\n"
			       "cc_ca_cong_setting_ccti_increase %u 1\n",
			       sl, sl);
	dl_text_append(expected, sizeof(expected), "cc_cct 0:0,1:3,2:6\n");
	build_row(3);
	text = survey(1, 0);
	assert_string_equal(text, expected);
	assert_string_equal(net.messages, "congestion control: on in 3 of 3 switches and 3 of 3 "
					  "adapter ports\n");
	survey_end(text);
}

/* Each kind of difference is named, as a comment, too. */
static void test_differences(void **state)
{
	static const char *const said[] = {
		"not supported: 1 of 9 adapter ports, such as \"h0\" (status 0x000c)",
		"refused: 1 of 9 switches, such as \"s0\" (status 0x001c)",
		"CCTI_Timer or CCTI_Increase not the same for all SLs: 2 of 9 adapter ports, such "
		"as \"h1\"",
		"a table of more than 128 entries (the first 128 count): 1 of 9 adapter ports, "
		"such as \"h3\"",
		"another threshold than most: 2 of 9 switches, such as \" [31ms1\"",
		"another marking rate than most: 1 of 9 switches, such as \"s3\"",
		"a victim mask, or none, unlike most: 1 of 9 switches, such as \"s4\"",
		"another CCTI_Timer or CCTI_Increase than most: 2 of 9 adapter ports, such as "
		"\"h4\"",
		"another table than most: 2 of 9 adapter ports, such as \"h3\"",
		"on in 8 of 9 switches and 7 of 9 adapter ports",
	};
	char *text;

	(void)state;
	build_row(9);
	assert_int_equal(dl_fabric_set_desc(net.f, 1, "\033[31ms1"), 0);
	device_of(true, 0)->status = 0x1C;
	device_of(true, 1)->threshold = device_of(true, 2)->threshold = 1;
	device_of(true, 3)->rate = 301;
	device_of(true, 4)->victims = false;
	device_of(false, 0)->status = 0x0C;
	device_of(false, 1)->sls = device_of(false, 2)->sls = 7; /* alike where they are set */
	device_of(false, 3)->limit = 128;
	device_of(false, 4)->timer = 1001;
	device_of(false, 5)->increase = 0;
	device_of(false, 6)->factor = 4;
	text = survey(64, 1);
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		char line[256];

		snprintf(line, sizeof(line), "# %s\n", said[i]);
		assert_says(text, line);
		assert_says(net.messages, line + 2);
	}
	assert_says(text, "\ncongestion_control TRUE\ncc_sw_cong_setting_threshold 0x0C\n");
	assert_says(text, "\ncc_sw_cong_setting_marking_rate 300\n");
	assert_says(text, "\ncc_ca_cong_setting_ccti_timer 15 1000\n");
	assert_says(text, "\ncc_cct 0:0,1:3,2:6\n");
	survey_end(text);
}

/* Adapters whose SLs differ: the most frequent values that slow down, or the first ones. */
static void test_sls(void **state)
{
	static const struct {
		struct device d;
		unsigned int timer, increase;
		bool reported;
	} cases[] = {
		{ { .sls = 8, .timer = 9, .increase = 1, .other_timer = 5, .other_increase = 2 },
		  9,
		  1,
		  true },
		{ { .sls = 7, .timer = 9, .increase = 1, .other_timer = 5, .other_increase = 2 },
		  5,
		  2,
		  true },
		{ { .sls = 9, .timer = 9, .increase = 1, .other_timer = 9, .other_increase = 2 },
		  9,
		  1,
		  true },
		{ { .sls = 9, .timer = 9, .other_timer = 5, .other_increase = 2 }, 5, 2, true },
		{ { .sls = 9, .timer = 9, .other_timer = 5 }, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char line[128], *text;

		build_row(1);
		*device_of(false, 0) = cases[i].d;
		text = survey(64, 0);
		snprintf(line, sizeof(line),
			 "\ncc_ca_cong_setting_ccti_timer 3 %u\n"
			 "cc_ca_cong_setting_ccti_increase 3 %u\n",
			 cases[i].timer, cases[i].increase);
		assert_says(text, line);
		assert_int_equal(strstr(text, "not the same for all SLs") != NULL,
				 cases[i].reported);
		survey_end(text);
	}
}

/* Tables of two blocks, and of more. */
static void test_tables(void **state)
{
	char *text;

	(void)state;
	for (unsigned int limit = 60; limit < 300; limit += limit < 132 ? 1 : 100) {
		char expected[2048] = "cc_cct 0:0";

		for (unsigned int i = 1; i <= limit && i < 128; i++)
			dl_text_append(expected, sizeof(expected), ",%u:%u", i % 4, i * 125);
		dl_text_append(expected, sizeof(expected), "\n");
		build_row(2);
		for (uint32_t i = 0; i < 2; i++) {
			device_of(false, i)->limit = limit;
			device_of(false, i)->factor = 125;
		}
		text = survey(64, 0);
		assert_string_equal(strstr(text, "cc_cct"), expected);
		assert_null(strstr(text, "another table"));
		assert_int_equal(strstr(text, "more than 128 entries") != NULL, limit >= 128);
		survey_end(text);
	}
	build_row(2);
	device_of(false, 1)->table_status = 0x0C;
	text = survey(64, 1);
	assert_says(text, "# refused: 1 of 2 adapter ports, such as \"h1\" (status 0x000c)\n");
	assert_says(text, "# on in 2 of 2 switches and 1 of 2 adapter ports\n");
	survey_end(text);
}

/* Devices without congestion control are no fault; and adapters may have it alone. */
static void test_not_supported(void **state)
{
	char *text;

	(void)state;
	for (unsigned int adapters = 0; adapters < 2; adapters++) {
		build_row(2);
		for (uint32_t i = 0; i < 2; i++) {
			device_of(true, i)->status = 0x04;
			device_of(false, i)->status = adapters ? 0 : 0x0C;
		}
		text = survey(64, 0);
		assert_says(text, "# not supported: 2 of 2 switches, such as \"s0\"");
		assert_says(text, adapters ? "# on in 0 of 2 switches and 2 of 2 adapter ports" :
					     "# off: on in 0 of 2 switches and 0 of 2 adapter");
		assert_says(text, adapters ? "\ncongestion_control TRUE\ncc_ca_cong" :
					     "\ncongestion_control FALSE\n");
		assert_null(strstr(net.messages, "warning"));
		survey_end(text);
	}
}

/* All have it, and nothing is set. */
static void test_off(void **state)
{
	char *text;

	(void)state;
	build_row(2);
	for (uint32_t lid = 0; lid < MOST; lid++)
		net.devices[lid] = (struct device){ 0 };
	text = survey(64, 0);
	assert_says(text, "# off: on in 0 of 2 switches and 0 of 2 adapter ports\n");
	assert_says(text, "\ncongestion_control FALSE\ncc_sw_cong_setting_threshold 0x00\n"
			  "cc_sw_cong_setting_victim_mask 0x0\n");
	assert_says(text, "\ncc_cct 0:0\n");
	survey_end(text);
}

/* What most have, counted one by one; of two the one that comes first. */
static void test_most(void **state)
{
	struct test_random r = { .seed = 1 };

	(void)state;
	for (unsigned int turn = 0; turn < 300; turn++) {
		uint32_t n = 1 + test_random(&r, 12), most = 0, best = 0;
		char line[64], *text;

		build_row(n);
		for (uint32_t i = 0; i < n; i++)
			device_of(true, i)->rate = 255 + test_random(&r, 4);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t same = 0;

			for (uint32_t j = 0; j < n; j++)
				same += device_of(true, i)->rate == device_of(true, j)->rate;
			if (same > most) {
				most = same;
				best = device_of(true, i)->rate;
			}
		}
		text = survey(8, 0);
		snprintf(line, sizeof(line), "\ncc_sw_cong_setting_marking_rate %u\n", best);
		assert_says(text, line);
		snprintf(line, sizeof(line), "marking rate than most: %u of %u", n - most, n);
		assert_int_equal(strstr(text, line) != NULL, most < n);
		survey_end(text);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silence),	      cmocka_unit_test(test_few_answer),
		cmocka_unit_test(test_half_silent),   cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_sls),	      cmocka_unit_test(test_tables),
		cmocka_unit_test(test_not_supported), cmocka_unit_test(test_all_alike),
		cmocka_unit_test(test_differences),   cmocka_unit_test(test_off),
		cmocka_unit_test(test_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

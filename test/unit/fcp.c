/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The flow-control packet: its bits and check sum, and its rules. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "draw.h"
#include "dateline/link.h"

/*
 * The remainder by long division over a string of bits, in the order in which
 * they go over the wire: complement the first 16, append 16 zeros, divide.
 */
static uint16_t crc_by_division(const uint8_t *bytes, size_t n)
{
	static const char divisor[] = "10001000000001011"; /* 1 100Bh */
	char bits[8 * 64 + 16];
	size_t len = 8 * n;
	uint16_t crc = 0;

	for (size_t i = 0; i < len; i++)
		bits[i] = bytes[i / 8] >> i % 8 & 1;
	memset(bits + len, 0, 16);
	for (size_t i = 0; i < 16; i++)
		bits[i] ^= 1;
	for (size_t i = 0; i < len; i++)
		for (size_t j = 0; bits[i] && j <= 16; j++)
			bits[i + 16 - j] ^= divisor[16 - j] - '0';
	/* The highest power goes first, into the lowest bit. */
	for (size_t i = 0; i < 16; i++)
		crc |= (bits[len + i] ^ 1) << i;
	return crc;
}

static void test_crc(void **state)
{
	struct draw d = { .seed = 1 };
	uint8_t bytes[64];

	(void)state;
	assert_int_equal(dl_link_crc16((const uint8_t *)"123456789", 9), 0x0A3D);
	for (int i = 0; i < 2000; i++) {
		size_t n = 2 + draw_below(&d, 63);

		for (size_t j = 0; j < n; j++)
			bytes[j] = draw32(&d);
		assert_int_equal(dl_link_crc16(bytes, n), crc_by_division(bytes, n));
	}
}

static void test_bits(void **state)
{
	static const struct dl_link_fcp fcp = { .op = 1, .fctbs = 0xABC, .vl = 7, .fccl = 0x123 };
	static const uint8_t fields[] = { 0x1A, 0xBC, 0x71, 0x23 };
	uint8_t wire[DL_LINK_FCP_BYTES];
	uint16_t crc = crc_by_division(fields, 4);

	(void)state;
	dl_link_fcp_encode(&fcp, wire);
	assert_memory_equal(wire, fields, 4);
	assert_int_equal(wire[4], crc & 0xFF);
	assert_int_equal(wire[5], crc >> 8);
}

static void test_round_trip(void **state)
{
	struct draw d = { .seed = 2 };
	uint8_t wire[DL_LINK_FCP_BYTES];
	struct dl_link_fcp in, out;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		memset(&in, 0, sizeof(in));
		in.op = draw_below(&d, 2);
		in.vl = draw_below(&d, 15);
		in.fctbs = draw_below(&d, 4096);
		in.fccl = draw_below(&d, 4096);
		dl_link_fcp_encode(&in, wire);
		memset(&out, 0, sizeof(out));
		assert_int_equal(dl_link_fcp_decode(wire, &out), 0);
		assert_memory_equal(&in, &out, sizeof(in));
		/* Every error of one or two bits is found. */
		for (int a = 0; a < 48; a++) {
			int b = draw_below(&d, 48);

			wire[a / 8] ^= 1 << a % 8;
			if (b != a)
				wire[b / 8] ^= 1 << b % 8;
			assert_int_equal(dl_link_fcp_decode(wire, &out), -EBADMSG);
			wire[a / 8] ^= 1 << a % 8;
			if (b != a)
				wire[b / 8] ^= 1 << b % 8;
		}
	}
}

static void test_reserved(void **state)
{
	uint8_t wire[DL_LINK_FCP_BYTES];
	struct dl_link_fcp out;

	(void)state;
	for (unsigned int op = 0; op < 16; op++)
		for (unsigned int vl = 0; vl < 16; vl++) {
			struct dl_link_fcp in = { .op = op, .vl = vl };

			dl_link_fcp_encode(&in, wire);
			assert_int_equal(dl_link_fcp_decode(wire, &out),
					 op > 1 || vl == 15 ? -EPROTO : 0);
		}
}

/* Both ends of a link come up, with a packet lost, and carry on. */
static void test_states(void **state)
{
	struct dl_link_credit_tx tx[2] = { { 0 } };
	struct dl_link_credit_rx rx[2] = { { .free = 100 }, { .free = 101 } };
	struct dl_link_credit_terms terms;
	struct dl_link_fcp fcp;

	(void)state;
	assert_int_equal(dl_link_credit_terms_init(&terms, DL_LINK_CREDIT_IBA, 101, 1, 10), 0);
	assert_int_equal(dl_link_fcp_make(DL_LINK_DOWN, 3, &terms, &tx[0], &rx[0], &fcp),
			 -ENOTCONN);
	assert_int_equal(dl_link_fcp_make(DL_LINK_INITIALISE, 3, &terms, &tx[0], &rx[0], &fcp), 0);
	assert_int_equal(fcp.op, DL_LINK_FCP_INITIALISE);
	assert_int_equal(fcp.vl, 3);
	assert_int_equal(dl_link_fcp_take(DL_LINK_DOWN, &fcp, &terms, &tx[1], &rx[1]), -ENOTCONN);
	assert_int_equal(tx[1].limit, 0);
	assert_int_equal(dl_link_fcp_take(DL_LINK_INITIALISE, &fcp, &terms, &tx[1], &rx[1]), 0);
	assert_int_equal(tx[1].limit, 100);
	/* The near end is armed first; the far end still initialises. */
	assert_int_equal(dl_link_fcp_make(DL_LINK_INITIALISE, 3, &terms, &tx[1], &rx[1], &fcp), 0);
	assert_int_equal(dl_link_fcp_take(DL_LINK_ARM, &fcp, &terms, &tx[0], &rx[0]), 0);
	assert_int_equal(tx[0].limit, 101);
	/* An active link that is initialised from the far end says so. */
	assert_int_equal(dl_link_fcp_take(DL_LINK_ACTIVE, &fcp, &terms, &tx[0], &rx[0]),
			 -ECONNRESET);
	for (int s = DL_LINK_ARM; s <= DL_LINK_ACTIVE; s++) {
		assert_int_equal(dl_link_fcp_make(s, 0, &terms, &tx[0], &rx[0], &fcp), 0);
		assert_int_equal(fcp.op, DL_LINK_FCP_NORMAL);
	}
	/* One packet serves both directions. */
	dl_link_credit_spend(&tx[0], 7);
	dl_link_credit_receive(&terms, &rx[0], 9);
	dl_link_fcp_make(DL_LINK_ACTIVE, 0, &terms, &tx[0], &rx[0], &fcp);
	assert_int_equal(fcp.fctbs, 7);
	assert_int_equal(fcp.fccl, 100);
	assert_int_equal(dl_link_fcp_take(DL_LINK_ACTIVE, &fcp, &terms, &tx[1], &rx[1]), 0);
	assert_int_equal(rx[1].received, 7);
	assert_int_equal(tx[1].limit, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crc),	   cmocka_unit_test(test_bits),
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_reserved),
		cmocka_unit_test(test_states),
	};

	return cmocka_run_group_tests_name("fcp", tests, NULL, NULL);
}

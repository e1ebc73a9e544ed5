/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The flow-control packet (rules C2, IBA 7.9.4).
 *
 * Fields, most significant bit first: Op 4, FCTBS 12, VL 4, FCCL 12.  The CRC
 * covers these four bytes.
 *
 * The CRC (IBA 7.8) takes the bytes in the order of the wire and within a
 * byte the least significant bit first, as Ethernet's does; so the shift
 * register runs to the right, with the polynomial's bits reversed, and the
 * result leaves low byte first.  The remainder is complemented.
 *
 * Everything is O(1); no memory.
 */
#include "config.h"

#include <errno.h>

#include "dateline/link.h"

#define POLYNOMIAL_REVERSED 0xD008 /* 100Bh */

uint16_t dl_link_crc16(const uint8_t *bytes, size_t n)
{
	uint32_t crc = 0xFFFF;

	for (size_t i = 0; i < n; i++) {
		crc ^= bytes[i];
		for (unsigned int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL_REVERSED : 0);
	}
	return ~crc;
}

void dl_link_fcp_encode(const struct dl_link_fcp *fcp, uint8_t wire[DL_LINK_FCP_BYTES])
{
	uint32_t word = (fcp->op & 0xFu) << 28 | (fcp->fctbs & 0xFFFu) << 16 |
			(fcp->vl & 0xFu) << 12 | (fcp->fccl & 0xFFFu);
	uint16_t crc;

	for (unsigned int i = 0; i < 4; i++)
		wire[i] = word >> (24 - 8 * i);
	crc = dl_link_crc16(wire, 4);
	wire[4] = crc;
	wire[5] = crc >> 8;
}

int dl_link_fcp_decode(const uint8_t wire[DL_LINK_FCP_BYTES], struct dl_link_fcp *out)
{
	uint32_t word = 0;

	if ((wire[4] | wire[5] << 8) != dl_link_crc16(wire, 4))
		return -EBADMSG;
	for (unsigned int i = 0; i < 4; i++)
		word = word << 8 | wire[i];
	if (word >> 28 > DL_LINK_FCP_INITIALISE || (word >> 12 & 0xF) == DL_LINK_VL_SMP)
		return -EPROTO;
	*out = (struct dl_link_fcp){ .op = word >> 28,
				     .fctbs = word >> 16 & 0xFFF,
				     .vl = word >> 12 & 0xF,
				     .fccl = word & 0xFFF };
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * join [-l] GROUP SL PORT-GUID...
 *
 * Let ports join (-l: leave) a multicast group, through the subnet
 * administrator and in their place: no adapter of a simulated fabric does so
 * by itself.  GROUP 0 is the broadcast group that OpenSM makes; any other
 * number names a group that the first to join creates, with that SL.  Prints
 * "GUID MLID" for each port.  Exit status 0, or 1 when one was refused, or 3
 * when there is no subnet administrator.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#define TIMEOUT_MS 60000 /* libumad2sim asks only once */
#define LINK_LOCAL 0xFE80000000000000
#define FULL_MEMBER 1

/* Components of an MCMemberRecord (IBA 15.2.5.17). */
enum {
	MGID = 1 << 0,
	PORT_GID = 1 << 1,
	QKEY = 1 << 2,
	SL = 1 << 12,
	PKEY = 1 << 7,
	TCLASS = 1 << 6,
	FLOW = 1 << 13,
	JOIN_STATE = 1 << 16,
};

static void put64(uint8_t *to, uint64_t value)
{
	int i;

	for (i = 7; i >= 0; i--, value >>= 8)
		to[i] = value;
}

/*
 * The IPoIB broadcast group, or one of our own: of an IPoIB group OpenSM wants
 * the SL of the broadcast group.
 */
static void set_mgid(uint8_t mgid[16], unsigned long group)
{
	put64(mgid, group ? 0xFF12D1D1FFFF0000 : 0xFF12401BFFFF0000);
	put64(mgid + 8, group ? group : 0xFFFFFFFF);
}

static int request(const struct ibmad_port *port, ib_portid_t *sm, unsigned long group,
		   unsigned int sl, uint64_t guid, int leave)
{
	uint8_t record[IB_SA_DATA_SIZE] = { 0 }, answer[1024], *got;
	ib_sa_call_t call = {
		.attrid = IB_SA_ATTR_MCRECORD,
		.method = leave ? IB_MAD_METHOD_DELETE : IB_MAD_METHOD_SET,
		.mask = MGID | PORT_GID | JOIN_STATE,
		.trid = mad_trid(),
	};

	set_mgid(record, group);
	put64(record + 16, LINK_LOCAL);
	put64(record + 24, guid);
	mad_set_field(record, 0, IB_SA_MCM_JOIN_STATE_F, FULL_MEMBER);
	if (group) {
		call.mask |= QKEY | SL | PKEY | TCLASS | FLOW;
		mad_set_field(record, 0, IB_SA_MCM_QKEY_F, 0x0B1B);
		mad_set_field(record, 0, IB_SA_MCM_PKEY_F, 0xFFFF);
		mad_set_field(record, 0, IB_SA_MCM_SL_F, sl);
	}
	memcpy(answer, record, sizeof(record));
	got = sa_rpc_call(port, answer, sm, &call, TIMEOUT_MS);
	if (!got) {
		fprintf(stderr, "0x%016" PRIx64 ": refused\n", guid);
		return 1;
	}
	printf("0x%016" PRIx64 " 0x%04x\n", guid, mad_get_field(got, 0, IB_SA_MCM_MLID_F));
	return 0;
}

int main(int argc, char **argv)
{
	int classes[] = { IB_SMI_CLASS, IB_SMI_DIRECT_CLASS, IB_SA_CLASS };
	int leave = argc > 1 && !strcmp(argv[1], "-l"), failed = 0, i;
	struct ibmad_port *port;
	unsigned int sl;
	unsigned long group;
	ib_portid_t sm;

	argc -= leave;
	argv += leave;
	if (argc < 4) {
		fprintf(stderr, "usage: join [-l] GROUP SL PORT-GUID...\n");
		return 2;
	}
	group = strtoul(argv[1], NULL, 0);
	sl = strtoul(argv[2], NULL, 0);
	port = mad_rpc_open_port(NULL, 0, classes, 3);
	if (!port)
		return 3;
	if (ib_resolve_smlid_via(&sm, TIMEOUT_MS, port) < 0) {
		mad_rpc_close_port(port);
		return 3;
	}
	sm.qp = 1;
	sm.qkey = sm.qkey ? sm.qkey : IB_DEFAULT_QP1_QKEY;
	for (i = 3; i < argc; i++)
		failed |= request(port, &sm, group, sl, strtoull(argv[i], NULL, 0), leave);
	mad_rpc_close_port(port);
	return failed;
}

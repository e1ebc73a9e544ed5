/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The calls of libibumad that a subnet manager makes, answered by the simulator:
 * one adapter with one port.
 */
#include "config.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <iba/ib_types.h>
#include <infiniband/umad.h>

#include "sm.h"

static const char ADAPTER[] = "sim0", ISSM[] = "/sim/issm";
static int issm_fd = -1;

int umad_init(void)
{
	return 0;
}

int umad_done(void)
{
	return 0;
}

int umad_debug(int level)
{
	return level;
}

int umad_get_cas_names(char names[][UMAD_CA_NAME_LEN], int max)
{
	if (max < 1)
		return 0;
	strcpy(names[0], ADAPTER);
	return 1;
}

int umad_get_ca_portguids(const char *name, __be64 *guids, int max)
{
	(void)name;
	if (max < 2)
		return -1;
	guids[0] = 0;
	guids[1] = htobe64(sm_share->port.port_guid);
	return 2;
}

int umad_get_port(const char *name, int number, umad_port_t *p)
{
	const struct sim_host_port *h = &sm_share->port;

	(void)name, (void)number;
	memset(p, 0, sizeof(*p));
	strcpy(p->ca_name, ADAPTER);
	strcpy(p->link_layer, "InfiniBand");
	p->portnum = 1;
	p->base_lid = h->lid;
	p->sm_lid = h->sm_lid;
	p->state = h->state;
	p->phys_state = h->physical_state;
	p->rate = 100;
	p->capmask = h->capabilities;
	p->gid_prefix = htobe64(UINT64_C(0xFE80000000000000));
	p->port_guid = htobe64(h->port_guid);
	p->pkeys = calloc(1, sizeof(*p->pkeys));
	if (!p->pkeys)
		return -ENOMEM;
	p->pkeys_size = 1;
	p->pkeys[0] = 0xFFFF;
	return 0;
}

int umad_release_port(umad_port_t *p)
{
	free(p->pkeys);
	p->pkeys = NULL;
	return 0;
}

int umad_get_ca(const char *name, umad_ca_t *ca)
{
	memset(ca, 0, sizeof(*ca));
	strcpy(ca->ca_name, ADAPTER);
	ca->node_type = 1;
	ca->numports = 1;
	ca->node_guid = ca->system_guid = htobe64(sm_share->port.node_guid);
	ca->ports[1] = calloc(1, sizeof(*ca->ports[1]));
	return ca->ports[1] ? umad_get_port(name, 1, ca->ports[1]) : -ENOMEM;
}

int umad_release_ca(umad_ca_t *ca)
{
	umad_release_port(ca->ports[1]);
	free(ca->ports[1]);
	return 0;
}

int umad_get_issm_path(const char *name, int port, char path[], int max)
{
	(void)name, (void)port;
	snprintf(path, (size_t)max, "%s", ISSM);
	return 0;
}

int umad_open_port(const char *name, int port)
{
	(void)name, (void)port;
	return 0;
}

int umad_close_port(int id)
{
	(void)id;
	return 0;
}

int umad_register(int id, int class, int version, uint8_t rmpp, long mask[16 / sizeof(long)])
{
	(void)id, (void)version, (void)rmpp, (void)mask;
	for (int a = 0; a < SIM_AGENTS; a++) {
		if (sm_share->agents[a])
			continue;
		sm_share->agents[a] = (uint8_t)(class + 1);
		return a;
	}
	return -1;
}

int umad_unregister(int id, int agent)
{
	(void)id;
	sm_share->agents[agent] = 0;
	return 0;
}

static struct sim_mad *new_mad(const struct ib_user_mad *u, int agent, const void *bytes, size_t n)
{
	struct sim_mad *m = sm_new_mad();

	memcpy(m->bytes, bytes, n < SIM_MAD_SIZE ? n : SIM_MAD_SIZE);
	m->agent = agent;
	m->lid = be16toh(u->addr.lid);
	m->qpn = be32toh(u->addr.qpn);
	return m;
}

#define SA_DATA (SIM_MAD_SIZE - IB_SA_MAD_HDR_SIZE)

/*
 * As the kernel cuts an answer into segments.  The first one's length is that of all, and
 * the header of the class is a part of each.
 */
static void send_segments(const struct ib_user_mad *u, int agent, const uint8_t *mad, size_t length)
{
	const uint32_t header = IB_SA_MAD_HDR_SIZE - MAD_RMPP_HDR_SIZE;
	size_t left = length > IB_SA_MAD_HDR_SIZE ? length - IB_SA_MAD_HDR_SIZE : 0;
	uint32_t n = left ? (uint32_t)((left + SA_DATA - 1) / SA_DATA) : 1;

	for (uint32_t i = 0; i < n; i++) {
		size_t part = left < SA_DATA ? left : SA_DATA;
		ib_sa_mad_t *s;

		s = (ib_sa_mad_t *)new_mad(u, agent, mad, IB_SA_MAD_HDR_SIZE)->bytes;
		memcpy(s->data, mad + IB_SA_MAD_HDR_SIZE + i * SA_DATA, part);
		s->rmpp_version = s->rmpp_type = 1;
		s->rmpp_flags = IB_RMPP_FLAG_ACTIVE | (i ? 0 : IB_RMPP_FLAG_FIRST) |
				(i + 1 < n ? 0 : IB_RMPP_FLAG_LAST);
		s->seg_num = htobe32(i + 1);
		s->paylen_newwin = htobe32(i + 1 == n ? header + (uint32_t)part :
					   i	      ? 0 :
							(uint32_t)left + n * header);
		left -= part;
	}
}

int umad_send(int id, int agent, void *umad, int length, int timeout_ms, int retries)
{
	const ib_sa_mad_t *s = umad_get_mad(umad);
	struct sim_mad *m;

	(void)id;
	if (s->mgmt_class == IB_MCLASS_SUBN_ADM && s->rmpp_flags & IB_RMPP_FLAG_ACTIVE) {
		send_segments(umad, agent, (const uint8_t *)s, (size_t)length);
		return 0;
	}
	m = new_mad(umad, agent, s, (size_t)length);
	m->timeout_ms = timeout_ms;
	m->retries = retries;
	return 0;
}

int umad_recv(int id, void *umad, int *length, int timeout_ms)
{
	struct ib_user_mad *u = umad;
	struct sim_mad m;

	(void)id;
	sm_cancellation_point();
	while (!sm_take_mad(&m)) {
		uint64_t wait = (uint64_t)timeout_ms * SIM_MS;

		sm_block(&sm_mads, timeout_ms < 0 ? SIM_NEVER : sm_share->now + wait, "umad_recv");
		sm_cancellation_point();
		if (!sm_has_mad() && timeout_ms >= 0) {
			errno = ETIMEDOUT;
			return -ETIMEDOUT;
		}
	}
	memset(u, 0, umad_size());
	u->agent_id = (uint32_t)m.agent;
	u->status = (uint32_t)m.status;
	u->length = SIM_MAD_SIZE;
	u->addr.lid = htobe16(m.lid);
	u->addr.qpn = htobe32(m.qpn);
	memcpy(umad_get_mad(umad), m.bytes, SIM_MAD_SIZE);
	*length = SIM_MAD_SIZE;
	return m.agent;
}

/* ---- files -------------------------------------------------------------------- */

int open(const char *path, int flags, ...)
{
	bool is_issm = !strcmp(path, ISSM);
	va_list args;
	int mode, fd;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
	va_end(args);
	if (!is_issm && flags & (O_WRONLY | O_RDWR) && sm_is_denied(__builtin_return_address(0)))
		return -1;
	if (is_issm)
		path = "/dev/null";
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	if (is_issm) {
		issm_fd = fd;
		sm_share->is_sm = true;
	}
	return fd;
}

int close(int fd)
{
	if (fd >= 0 && fd == issm_fd) {
		issm_fd = -1;
		sm_share->is_sm = false;
	}
	return (int)syscall(SYS_close, fd);
}

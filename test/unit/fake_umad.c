/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include "test/unit/fake_umad.h"

struct fake_umad fake_umad;

int clock_gettime(clockid_t clock, struct timespec *at)
{
	if (!fake_umad.on)
		return syscall(SYS_clock_gettime, clock, at);
	*at = (struct timespec){ fake_umad.ms / 1000, fake_umad.ms % 1000 * 1000000 };
	return 0;
}

int umad_init(void)
{
	return 0;
}

int umad_open_port(const char *ca, int port)
{
	(void)ca, (void)port;
	return 0;
}

int umad_close_port(int id)
{
	(void)id;
	return 0;
}

/* An agent is its class. */
int umad_register(int id, int class, int version, uint8_t rmpp, long methods[16 / sizeof(long)])
{
	(void)id, (void)rmpp, (void)methods;
	if (version != (class == IB_CC_CLASS || class == IB_SA_CLASS ? 2 : 1))
		return -EINVAL;
	return class;
}

int umad_recv(int id, void *umad, int *len, int wait)
{
	(void)id;
	if (!fake_umad.nwaiting) {
		fake_umad.ms += wait > 0 ? wait : 1;
		errno = ETIMEDOUT;
		return -ETIMEDOUT;
	}
	*len = IB_MAD_SIZE;
	memset(umad, 0, umad_size());
	memcpy(umad_get_mad(umad), fake_umad.waiting[--fake_umad.nwaiting], IB_MAD_SIZE);
	return 0;
}

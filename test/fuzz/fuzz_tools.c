/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a file that only commands read; the first one tells which:
 *
 *   h  a list of hosts
 *   e  what an emulation found, for a report
 *   p  the same, beside counters
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "listen.h"
#include "tools/common/hosts.h"
#include "tools/path/path.h"
#include "tools/report/report.h"

/* In place of what looks a port up. */
json_t *path_cable_json(const struct tool_input *in, uint32_t port)
{
	FUZZ_CHECK(port < in->fabric->nports);
	return json_object();
}

static int add_host(void *context, const char *name, const struct find_result *end)
{
	const struct tool_input *in = context;

	FUZZ_CHECK(*name && end->port < in->fabric->nports);
	return 0;
}

static int read_hosts(struct tool_input *in, const char *path)
{
	struct find find;
	int err;

	FUZZ_CHECK(!find_begin(&find, in));
	err = hosts_read(&find, path, &listener, add_host, in);
	find_end(&find);
	return err;
}

static int read_emulation(struct tool_input *in, const char *path)
{
	/* The cable between the switches, and those of the adapters. */
	uint32_t way_of[] = { DL_NONE, 0, 2, DL_NONE, 1, 4, DL_NONE, 3, DL_NONE, 5 };
	struct report_page p = { .fabric = in->fabric, .ncables = 3, .way_of = way_of };
	json_t *document = json_object();
	int err;

	FUZZ_CHECK(document && in->fabric->nports == sizeof(way_of) / sizeof(*way_of));
	err = report_emulation(&p, path, &listener, document);
	FUZZ_CHECK(err || json_object_size(document) == 1);
	json_decref(document);
	return err;
}

static int read_prediction(struct tool_input *in, const char *path)
{
	struct dl_live_counters counted = { .nknown = 0 };
	struct path_request r = { .predicted = path, .counted = &counted, .top = 8 };
	json_t *found = NULL, *waiting, *port;
	size_t i;
	int err;

	counted.value = calloc(in->fabric->nports, sizeof(*counted.value));
	counted.known = calloc(in->fabric->nports, sizeof(*counted.known));
	FUZZ_CHECK(counted.value && counted.known);
	for (uint32_t p = 0; p < in->fabric->nports; p++)
		counted.value[p][DL_LIVE_XMIT_WAIT] = counted.known[p] = true;
	err = path_fabric_json(in, &r, &listener, &found);
	waiting = json_object_get(json_object_get(found, "fabric"), "waiting");
	FUZZ_CHECK(err || json_array_size(waiting));
	json_array_foreach(waiting, i, port)
	{
		double share = json_real_value(json_object_get(port, "predicted_share"));

		FUZZ_CHECK(share >= 0 && share <= 1);
	}
	json_decref(found);
	free(counted.value);
	free(counted.known);
	return err;
}

static const struct {
	char letter;
	int (*read)(struct tool_input *in, const char *path);
} readers[] = { { 'h', read_hosts }, { 'e', read_emulation }, { 'p', read_prediction } };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tool_input in = { 0 };
	char path[32];
	int fd = memfd_create("input", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0);
	if (size > 1)
		FUZZ_CHECK(write(fd, data + 1, size - 1) == (ssize_t)size - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; size && i < sizeof(readers) / sizeof(*readers); i++) {
		int err;

		if (readers[i].letter != *data)
			continue;
		in.fabric = fuzz_pair(2, (const char *[]){ "h0", "h01" });
		FUZZ_CHECK(!dl_tables_new(in.fabric, &in.snapshot.tables));
		error = false;
		err = readers[i].read(&in, path);
		FUZZ_CHECK(!err || err == -EINVAL);
		FUZZ_CHECK(error == !!err && !tool_json_failed());
		dl_tables_free(in.snapshot.tables);
		dl_fabric_free(in.fabric);
	}
	close(fd);
	return 0;
}

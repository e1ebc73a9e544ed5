/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a netlist or a report of ports.  The latter knows of ports and rates
 * what a netlist cannot say: what is written from it is read, but need not come back
 * the same.
 */
#include "fabric_file.h"
#include "fabric/internal.h"

static bool has_report(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *at = text;
	bool found = false;

	FUZZ_CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	for (; at && !found; at = strchr(at, '\n')) {
		at += *at == '\n';
		found = dl_fabric_is_port_report(at + strspn(at, " \t"));
	}
	free(text);
	return found;
}

static int read_report(FILE *from, const char *name, const struct dl_log *log,
		       struct dl_fabric **out)
{
	int err = dl_fabric_read_netlist_stream(from, name, log, out);
	struct dl_fabric *f;
	char *text = NULL;
	size_t len;
	FILE *to;

	if (err)
		return err;
	to = open_memstream(&text, &len);
	FUZZ_CHECK(to && !dl_fabric_write_netlist(*out, to));
	fclose(to);
	from = fmemopen(text, len, "r");
	FUZZ_CHECK(from && !dl_fabric_read_netlist_stream(from, name, log, &f));
	fclose(from);
	dl_fabric_free(f);
	free(text);
	return 0;
}

static int write_nothing(const struct dl_fabric *f, FILE *to)
{
	(void)f;
	(void)to;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fabric_format netlist = { dl_fabric_read_netlist_stream,
						      dl_fabric_write_netlist },
					  report = { read_report, write_nothing };

	fuzz_fabric_file(has_report(data, size) ? &report : &netlist, data, size);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counters as the tools of infiniband-diags print them: ibqueryerrors, a line
 * for each port with "[Name == value ...]", and perfquery, a heading with LID
 * and port and then a line for each counter, "Name:.....value".  ibqueryerrors
 * names an adapter's port by the GUID of the port, and prints nothing but a
 * summary where no port has errors.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "live/internal.h"

struct reading {
	const struct dl_fabric *f;
	struct dl_live_counters *c;
	struct dl_fabric_index ports;
	uint32_t port; /* of perfquery's heading, or DL_NONE */
	uint64_t counters;
	uint32_t unknown; /* ports that are not in the fabric */
	bool clean;	  /* ibqueryerrors' summary without a bad node */
};

#define COUNTERS_MOST (UINT64_MAX >> 6) /* so that sums of several fit, and JSON's integers */

/* Larger values win: the same counter comes with 32 and with 64 bits. */
static void counters_take(struct reading *r, uint32_t port, const char *name, size_t len,
			  uint64_t value)
{
	for (unsigned int i = 0; i < DL_LIVE_COUNTERS; i++) {
		const char *known = dl_live_counter_name(i);

		if (strlen(known) != len || strncmp(known, name, len))
			continue;
		r->counters++;
		if (port == DL_NONE)
			return;
		r->c->nknown += !r->c->known[port];
		r->c->known[port] = true;
		value = value < COUNTERS_MOST ? value : COUNTERS_MOST;
		if (value > r->c->value[port][i])
			r->c->value[port][i] = value;
		return;
	}
}

static uint32_t counters_port_of(const struct dl_fabric *f, uint32_t node, uint64_t number)
{
	if (node == DL_NONE || number > f->nodes[node].nports)
		return DL_NONE;
	return f->nodes[node].first_port + number;
}

/* The GUID is that of the port, or of its node. */
static uint32_t counters_find_port(const struct reading *r, uint64_t guid, uint64_t number)
{
	uint32_t port = dl_fabric_find_port(r->f, &r->ports, guid);

	if (port != DL_NONE && r->f->ports[port].num == number)
		return port;
	return counters_port_of(r->f, dl_fabric_find_guid(r->f, guid), number);
}

/* "GUID 0x... port 3: [Name == 5] [Name == 7 (28.000B)]" */
static int counters_read_port_line(struct reading *r, struct dl_text *t)
{
	uint64_t guid, number;
	uint32_t port;

	if (dl_text_number(t, 16, UINT64_MAX, "a GUID", &guid))
		return -EINVAL;
	if (!dl_text_take_string(t, "port"))
		return dl_text_expected(t, "\"port\"");
	if (dl_text_take_string(t, "ALL"))
		return 0; /* the sum of a switch's ports */
	if (dl_text_number(t, 10, DL_FABRIC_MAX_PORTS, "a port number", &number))
		return -EINVAL;
	port = counters_find_port(r, guid, number);
	r->unknown += port == DL_NONE;
	for (char *at = strchr(t->at, '['); at; at = strchr(t->at, '[')) {
		size_t len = strcspn(at + 1, " ]");
		uint64_t value;

		t->at = at + 1 + len;
		if (!dl_text_take_string(t, "=="))
			return dl_text_expected(t, "\"==\"");
		if (dl_text_number(t, 10, UINT64_MAX, "a counter", &value))
			return -EINVAL;
		counters_take(r, port, at + 1, len, value);
	}
	return 0;
}

/* "# Port counters: Lid 3 port 1 (...)", "## Summary: 32 nodes checked, ..." or a comment. */
static int counters_read_heading(struct reading *r, struct dl_text *t)
{
	uint64_t lid, number;
	uint32_t end;

	if (dl_text_take_string(t, "## Summary:")) {
		r->clean |= strstr(t->at, ", 0 bad nodes found") != NULL;
		if (dl_text_number(t, 10, UINT32_MAX, "a number of nodes", &number))
			return -EINVAL;
		r->c->nodes = number;
		return 0;
	}
	if (strstr(t->at, " PMA query failures") && dl_text_take_string(t, "##") &&
	    !dl_text_take_string(t, "0 "))
		r->c->nodes = 0;
	t->at = strstr(t->at, "Lid ");
	if (!t->at)
		return 0;
	t->at += 4;
	if (dl_text_number(t, 10, UINT16_MAX, "a LID", &lid))
		return -EINVAL;
	if (!dl_text_take_string(t, "port"))
		return dl_text_expected(t, "\"port\"");
	r->port = DL_NONE;
	if (t->at[0] == ' ' && t->at[1] >= '0' && t->at[1] <= '9') {
		if (dl_text_number(t, 10, 255, "a port number", &number))
			return -EINVAL;
		end = lid && lid <= r->f->top_lid ? r->f->lid_port[lid] : DL_NONE;
		if (end != DL_NONE && number != 255)
			r->port = counters_port_of(r->f, r->f->ports[end].node, number);
		r->unknown += r->port == DL_NONE && number != 255;
	}
	return 0;
}

/* "PortXmitData:....................720" */
static int read_counter(struct reading *r, struct dl_text *t)
{
	size_t len = strcspn(t->at, ":");
	const char *name = t->at, *digits = t->at + len + strspn(t->at + len, ":.");
	uint64_t value;
	const char *end = dl_number_scan(digits, 0, &value);

	if (!t->at[len] || end == digits)
		return 0; /* other programs' words */
	counters_take(r, r->port, name, len, value);
	return 0;
}

static int counters_read_line(struct reading *r, struct dl_text *t)
{
	if (dl_text_take_string(t, "GUID"))
		return counters_read_port_line(r, t);
	if (*t->at == '#')
		return counters_read_heading(r, t);
	return read_counter(r, t);
}

int dl_live_counters_read(const char *path, const struct dl_fabric *f, const struct dl_log *log,
			  struct dl_live_counters *out)
{
	struct reading r = { .f = f, .c = out, .port = DL_NONE };
	struct dl_text text;
	int err = dl_live_counters_new(f, out);
	FILE *from = err ? NULL : fopen(path, "r");

	if (!err && !from)
		err = dl_fail(log, -errno, "cannot read %s: %s", path, strerror(errno));
	if (err)
		return err;
	err = dl_fabric_index_ports(f, &r.ports);
	dl_text_begin(&text, from, path, log);
	text.whole = true;
	while (!err && (err = dl_text_next(&text)) > 0)
		err = counters_read_line(&r, &text);
	dl_text_end(&text);
	fclose(from);
	dl_fabric_index_free(&r.ports);
	if (err)
		return err;
	if (!out->nknown && !r.clean)
		return dl_fail(log, -EINVAL,
			       r.counters ? "%s: counters of no port that is in this fabric" :
					    "%s: no counters: expected the output of ibqueryerrors "
					    "or perfquery",
			       path);
	if (r.unknown)
		dl_log(log, DL_LOG_WARNING,
		       "%s: counters of %u port%s that %s not in this fabric are left out", path,
		       r.unknown, r.unknown == 1 ? "" : "s", r.unknown == 1 ? "is" : "are");
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading OpenSM's subnet list (opensm-subnet.lst): a line for each cable and
 * direction, each with all that is known of the nodes at both ends.  See
 * subnet_lst_write.c for the format.
 *
 * A cable may be stated in one direction only.  LMCs are not in the format.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/internal.h"

struct reader {
	struct dl_fabric_parsed d;
	struct dl_fabric_records records;
	struct dl_text t;
};

/* ---- lines -------------------------------------------------------------- */

enum field { PORTS, SYSTEM, NODE, PORT, VENDOR, DEVICE, REVISION, NFIELDS };

static const struct {
	const char *name;
	uint64_t max;
	const char *what;
} fields[NFIELDS] = {
	[PORTS] = { "Ports:", UINT8_MAX, "1 to FE ports" },
	[SYSTEM] = { "SystemGUID:", UINT64_MAX, "a GUID" },
	[NODE] = { "NodeGUID:", UINT64_MAX, "a GUID" },
	[PORT] = { "PortGUID:", UINT64_MAX, "a GUID" },
	[VENDOR] = { "VenID:", UINT32_MAX, "a vendor, 32 bits" },
	[DEVICE] = { "DevID:", UINT32_MAX, "a device, 32 bits" },
	[REVISION] = { "Rev:", UINT32_MAX, "a revision, 32 bits" },
};

static struct dl_fabric_parsed_place subnet_list_here(const struct reader *r)
{
	return (struct dl_fabric_parsed_place){ r->records.file, r->t.line };
}

static int read_field(struct dl_text *t, const char *name, uint64_t max, const char *what,
		      uint64_t *out)
{
	if (!dl_text_take_string(t, name))
		return dl_text_expected(t, name);
	return dl_text_number(t, 16, max, what, out);
}

static int subnet_list_read_type(struct dl_text *t, uint8_t *type)
{
	if (!dl_text_take(t, '{'))
		return dl_text_expected(t, "{");
	if (dl_text_take_string(t, "SW"))
		*type = DL_FABRIC_SWITCH;
	else if (dl_text_take_string(t, "CA"))
		*type = DL_FABRIC_CA;
	else if (dl_text_take_string(t, "Rt"))
		*type = DL_FABRIC_ROUTER;
	else
		return dl_text_expected(t, "SW, CA or Rt");
	dl_text_take_string(t, "-SM");
	return 0;
}

#define DESC_BYTES 64 /* IBA volume 1, 14.2.5.2: NodeDescription */

/* How long is "} LID:hex PN:hex }", if it stands here?  Else 0. */
static size_t tail_length(const char *at)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *start = at;

	if (strncmp(at, "} LID:", 6))
		return 0;
	at += 6 + strspn(at + 6, digits);
	if (strncmp(at, " PN:", 4))
		return 0;
	at += 4 + strspn(at + 4, digits);
	return strncmp(at, " }", 2) ? 0 : at + 2 - start;
}

/* Does the far end begin here? */
static bool is_next(const char *at)
{
	at += strspn(at, " \t");
	if (strncmp(at, "{ SW", 4) && strncmp(at, "{ CA", 4) && strncmp(at, "{ Rt", 4))
		return false;
	at += 4;
	at += strncmp(at, "-SM", 3) ? 0 : 3;
	for (unsigned int i = 0; i < NFIELDS; i++) {
		at += strspn(at, " \t");
		if (strncmp(at, fields[i].name, strlen(fields[i].name)))
			return false;
		at += strlen(fields[i].name);
		at += strspn(at, "0123456789abcdefABCDEF");
	}
	return true;
}

/*
 * A description may hold anything, also what looks like its own end, such as
 * "x} LID:1 PN:1 }".  The true end of the near one is that which the far port
 * follows, as a whole, which does not fit into the 64 bytes of a description; that
 * of the far one is the last, since no description follows it.
 */
static int read_desc(struct reader *r, bool far, uint32_t *out)
{
	char *begin, *end, *last = NULL;

	if (!dl_text_take(&r->t, '{'))
		return dl_text_expected(&r->t, "{ and a description");
	begin = r->t.at;
	for (end = strchr(begin, '}'); end && end - begin <= DESC_BYTES && (far || !last);
	     end = strchr(end + 1, '}')) {
		size_t len = tail_length(end);

		bool more = len && is_next(end + len);

		if (far && more)
			break; /* a third port */
		if (len && (far || more))
			last = end;
	}
	if (!last || (far && end && end - begin <= DESC_BYTES))
		return dl_text_expected(&r->t, "a description and } LID:.. PN:.. }");
	r->t.at = last + 1;
	return dl_fabric_parsed_string(&r->d, begin, last - begin, out);
}

/* *good becomes false: the port claims what cannot be. */
static int subnet_list_read_end(struct reader *r, bool far, struct dl_fabric_record *e, bool *good)
{
	uint64_t v[NFIELDS], lid = 0, num = 0;
	struct dl_text *t = &r->t;
	int err;

	*e = (struct dl_fabric_record){ .line = t->line };
	err = subnet_list_read_type(t, &e->type);
	for (unsigned int i = 0; i < NFIELDS && !err; i++)
		err = read_field(t, fields[i].name, fields[i].max, fields[i].what, &v[i]);
	if (!err)
		err = read_desc(r, far, &e->desc);
	if (!err)
		err = read_field(t, "LID:", UINT16_MAX, "a LID, at most FFFF", &lid);
	if (!err)
		err = read_field(t, "PN:", UINT8_MAX, "a port", &num);
	if (err)
		return err;
	if (!dl_text_take(t, '}'))
		return dl_text_expected(t, "}");
	if (!v[NODE])
		return dl_text_error(t, "NodeGUID 0: expected another one");
	v[PORTS] = dl_fabric_ports(r->d.log, v[PORTS], v[NODE], r->d.strings + e->desc);
	if (!num || num > v[PORTS]) {
		dl_fabric_parsed_left_out(&r->d, subnet_list_here(r),
					  "node 0x%016" PRIx64 " \"%.64s\" claims port %u of %u",
					  v[NODE], r->d.strings + e->desc, (unsigned int)num,
					  (unsigned int)v[PORTS]);
		*good = false;
	}
	if (far && !(v[DEVICE] & 0xffff)) /* OpenSM's shift */
		v[DEVICE] >>= 16;
	if (v[DEVICE] > UINT16_MAX)
		return dl_text_error(t, "DevID:%08" PRIX64 ": expected 16 bits", v[DEVICE]);
	e->guid = v[NODE];
	e->system_guid = v[SYSTEM];
	e->port_guid = v[PORT];
	e->vendor = v[VENDOR];
	e->device = v[DEVICE];
	e->nports = v[PORTS];
	e->lid = lid;
	e->num = num;
	return 0;
}

/* "PHY=4x" and the like; the word's length, 0 when it is not there. */
static size_t take_word(struct dl_text *t, const char *name, const char **word)
{
	size_t len;

	if (!dl_text_take_string(t, name))
		return 0;
	*word = t->at;
	len = strcspn(t->at, " \t");
	t->at += len;
	return len;
}

static bool is_unknown(const char *word, size_t len)
{
	return len == 2 && !memcmp(word, "??", 2);
}

static int subnet_list_read_cable(struct dl_text *t, struct dl_fabric_record *near)
{
	const char *word = "";
	char *at = t->at;
	size_t len;

	len = take_word(t, "PHY=", &word);
	near->widths = dl_fabric_widths_up_to(dl_fabric_width_of(word, len));
	if (!near->widths && !is_unknown(word, len)) {
		t->at = at;
		return dl_text_expected(t, "PHY= and 1x, 2x, 4x, 8x or 12x");
	}
	if (!take_word(t, "LOG=", &word))
		return dl_text_expected(t, "LOG= and a state");
	at = t->at;
	len = take_word(t, "SPD=", &word);
	near->speeds = dl_fabric_speeds_up_to(dl_fabric_speed_of_rate(word, len));
	if (!near->speeds && !is_unknown(word, len)) {
		t->at = at;
		return dl_text_expected(t, "SPD= and 2.5, 5, 10, FDR10, 14, 25, 50, 100 or 200");
	}
	return dl_text_at_end(t) ? 0 : dl_text_expected(t, "the end of the line");
}

static int subnet_list_read_line(struct reader *r)
{
	struct dl_fabric_record near, far;
	bool good = true;
	int err;

	if (dl_text_at_end(&r->t))
		return 0;
	err = subnet_list_read_end(r, false, &near, &good);
	if (!err)
		err = subnet_list_read_end(r, true, &far, &good);
	if (!err)
		err = subnet_list_read_cable(&r->t, &near);
	return err || !good ? err : dl_fabric_records_add(&r->records, &near, &far);
}

int dl_fabric_read_subnet_list_stream(FILE *from, const char *name, const struct dl_log *log,
				      struct dl_fabric **out)
{
	struct reader r = { .records.d = &r.d };
	int err;

	dl_text_begin(&r.t, from, name, log);
	r.t.whole = true;
	err = dl_fabric_parsed_begin(&r.d, log);
	if (!err)
		err = dl_fabric_parsed_string(&r.d, name, strlen(name), &r.records.file);
	while (!err) {
		err = dl_text_next(&r.t);
		if (err <= 0)
			break;
		err = subnet_list_read_line(&r);
	}
	if (!err)
		err = dl_fabric_records_fill(&r.records);
	if (!err)
		err = dl_fabric_parsed_build(&r.d, out);
	if (err == -ENOMEM)
		dl_log(log, DL_LOG_ERROR, "%s: out of memory", name);
	dl_text_end(&r.t);
	dl_fabric_parsed_end(&r.d);
	free(r.records.record);
	return err;
}

int dl_fabric_read_subnet_list(const char *path, const struct dl_log *log, struct dl_fabric **out)
{
	return dl_fabric_read_file(path, dl_fabric_read_subnet_list_stream, log, out);
}

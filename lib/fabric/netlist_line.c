/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The lines of a netlist, each by itself; see netlist_read.c. */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "fabric/internal.h"

static struct dl_fabric_parsed_place netlist_here(const struct dl_fabric_netlist *r)
{
	return (struct dl_fabric_parsed_place){ r->file, r->t->line };
}

/* After the last token: nothing, or a comment. */
static int end_of_statement(struct dl_fabric_netlist *r, const char *what)
{
	if (dl_text_at_end(r->t) || *r->t->at == '#')
		return 0;
	return dl_text_expected(r->t, what);
}

/* ---- comments ----------------------------------------------------------- */

/*
 * Comments in a netlist.  ibnetdiscover puts there what it knows beyond the
 * cabling:
 *
 *   # "<description>" enhanced port 0 lid 5 lmc 0	behind a switch
 *   # "<description>"					behind an adapter
 *   # "<far end's>" lid 8 4xQDR			a switch's port
 *   # lid 8 lmc 0 "<far end's>" lid 5 4xQDR		an adapter's port
 *
 * and, with --full, sets of widths and speeds and the code of the VLs (v=4).
 * A description may hold quotes itself, so it goes from the first to the last
 * of the line.  People write comments too: what does not look like one of
 * these words is passed over.
 */
/* What a comment says that ibnetdiscover wrote. */
struct comment {
	const char *desc; /* NULL: none; not ended by NUL */
	size_t desc_len;
	struct {
		uint64_t lid, lmc;
	} own, far;			/* before and after the description */
	unsigned int width, speed, vls; /* 0: not said */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Read "lid N" or "lmc N" if it stands at `at`. */
static int comment_number(struct dl_text *t, const char *word, size_t len, uint64_t max,
			  const char *what, uint64_t *out)
{
	const char *next = t->at + len;

	if (len != 3 || strncmp(t->at, word, 3))
		return 0;
	while (is_blank(*next))
		next++;
	if (!isdigit((unsigned char)*next))
		return 0;
	t->at += len;
	return dl_text_number(t, 10, max, what, out);
}

/*
 * "4xQDR", also "4x??", and ibnetdiscover --full's "v=4", PortInfo's
 * VLCap.  A width with another word behind it is a speed that nobody
 * knows, and none is guessed.
 */
static int comment_annotation(struct dl_text *t, const char *word, size_t len, struct comment *c)
{
	const char *x = memchr(word, 'x', len);
	unsigned int width, speed;

	if (len == 3 && word[0] == 'v' && word[1] == '=' && word[2] >= '0' && word[2] <= '5')
		c->vls = dl_fabric_vls_of_code(word[2] - '0');
	if (!x)
		return 0;
	width = dl_fabric_width_of(word, x + 1 - word);
	speed = dl_fabric_speed_of(x + 1, len - (x + 1 - word));
	if (width && !speed && isalpha((unsigned char)x[1]))
		return dl_text_error(t, "\"%.*s\": expected a speed from SDR to XDR", (int)len,
				     word);
	if (width && speed) {
		c->width = width;
		c->speed = speed;
	}
	return 0;
}

/* The words from t->at to `end`. */
static int comment_words(struct dl_text *t, const char *end, bool far, struct comment *c)
{
	uint64_t *lid = far ? &c->far.lid : &c->own.lid;
	uint64_t *lmc = far ? &c->far.lmc : &c->own.lmc;
	int err = 0;

	while (!err) {
		char *word;
		size_t len = 0;

		while (t->at < end && is_blank(*t->at))
			t->at++;
		word = t->at;
		if (word >= end)
			break;
		while (word + len < end && !is_blank(word[len]))
			len++;
		err = comment_annotation(t, word, len, c);
		if (!err)
			err = comment_number(t, "lid", len, UINT16_MAX, "a LID, 16 bits", lid);
		if (!err && t->at == word)
			err = comment_number(t, "lmc", len, DL_FABRIC_MAX_LMC, "an LMC, at most 7",
					     lmc);
		if (t->at == word)
			t->at += len;
	}
	return err;
}

/*
 * Read the comment that may stand at `at`, up to the end of the line.  0, or
 * -EINVAL: a LID or LMC out of range, or no known speed, reported.
 */
static int read_comment(struct dl_text *t, struct comment *c)
{
	char *first, *last, *end = t->at + strlen(t->at);
	int err;

	*c = (struct comment){ 0 };
	if (!dl_text_take(t, '#'))
		return 0;
	first = strchr(t->at, '"');
	last = strrchr(t->at, '"');
	if (!first || first == last)
		return comment_words(t, end, false, c);
	err = comment_words(t, first, false, c);
	if (err)
		return err;
	c->desc = first + 1;
	c->desc_len = last - c->desc;
	t->at = last + 1;
	return comment_words(t, end, true, c);
}

/* ---- statements --------------------------------------------------------- */

static int netlist_read_guid(struct dl_fabric_netlist *r, unsigned int type)
{
	struct dl_text *t = r->t;
	uint64_t value, port = 0;
	bool more;
	int err;

	more = !dl_text_take(t, '=');
	if (more && !dl_text_take(t, '+'))
		return dl_text_expected(t, "= or + and a GUID");
	err = dl_text_number(t, 0, UINT64_MAX, "a GUID", &value);
	if (!err && dl_text_take(t, '(')) {
		err = dl_text_number(t, 16, UINT64_MAX, "a port's GUID", &port);
		if (!err && !dl_text_take(t, ')'))
			err = dl_text_expected(t, ")");
	}
	if (!err)
		err = end_of_statement(r, "(, # or the end of the line");
	if (err)
		return err;
	if (!more)
		r->guid_base[type] = value;
	r->guid[type] = more ? r->guid_base[type] + value : value;
	r->port_guid[type] = port;
	r->guid_said[type] = true;
	return 0;
}

/* Numbers of the next node: vendor, device and system GUID. */
enum { NEXT_VENDOR, NEXT_DEVICE, NEXT_SYSTEM };

static int read_value(struct dl_fabric_netlist *r, unsigned int which)
{
	static const struct {
		uint64_t max;
		const char *what;
	} values[] = {
		[NEXT_VENDOR] = { UINT32_MAX, "a vendor, 32 bits" },
		[NEXT_DEVICE] = { UINT16_MAX, "a device, 16 bits" },
		[NEXT_SYSTEM] = { UINT64_MAX, "a GUID" },
	};
	uint64_t value;
	int err;

	if (!dl_text_take(r->t, '='))
		return dl_text_expected(r->t, "=");
	err = dl_text_number(r->t, 0, values[which].max, values[which].what, &value);
	if (!err)
		err = end_of_statement(r, "# or the end of the line");
	if (err)
		return err;
	if (which == NEXT_VENDOR)
		r->next.vendor = value;
	else if (which == NEXT_DEVICE)
		r->next.device = value;
	else
		r->next.system_guid = value;
	return 0;
}

static int read_id(struct dl_fabric_netlist *r, const char *what, const char **id, size_t *len)
{
	char *at = r->t->at;
	int err = dl_text_quoted(r->t, what, id, len);
	size_t i;

	if (err)
		return err;
	for (i = 0; i < *len; i++) {
		unsigned char c = (*id)[i];

		if (c == '#' || c == '@' || iscntrl(c))
			break;
	}
	if (*len && i == *len)
		return 0;
	r->t->at = at;
	return dl_text_expected(r->t, "an id of one character or more, "
				      "without #, @ and control characters");
}

/* "S-0002c90300001110": the GUID in an id in ibnetdiscover's form, or 0. */
static uint64_t guid_in_id(unsigned int type, const char *id, size_t len)
{
	uint64_t guid;

	if (len != 18 || id[0] != dl_fabric_letter(type) || id[1] != '-')
		return 0;
	for (size_t i = 2; i < len; i++) {
		if (!isxdigit((unsigned char)id[i]))
			return 0;
	}
	dl_number_scan(id + 2, 16, &guid); /* up to the quote */
	return guid;
}

static void take_guid(struct dl_fabric_netlist *r, const char *id, size_t len)
{
	unsigned int type = r->next.type;
	uint64_t guid = guid_in_id(type, id, len);

	if (!r->guid_said[type] && guid) {
		r->next.guid = guid;
		return;
	}
	r->next.guid = r->guid[type];
	r->guid[type] += type == DL_FABRIC_SWITCH ? 1 : r->next.nports + 1u;
}

static int add_switch_end(struct dl_fabric_netlist *r, const struct comment *c)
{
	struct dl_fabric_parsed_end end = {
		.guid = r->port_guid[DL_FABRIC_SWITCH],
		.node = r->node,
		.place = netlist_here(r),
		.lid = c->desc ? c->far.lid : c->own.lid,
		.lmc = c->desc ? c->far.lmc : c->own.lmc,
	};

	return end.guid || end.lid ? dl_fabric_parsed_add_end(&r->d, &end) : 0;
}

static int read_header(struct dl_fabric_netlist *r, unsigned int type)
{
	struct comment c;
	const char *id;
	uint64_t nports;
	size_t len;
	int err;

	r->next.type = type;
	r->next.place = netlist_here(r);
	err = dl_text_number(r->t, 10, UINT8_MAX, "a number of ports, 1 to 254", &nports);
	if (!err)
		err = read_id(r, "a node id in quotes", &id, &len);
	if (!err)
		err = end_of_statement(r, "# or the end of the line");
	if (err)
		return err;
	err = dl_fabric_parsed_string(&r->d, id, len, &r->next.id);
	if (err)
		return err;
	r->next.nports = dl_fabric_ports(r->d.log, nports, guid_in_id(type, id, len),
					 r->d.strings + r->next.id);
	take_guid(r, id, len);
	err = read_comment(r->t, &c);
	if (!err && c.desc_len)
		err = dl_fabric_parsed_string(&r->d, c.desc, c.desc_len, &r->next.desc);
	if (!err)
		err = dl_fabric_parsed_add_node(&r->d, &r->next);
	if (err)
		return err;
	r->node = r->d.nnodes - 1;
	memset(r->port_line, 0, sizeof(r->port_line));
	if (type == DL_FABRIC_SWITCH)
		err = add_switch_end(r, &c);
	r->next = (struct dl_fabric_parsed_node){ 0 };
	r->guid_said[type] = false;
	r->port_guid[type] = 0;
	return err;
}

/* ---- port lines --------------------------------------------------------- */

/* "[3]" and, in a chassis, "[ext 3]".  Without brackets *out stays. */
static int netlist_read_port(struct dl_fabric_netlist *r, unsigned int max, const char *what,
			     uint64_t *out)
{
	uint64_t external;
	int err;

	if (!dl_text_take(r->t, '['))
		return 0;
	err = dl_text_number(r->t, 10, max, what, out);
	if (!err && !dl_text_take(r->t, ']'))
		err = dl_text_expected(r->t, "]");
	if (err || !dl_text_take_string(r->t, "[ext"))
		return err;
	err = dl_text_number(r->t, 10, UINT32_MAX, "a chassis port", &external);
	if (!err && !dl_text_take(r->t, ']'))
		err = dl_text_expected(r->t, "]");
	return err;
}

/* "(2c90300001111)"; without parentheses *out stays. */
static int read_port_guid(struct dl_fabric_netlist *r, uint64_t *out)
{
	int err;

	if (!dl_text_take(r->t, '('))
		return 0;
	err = dl_text_number(r->t, 16, UINT64_MAX, "a port's GUID", out);
	if (!err && !dl_text_take(r->t, ')'))
		err = dl_text_expected(r->t, ")");
	return err;
}

/* ibsim's w=, s= and e=: sets of widths, speeds and extended speeds. */
static int read_options(struct dl_fabric_netlist *r, struct dl_fabric_parsed_link *link)
{
	uint64_t w = 2, s = 1, e = 0;
	int err = 0;

	while (!err && !dl_text_at_end(r->t) && *r->t->at != '#') {
		if (dl_text_take_string(r->t, "w="))
			err = dl_text_number(r->t, 0, 31, "a set of widths, 1 to 31", &w);
		else if (dl_text_take_string(r->t, "s="))
			err = dl_text_number(r->t, 0, 7, "a set of speeds, 1 to 7", &s);
		else if (dl_text_take_string(r->t, "e="))
			err = dl_text_number(r->t, 0, 7, "a set of extended speeds, 0 to 7", &e);
		else
			err = dl_text_expected(r->t, "w=, s=, e=, # or the end of the line");
		dl_text_take(r->t, ',');
	}
	if (!err && (!w || !s))
		err = dl_text_error(r->t, "an empty set of %s: expected one at least",
				    w ? "speeds" : "widths");
	if (err)
		return err;
	for (; w; w &= w - 1)
		link->widths |= 1u << dl_fabric_width_of_code(w & -w);
	link->speeds = s << DL_FABRIC_SDR | e << DL_FABRIC_FDR;
	return 0;
}

static int add_ca_end(struct dl_fabric_netlist *r, uint64_t num, uint64_t guid,
		      const struct comment *c)
{
	struct dl_fabric_parsed_end end = {
		.guid = guid,
		.node = r->node,
		.num = num,
		.place = netlist_here(r),
		.lid = c->own.lid,
		.lmc = c->own.lmc,
	};

	return guid || end.lid ? dl_fabric_parsed_add_end(&r->d, &end) : 0;
}

static int netlist_add_port(struct dl_fabric_netlist *r, struct dl_fabric_parsed_link *link,
			    uint64_t num, uint64_t guid)
{
	struct comment c;
	int err = read_comment(r->t, &c);

	if (err)
		return err;
	if (r->port_line[num])
		return dl_text_error(r->t,
				     "port %u: expected another one, line %u gives it already",
				     (unsigned int)num, r->port_line[num]);
	r->port_line[num] = r->t->line;
	if (c.width) {
		link->widths = dl_fabric_widths_up_to(c.width);
		link->speeds = dl_fabric_speeds_up_to(c.speed);
	}
	link->vls = c.vls;
	err = dl_fabric_parsed_add_link(&r->d, link);
	if (!err && r->d.nodes[r->node].type != DL_FABRIC_SWITCH)
		err = add_ca_end(r, num, guid, &c);
	return err;
}

static int netlist_read_port_line(struct dl_fabric_netlist *r)
{
	struct dl_fabric_parsed_link link = { .node = r->node, .place = netlist_here(r) };
	uint64_t num = 0, peer_num = 1, guid = 0, peer_guid;
	const char *id;
	size_t len;
	int err;

	if (r->node == DL_NONE)
		return dl_text_expected(r->t, "a Switch, Ca, Hca or Rt line before its ports");
	err = netlist_read_port(r, UINT8_MAX, "a port, 1 to 254", &num);
	if (!err && (!num || num > r->d.nodes[r->node].nports)) {
		dl_fabric_parsed_left_out(&r->d, link.place, "port %u of \"%.64s\", which has %u",
					  (unsigned int)num, r->d.strings + r->d.nodes[r->node].id,
					  r->d.nodes[r->node].nports);
		return 0;
	}
	if (!err)
		err = read_port_guid(r, &guid);
	if (!err)
		err = read_id(r, "a peer's id in quotes", &id, &len);
	if (!err)
		err = netlist_read_port(r, UINT8_MAX, "a port, 1 to 254", &peer_num);
	if (!err)
		err = read_port_guid(r, &peer_guid);
	if (!err)
		err = read_options(r, &link);
	/* The peer is a name until all nodes are known. */
	if (!err)
		err = dl_fabric_parsed_string(&r->d, id, len, &link.peer);
	if (err)
		return err;
	link.num = num;
	link.peer_num = peer_num;
	return netlist_add_port(r, &link, num, guid);
}

/* ---- all lines ---------------------------------------------------------- */

static int read_include(struct dl_fabric_netlist *r, unsigned int unused)
{
	(void)unused;
	return dl_fabric_netlist_include(r);
}

static int read_do(struct dl_fabric_netlist *r, unsigned int unused)
{
	(void)unused;
	dl_log(r->t->log, DL_LOG_VERBOSE, "%s:%u: a command for ibsim, passed over:%.200s",
	       r->t->name, r->t->line, r->t->at);
	return 0;
}

/* Headings of ibnetdiscover -g. */
static int netlist_read_heading(struct dl_fabric_netlist *r, unsigned int unused)
{
	(void)r;
	(void)unused;
	return 0;
}

static const struct {
	const char *word;
	int (*read)(struct dl_fabric_netlist *r, unsigned int type);
	unsigned int type;
} statements[] = {
	{ "Switch", read_header, DL_FABRIC_SWITCH },
	{ "Ca", read_header, DL_FABRIC_CA },
	{ "Hca", read_header, DL_FABRIC_CA },
	{ "Rt", read_header, DL_FABRIC_ROUTER },
	{ "switchguid", netlist_read_guid, DL_FABRIC_SWITCH },
	{ "caguid", netlist_read_guid, DL_FABRIC_CA },
	{ "hcaguid", netlist_read_guid, DL_FABRIC_CA },
	{ "rtguid", netlist_read_guid, DL_FABRIC_ROUTER },
	{ "vendid", read_value, NEXT_VENDOR },
	{ "devid", read_value, NEXT_DEVICE },
	{ "sysimgguid", read_value, NEXT_SYSTEM },
	{ "include", read_include, 0 },
	{ "do", read_do, 0 },
	{ "Chassis", netlist_read_heading, 0 },
	{ "Non-Chassis", netlist_read_heading, 0 },
};

#define NSTATEMENTS (sizeof(statements) / sizeof(*statements))

/* ibsim ends a node's ports at an empty line only, and loses this one. */
static void warn_after_port(struct dl_fabric_netlist *r)
{
	if (!r->after_port || r->warned)
		return;
	r->warned = true;
	dl_log(r->t->log, DL_LOG_WARNING,
	       "%s:%u: no empty line after the ports above: ibsim would pass over this line",
	       r->t->name, r->t->line);
}

int dl_fabric_netlist_line(struct dl_fabric_netlist *r)
{
	struct dl_text *t = r->t;
	size_t len = 0;

	if (dl_text_at_end(t)) {
		r->after_port = false;
		return 0;
	}
	if (*t->at == '#')
		return 0;
	r->begun = true;
	if (*t->at == '[') {
		r->after_port = true;
		return netlist_read_port_line(r);
	}
	warn_after_port(r);
	r->after_port = false;
	while (isalpha((unsigned char)t->at[len]) || t->at[len] == '-')
		len++;
	for (size_t i = 0; i < NSTATEMENTS; i++) {
		if (strlen(statements[i].word) == len && !memcmp(statements[i].word, t->at, len)) {
			t->at += len;
			return statements[i].read(r, statements[i].type);
		}
	}
	return dl_text_expected(t, "Switch, Ca, Hca, Rt, switchguid=, caguid=, "
				   "rtguid=, sysimgguid=, vendid=, devid=, "
				   "include, do, [port] or #");
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The netlist: what ibnetdiscover writes and ibsim reads.
 *
 * Grammar, line by line; anything in () may be left out, # begins a comment:
 *
 *   vendid=N   devid=N   sysimgguid=N
 *   switchguid=N((port GUID))   caguid=   hcaguid=   rtguid=
 *   switchguid+N                                    (ibsim)
 *   Switch|Ca|Hca|Rt  <ports>  "<id>"  (# "<description>" ... lid N lmc N)
 *   [port]((GUID))  "<id>"([port])((GUID))  (w=N s=N e=N)
 *                                 (# lid N lmc N "<description>" ... 4xQDR)
 *   include "<file>"   do <command>                 (ibsim)
 *   Chassis ...                                     (ibnetdiscover -g)
 *
 * Comments carry what ibnetdiscover knows beyond the cabling: descriptions,
 * LIDs, width and speed.  Whatever else stands there is passed over; outside
 * of comments nothing is.
 *
 * GUIDs.  A node without a GUID line gets the one that ibsim would give it:
 * each type counts on from its last GUID line (at first from 0x200000 for
 * switches, 0x100000 for adapters, 0 for routers), a switch taking one GUID,
 * the others one more than they have ports.  The exception are ids in
 * ibnetdiscover's own form, S-, H- or R- and 16 digits, which are a GUID.
 *
 * ibsim's width and speed options are sets of bits, as in PortInfo.
 *
 * Complexity.  Peers may be declared after they are named, so ids are looked
 * up at the end, in a sorted array: O(n log n) whatever the names are.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fabric/draft.h"
#include "fabric/text.h"
#include "log.h"

#define MAX_DEPTH 16		/* of files included by files */
#define MAX_INCLUDES 1024	/* in all */

struct reader {
	struct dl_draft d;
	struct dl_text *t;	/* of the file being read */
	/* Said ahead of a header. */
	struct dl_draft_node next;
	uint64_t guid[4], guid_base[4];	/* by node type */
	uint64_t port_guid[4];		/* of port 0; 0: not said */
	bool guid_said[4];
	uint32_t node;			/* of port lines, or DL_NONE */
	uint32_t port_line[DL_MAX_PORTS + 1];	/* of this node's ports */
	bool after_port, warned;
	/* Files being read, to refuse cycles. */
	struct {
		dev_t dev;
		ino_t ino;
	} open[MAX_DEPTH];
	unsigned int depth, includes;
	uint32_t file;			/* this file's name in the strings */
};

static struct dl_place here(const struct reader *r)
{
	return (struct dl_place) { r->file, r->t->line };
}

/* After the last token: nothing, or a comment. */
static int end_of_statement(struct reader *r, const char *what)
{
	if (dl_text_at_end(r->t) || *r->t->at == '#')
		return 0;
	return dl_text_expected(r->t, what);
}

/* ---- comments ----------------------------------------------------------- */

struct comment {
	const char *desc;	/* NULL: none */
	size_t desc_len;
	struct {
		uint64_t lid, lmc;
	} own, far;		/* before and after the description */
	unsigned int width, speed, vls;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Read "lid N" or "lmc N" if it stands at *at. */
static int comment_number(struct reader *r, const char *word, size_t len,
			  uint64_t max, const char *what, uint64_t *out)
{
	const char *next = r->t->at + len;

	if (len != 3 || strncmp(r->t->at, word, 3))
		return 0;
	while (is_blank(*next))
		next++;
	if (!isdigit((unsigned char)*next))
		return 0;
	r->t->at += len;
	return dl_text_number(r->t, 10, max, what, out);
}

/* "4xQDR" and ibnetdiscover --full's "v=4", PortInfo's OperationalVLs. */
static void comment_annotation(const char *word, size_t len, struct comment *c)
{
	static const uint8_t vls[] = { 0, 1, 2, 4, 8, 15 };
	const char *x = memchr(word, 'x', len);
	unsigned int width, speed;

	if (len == 3 && word[0] == 'v' && word[1] == '=' && word[2] >= '0' &&
	    word[2] <= '5')
		c->vls = vls[word[2] - '0'];
	if (!x)
		return;
	width = dl_width_of(word, x + 1 - word);
	speed = dl_speed_of(x + 1, len - (x + 1 - word));
	if (width && speed) {
		c->width = width;
		c->speed = speed;
	}
}

/* The words from t->at to `end`. */
static int comment_words(struct reader *r, const char *end, bool far,
			 struct comment *c)
{
	uint64_t *lid = far ? &c->far.lid : &c->own.lid;
	uint64_t *lmc = far ? &c->far.lmc : &c->own.lmc;
	int err = 0;

	while (!err) {
		char *word;
		size_t len = 0;

		while (r->t->at < end && is_blank(*r->t->at))
			r->t->at++;
		word = r->t->at;
		if (word >= end)
			break;
		while (word + len < end && !is_blank(word[len]))
			len++;
		comment_annotation(word, len, c);
		err = comment_number(r, "lid", len, DL_MAX_LID,
				     "a unicast LID, at most 49151", lid);
		if (!err && r->t->at == word)
			err = comment_number(r, "lmc", len, DL_MAX_LMC,
					     "an LMC, at most 7", lmc);
		if (r->t->at == word)
			r->t->at += len;
	}
	return err;
}

static int read_comment(struct reader *r, struct comment *c)
{
	char *first, *last, *end = r->t->at + strlen(r->t->at);
	int err;

	*c = (struct comment) { 0 };
	if (!dl_text_take(r->t, '#'))
		return 0;
	first = strchr(r->t->at, '"');
	last = strrchr(r->t->at, '"');
	if (!first || first == last)
		return comment_words(r, end, false, c);
	err = comment_words(r, first, false, c);
	if (err)
		return err;
	c->desc = first + 1;
	c->desc_len = last - c->desc;
	r->t->at = last + 1;
	return comment_words(r, end, true, c);
}

/* ---- statements --------------------------------------------------------- */

static int read_guid(struct reader *r, unsigned int type)
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

static int read_value(struct reader *r, uint64_t max, const char *what,
		      uint64_t *out)
{
	int err;

	if (!dl_text_take(r->t, '='))
		return dl_text_expected(r->t, "=");
	err = dl_text_number(r->t, 0, max, what, out);
	return err ? err : end_of_statement(r, "# or the end of the line");
}

static int read_vendor(struct reader *r, unsigned int unused)
{
	uint64_t value;
	int err = read_value(r, UINT32_MAX, "a vendor, 32 bits", &value);

	(void)unused;
	if (!err)
		r->next.vendor = value;
	return err;
}

static int read_device(struct reader *r, unsigned int unused)
{
	uint64_t value;
	int err = read_value(r, UINT16_MAX, "a device, 16 bits", &value);

	(void)unused;
	if (!err)
		r->next.device = value;
	return err;
}

static int read_system(struct reader *r, unsigned int unused)
{
	(void)unused;
	return read_value(r, UINT64_MAX, "a GUID", &r->next.system_guid);
}

static int read_id(struct reader *r, const char *what, const char **id,
		   size_t *len)
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
	static const char prefix[] = {
		[DL_CA] = 'H', [DL_SWITCH] = 'S', [DL_ROUTER] = 'R',
	};
	uint64_t guid = 0;
	size_t i;

	if (len != 18 || id[0] != prefix[type] || id[1] != '-')
		return 0;
	for (i = 2; i < len; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = strchr(digits, tolower((unsigned char)id[i]));

		if (!digit)
			return 0;
		guid = guid << 4 | (digit - digits);
	}
	return guid;
}

static void take_guid(struct reader *r, const char *id, size_t len)
{
	unsigned int type = r->next.type;
	uint64_t guid = guid_in_id(type, id, len);

	if (!r->guid_said[type] && guid) {
		r->next.guid = guid;
		return;
	}
	r->next.guid = r->guid[type];
	r->guid[type] += type == DL_SWITCH ? 1 : r->next.nports + 1u;
}

static int add_switch_end(struct reader *r, const struct comment *c)
{
	struct dl_draft_end end = {
		.guid = r->port_guid[DL_SWITCH],
		.node = r->node,
		.place = here(r),
		.lid = c->desc ? c->far.lid : c->own.lid,
		.lmc = c->desc ? c->far.lmc : c->own.lmc,
	};

	return end.guid || end.lid ? dl_draft_add_end(&r->d, &end) : 0;
}

static int read_header(struct reader *r, unsigned int type)
{
	struct comment c;
	const char *id;
	uint64_t nports;
	size_t len;
	int err;

	r->next.type = type;
	r->next.place = here(r);
	err = dl_text_number(r->t, 10, DL_MAX_PORTS,
			     "a number of ports, 1 to 254", &nports);
	if (!err && !nports)
		err = dl_text_error(r->t, "0 ports: expected 1 to 254");
	if (!err)
		err = read_id(r, "a node id in quotes", &id, &len);
	if (!err)
		err = end_of_statement(r, "# or the end of the line");
	if (err)
		return err;
	r->next.nports = nports;
	take_guid(r, id, len);
	err = dl_draft_string(&r->d, id, len, &r->next.id);
	if (!err)
		err = read_comment(r, &c);
	if (!err && c.desc_len)
		err = dl_draft_string(&r->d, c.desc, c.desc_len,
				      &r->next.desc);
	if (!err)
		err = dl_draft_add_node(&r->d, &r->next);
	if (err)
		return err;
	r->node = r->d.nnodes - 1;
	memset(r->port_line, 0, sizeof(r->port_line));
	if (type == DL_SWITCH)
		err = add_switch_end(r, &c);
	r->next = (struct dl_draft_node) { 0 };
	r->guid_said[type] = false;
	r->port_guid[type] = 0;
	return err;
}

/* ---- port lines --------------------------------------------------------- */

/* "[3]" and, in a chassis, "[ext 3]".  Without brackets *out stays. */
static int read_port(struct reader *r, unsigned int max, const char *what,
		     uint64_t *out)
{
	uint64_t external;
	int err;

	if (!dl_text_take(r->t, '['))
		return 0;
	err = dl_text_number(r->t, 10, max, what, out);
	if (!err && !*out)
		err = dl_text_error(r->t, "port 0: expected %s", what);
	if (!err && !dl_text_take(r->t, ']'))
		err = dl_text_expected(r->t, "]");
	if (err || !dl_text_take_string(r->t, "[ext"))
		return err;
	err = dl_text_number(r->t, 10, UINT32_MAX, "a chassis port",
			     &external);
	if (!err && !dl_text_take(r->t, ']'))
		err = dl_text_expected(r->t, "]");
	return err;
}

/* "(2c90300001111)"; without parentheses *out stays. */
static int read_port_guid(struct reader *r, uint64_t *out)
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
static int read_options(struct reader *r, struct dl_draft_link *link)
{
	uint64_t w = 2, s = 1, e = 0;
	int err = 0;

	while (!err && !dl_text_at_end(r->t) && *r->t->at != '#') {
		if (dl_text_take_string(r->t, "w="))
			err = dl_text_number(r->t, 0, 31, "a set of widths, "
					     "1 to 31", &w);
		else if (dl_text_take_string(r->t, "s="))
			err = dl_text_number(r->t, 0, 7, "a set of speeds, "
					     "1 to 7", &s);
		else if (dl_text_take_string(r->t, "e="))
			err = dl_text_number(r->t, 0, 7, "a set of extended "
					     "speeds, 0 to 7", &e);
		else
			err = dl_text_expected(r->t, "w=, s=, e=, # or the "
					       "end of the line");
		dl_text_take(r->t, ',');
	}
	if (!err && (!w || !s))
		err = dl_text_error(r->t, "an empty set of %s: expected one "
				    "at least", w ? "speeds" : "widths");
	if (err)
		return err;
	link->widths = (w & 1 ? DL_WIDTH_1X : 0) | (w & 2 ? DL_WIDTH_4X : 0) |
		       (w & 4 ? DL_WIDTH_8X : 0) | (w & 8 ? DL_WIDTH_12X : 0) |
		       (w & 16 ? DL_WIDTH_2X : 0);
	link->speeds = s << DL_SDR | e << DL_FDR;
	return 0;
}

static int add_ca_end(struct reader *r, uint64_t num, uint64_t guid,
		      const struct comment *c)
{
	struct dl_draft_end end = {
		.guid = guid,
		.node = r->node,
		.num = num,
		.place = here(r),
		.lid = c->own.lid,
		.lmc = c->own.lmc,
	};

	return guid || end.lid ? dl_draft_add_end(&r->d, &end) : 0;
}

static int add_port(struct reader *r, struct dl_draft_link *link,
		    uint64_t num, uint64_t guid)
{
	struct comment c;
	int err = read_comment(r, &c);

	if (err)
		return err;
	if (r->port_line[num])
		return dl_text_error(r->t, "port %u: expected another one, "
				     "line %u gives it already",
				     (unsigned int)num, r->port_line[num]);
	r->port_line[num] = r->t->line;
	if (c.width) {
		link->widths = dl_widths_up_to(c.width);
		link->speeds = dl_speeds_up_to(c.speed);
	}
	link->vls = c.vls;
	err = dl_draft_add_link(&r->d, link);
	if (!err && r->d.nodes[r->node].type != DL_SWITCH)
		err = add_ca_end(r, num, guid, &c);
	return err;
}

static int read_port_line(struct reader *r)
{
	struct dl_draft_link link = { .node = r->node, .place = here(r) };
	uint64_t num = 0, peer_num = 1, guid = 0, peer_guid;
	char what[40];
	const char *id;
	size_t len;
	int err;

	if (r->node == DL_NONE)
		return dl_text_expected(r->t, "a Switch, Ca, Hca or Rt line "
					"before its ports");
	snprintf(what, sizeof(what), "a port, 1 to %u",
		 r->d.nodes[r->node].nports);
	err = read_port(r, r->d.nodes[r->node].nports, what, &num);
	if (!err)
		err = read_port_guid(r, &guid);
	if (!err)
		err = read_id(r, "a peer's id in quotes", &id, &len);
	if (!err)
		err = read_port(r, DL_MAX_PORTS, "a port, 1 to 254",
				&peer_num);
	if (!err)
		err = read_port_guid(r, &peer_guid);
	if (!err)
		err = read_options(r, &link);
	/* The peer is a name until all nodes are known. */
	if (!err)
		err = dl_draft_string(&r->d, id, len, &link.peer);
	if (err)
		return err;
	link.num = num;
	link.peer_num = peer_num;
	return add_port(r, &link, num, guid);
}

/* ---- lines and files ---------------------------------------------------- */

static int read_stream(struct reader *r, FILE *from, const char *name);

static int open_include(struct reader *r, const char *path)
{
	struct stat st;
	FILE *from;
	int err;

	/* Neither a pipe that never speaks nor a device that never ends. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return dl_text_error(r->t, "\"%s\": expected a plain file",
				     path);
	from = fopen(path, "r");
	if (!from)
		return dl_text_error(r->t, "\"%s\": %s", path,
				     strerror(errno));
	err = read_stream(r, from, path);
	fclose(from);
	return err;
}

static int read_include(struct reader *r, unsigned int unused)
{
	const char *name, *slash = strrchr(r->t->name, '/');
	size_t len, dir = slash ? slash + 1 - r->t->name : 0;
	char *path;
	int err;

	(void)unused;
	err = dl_text_quoted(r->t, "a file name in quotes", &name, &len);
	if (!err)
		err = end_of_statement(r, "# or the end of the line");
	if (err)
		return err;
	if (r->depth == MAX_DEPTH || r->includes == MAX_INCLUDES)
		return dl_text_error(r->t, "one include too many: expected "
				     "%u at most, %u deep", MAX_INCLUDES,
				     MAX_DEPTH);
	r->includes++;
	if (len && *name == '/')
		dir = 0;
	path = malloc(dir + len + 1);
	if (!path)
		return -ENOMEM;
	memcpy(path, r->t->name, dir);
	memcpy(path + dir, name, len);
	path[dir + len] = '\0';
	err = open_include(r, path);
	free(path);
	return err;
}

static int read_do(struct reader *r, unsigned int unused)
{
	(void)unused;
	dl_log(r->t->log, DL_VERBOSE, "%s:%u: a command for ibsim, passed "
	       "over:%.200s", r->t->name, r->t->line, r->t->at);
	return 0;
}

/* Headings of ibnetdiscover -g. */
static int read_heading(struct reader *r, unsigned int unused)
{
	(void)r;
	(void)unused;
	return 0;
}

static const struct {
	const char *word;
	int (*read)(struct reader *r, unsigned int type);
	unsigned int type;
} statements[] = {
	{ "Switch", read_header, DL_SWITCH },
	{ "Ca", read_header, DL_CA },
	{ "Hca", read_header, DL_CA },
	{ "Rt", read_header, DL_ROUTER },
	{ "switchguid", read_guid, DL_SWITCH },
	{ "caguid", read_guid, DL_CA },
	{ "hcaguid", read_guid, DL_CA },
	{ "rtguid", read_guid, DL_ROUTER },
	{ "vendid", read_vendor, 0 },
	{ "devid", read_device, 0 },
	{ "sysimgguid", read_system, 0 },
	{ "include", read_include, 0 },
	{ "do", read_do, 0 },
	{ "Chassis", read_heading, 0 },
	{ "Non-Chassis", read_heading, 0 },
};

#define NSTATEMENTS (sizeof(statements) / sizeof(*statements))

/* ibsim ends a node's ports at an empty line only, and loses this one. */
static void warn_after_port(struct reader *r)
{
	if (!r->after_port || r->warned)
		return;
	r->warned = true;
	dl_log(r->t->log, DL_WARNING, "%s:%u: no empty line after the ports "
	       "above: ibsim would pass over this line", r->t->name,
	       r->t->line);
}

static int read_line(struct reader *r)
{
	struct dl_text *t = r->t;
	size_t len = 0, i;

	if (dl_text_at_end(t)) {
		r->after_port = false;
		return 0;
	}
	if (*t->at == '#')
		return 0;
	if (*t->at == '[') {
		r->after_port = true;
		return read_port_line(r);
	}
	warn_after_port(r);
	r->after_port = false;
	while (isalpha((unsigned char)t->at[len]) || t->at[len] == '-')
		len++;
	for (i = 0; i < NSTATEMENTS; i++) {
		if (strlen(statements[i].word) == len &&
		    !memcmp(statements[i].word, t->at, len)) {
			t->at += len;
			return statements[i].read(r, statements[i].type);
		}
	}
	return dl_text_expected(t, "Switch, Ca, Hca, Rt, switchguid=, caguid=, "
				"rtguid=, sysimgguid=, vendid=, devid=, "
				"include, do, [port] or #");
}

static bool is_open(struct reader *r, FILE *from)
{
	struct stat st = { 0 };
	unsigned int i;

	r->open[r->depth].dev = 0;
	r->open[r->depth].ino = 0;
	if (fileno(from) < 0 || fstat(fileno(from), &st))
		return false;
	for (i = 0; i < r->depth; i++) {
		if (r->open[i].dev == st.st_dev && r->open[i].ino == st.st_ino)
			return true;
	}
	r->open[r->depth].dev = st.st_dev;
	r->open[r->depth].ino = st.st_ino;
	return false;
}

/* Read one file; r->t is the file that includes it, or NULL. */
static int read_stream(struct reader *r, FILE *from, const char *name)
{
	struct dl_text text, *outer = r->t;
	uint32_t outer_file = r->file;
	int err;

	if (is_open(r, from))
		return dl_text_error(outer, "\"%s\": expected a file that "
				     "does not include this one", name);
	err = dl_draft_string(&r->d, name, strlen(name), &r->file);
	if (err)
		return err;
	dl_text_begin(&text, from, name, r->d.log);
	r->t = &text;
	r->depth++;
	r->node = DL_NONE;
	while ((err = dl_text_next(&text)) > 0) {
		err = read_line(r);
		if (err)
			break;
	}
	r->node = DL_NONE;
	r->after_port = false;
	r->depth--;
	r->t = outer;
	r->file = outer_file;
	dl_text_end(&text);
	return err;
}

/* ---- peers -------------------------------------------------------------- */

static int compare_ids(const void *left, const void *right, void *draft)
{
	const uint32_t *a = left, *b = right;
	const struct dl_draft *d = draft;
	int order = strcmp(d->strings + d->nodes[*a].id,
			   d->strings + d->nodes[*b].id);

	return order ? order : *a < *b ? -1 : *a > *b;
}

static uint32_t find_id(const struct dl_draft *d, const uint32_t *by_id,
			const char *id)
{
	uint32_t low = 0, high = d->nnodes;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(d->strings + d->nodes[by_id[middle]].id, id);

		if (!order)
			return by_id[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return DL_NONE;
}

static int check_ids(const struct dl_draft *d, const uint32_t *by_id)
{
	uint32_t i;

	for (i = 1; i < d->nnodes; i++) {
		const struct dl_draft_node *a = &d->nodes[by_id[i - 1]];
		const struct dl_draft_node *b = &d->nodes[by_id[i]];

		if (!strcmp(d->strings + a->id, d->strings + b->id))
			return dl_draft_error(d, b->place, "\"%.64s\": "
				"expected an id of its own, %s:%u has the "
				"same", d->strings + b->id,
				d->strings + a->place.file, a->place.line);
	}
	return 0;
}

/* Replace the names of the links' far ends by nodes. */
static int find_peers(struct dl_draft *d)
{
	uint32_t *by_id = calloc(d->nnodes + 1ul, sizeof(*by_id));
	uint32_t i;
	int err;

	if (!by_id)
		return -ENOMEM;
	for (i = 0; i < d->nnodes; i++)
		by_id[i] = i;
	qsort_r(by_id, d->nnodes, sizeof(*by_id), compare_ids, d);
	err = check_ids(d, by_id);
	for (i = 0; i < d->nlinks && !err; i++) {
		struct dl_draft_link *l = &d->links[i];
		const char *id = d->strings + l->peer;

		l->peer = find_id(d, by_id, id);
		if (l->peer == DL_NONE)
			err = dl_draft_error(d, l->place, "\"%.64s\": expected "
					     "the id of a node", id);
		else if (l->peer_num > d->nodes[l->peer].nports)
			err = dl_draft_error(d, l->place, "port %u of "
					     "\"%.64s\": expected 1 to %u",
					     l->peer_num, id,
					     d->nodes[l->peer].nports);
	}
	free(by_id);
	return err;
}

int dl_fabric_read_netlist_stream(FILE *from, const char *name,
				  const struct dl_log *log,
				  struct dl_fabric **out)
{
	struct reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->guid[DL_SWITCH] = r->guid_base[DL_SWITCH] = 0x200000;
	r->guid[DL_CA] = r->guid_base[DL_CA] = 0x100000;
	err = dl_draft_begin(&r->d, log);
	if (!err)
		err = read_stream(r, from, name);
	if (!err)
		err = find_peers(&r->d);
	if (!err)
		err = dl_draft_build(&r->d, out);
	if (err == -ENOMEM)
		dl_log(log, DL_ERROR, "%s: out of memory", name);
	dl_draft_end(&r->d);
	free(r);
	return err;
}

int dl_fabric_read_netlist(const char *path, const struct dl_log *log,
			   struct dl_fabric **out)
{
	return dl_text_read_file(path, dl_fabric_read_netlist_stream, log,
				 out);
}

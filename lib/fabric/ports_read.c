/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports of ports by infiniband-diags, a line for each port:
 *
 *   ibnetdiscover -p
 *     SW 10 1 0x<port GUID> 4x QDR - SW 8 3 0x<port GUID> ( '<name>' - '<far name>' )
 *     SW 10 36 0x<port GUID> 4x SDR                          '<name>'
 *
 *   iblinkinfo
 *     Switch: 0x<port GUID> <name>:
 *       10 1[  ] ==( 4X 10.0 Gbps Active/  LinkUp)==> 8 3[  ] "<far name>" (...)
 *       10 36[  ] ==(             Down/ Polling)==>      [  ] "" ( )
 *     CA: <name>:
 *       0x<port GUID> 7 1[  ] ==( 4X ... )==> 10 9[  ] "<far name>" (...)
 *
 *   iblinkinfo -l
 *     0x<port GUID> "  <name>" 10 1[  ] ==(...)==> 0x<port GUID> 8 3[  ] "<far name>" (...)
 *
 * The numbers before the brackets are LID and port.  No report has GUIDs of
 * nodes: a node gets that of its first port.  The lines of a node follow one
 * another.  Ports of an adapter without a heading are one adapter's if name and
 * distance of their GUIDs say so.  Line mode has no types: what shows one GUID
 * for several ports is a switch.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/internal.h"

#define LONGEST_NAME 512 /* descriptions have 64 bytes, mapped names more */

enum mode { UNKNOWN, PORTS, LINKS, LINES };

struct reader {
	struct dl_fabric_records r;
	struct dl_text *t;
	enum mode mode;
	uint32_t run; /* the first record of the current node */
	/* Of the heading above. */
	uint64_t guid;
	uint32_t desc;
	uint8_t type;
};

static const struct {
	const char *word;
	enum mode mode;
	uint8_t type; /* 0: not known */
} words[] = {
	{ "Switch:", LINKS, DL_FABRIC_SWITCH }, { "CA:", LINKS, DL_FABRIC_CA },
	{ "Router:", LINKS, DL_FABRIC_ROUTER }, { "??:", LINKS, 0 },
	{ "SW ", PORTS, DL_FABRIC_SWITCH },	{ "CA ", PORTS, DL_FABRIC_CA },
	{ "RT ", PORTS, DL_FABRIC_ROUTER },	{ "?? ", PORTS, 0 },
};

#define NWORDS (sizeof(words) / sizeof(*words))

static size_t find_word(const char *at)
{
	size_t i = 0;

	while (i < NWORDS && strncmp(at, words[i].word, strlen(words[i].word)))
		i++;
	return i;
}

bool dl_fabric_is_port_report(const char *at)
{
	return find_word(at) < NWORDS || !strncmp(at, "0x", 2);
}

/* ---- parts of lines ----------------------------------------------------- */

static bool is_port(const struct reader *p, const struct dl_fabric_record *e)
{
	if (e->num && e->num <= DL_FABRIC_MAX_PORTS)
		return true;
	dl_fabric_parsed_left_out(p->r.d, ((struct dl_fabric_parsed_place){ p->r.file, e->line }),
				  "port %u of \"%.64s\"", e->num, p->r.d->strings + e->desc);
	return false;
}

static int report_read_guid(struct dl_text *t, uint64_t *guid)
{
	if (!dl_text_take_string(t, "0x") || !isxdigit((unsigned char)*t->at))
		return dl_text_expected(t, "0x and a port's GUID");
	return dl_text_number(t, 16, UINT64_MAX, "a port's GUID", guid);
}

/* LID and port, and an iblinkinfo's [chassis port]. */
static int read_numbers(struct dl_text *t, bool bracket, struct dl_fabric_record *e)
{
	uint64_t lid, num;
	char *end;
	int err = dl_text_number(t, 10, UINT16_MAX, "a LID, 16 bits", &lid);

	if (!err)
		err = dl_text_number(t, 10, UINT8_MAX, "a port, 1 to 254", &num);
	if (err)
		return err;
	e->lid = lid;
	e->num = num;
	if (!bracket)
		return 0;
	end = *t->at == '[' ? strchr(t->at, ']') : NULL;
	if (!end)
		return dl_text_expected(t, "[, a chassis port or nothing, and ]");
	t->at = end + 1;
	return 0;
}

/* A name, from t->at to `end`; reading goes on at `next`. */
static int read_name(struct reader *p, const char *end, size_t next, uint32_t *out)
{
	struct dl_text *t = p->t;
	char *at = t->at;
	int err;

	while (at < end && *at == ' ') /* as padding */
		at++;
	err = dl_fabric_parsed_string(p->r.d, at, end - at, out);
	t->at += end - t->at + next;
	return err;
}

static char *last_of(char *at, const char *what)
{
	char *found = NULL;

	for (at = strstr(at, what); at; at = strstr(at + 1, what))
		found = at;
	return found;
}

/* ---- ibnetdiscover -p --------------------------------------------------- */

static int report_read_type(struct dl_text *t, uint8_t *type)
{
	size_t i;

	dl_text_at_end(t); /* pass over blanks */
	i = find_word(t->at);
	if (i == NWORDS || words[i].mode != PORTS)
		return dl_text_expected(t, "SW, CA or RT");
	*type = words[i].type;
	t->at += strlen(words[i].word);
	return 0;
}

static int report_read_end(struct dl_text *t, struct dl_fabric_record *e)
{
	int err = report_read_type(t, &e->type);

	if (!err)
		err = read_numbers(t, false, e);
	return err ? err : report_read_guid(t, &e->port_guid);
}

/* "4x QDR", and question marks for what is not known. */
static int read_rate(struct dl_text *t, struct dl_fabric_record *near)
{
	size_t len;

	dl_text_at_end(t);
	len = strcspn(t->at, " \t");
	near->widths = dl_fabric_widths_up_to(dl_fabric_width_of(t->at, len));
	if (!near->widths && *t->at != '?')
		return dl_text_expected(t, "1x, 2x, 4x, 8x or 12x");
	t->at += len;
	dl_text_at_end(t);
	len = strcspn(t->at, " \t");
	near->speeds = dl_fabric_speeds_up_to(dl_fabric_speed_of(t->at, len));
	if (!near->speeds && *t->at != '?')
		return dl_text_expected(t, "a speed from SDR to XDR");
	t->at += len;
	return 0;
}

static int report_read_port(struct reader *p, struct dl_fabric_record *near,
			    struct dl_fabric_record *far)
{
	struct dl_text *t = p->t;
	char *end;
	int err = report_read_end(t, near);

	if (!err)
		err = read_rate(t, near);
	if (err)
		return err;
	if (!dl_text_take(t, '-')) {
		end = dl_text_take(t, '\'') ? strrchr(t->at, '\'') : NULL;
		return end ? read_name(p, end, 1, &near->desc) :
			     dl_text_expected(t, "- and a far end, or a name in ' '");
	}
	err = report_read_end(t, far);
	if (err)
		return err;
	far->refers = true;
	end = dl_text_take_string(t, "( '") ? strstr(t->at, "' - '") : NULL;
	if (!end)
		return dl_text_expected(t, "( 'a name' - 'a name' )");
	err = read_name(p, end, 5, &near->desc);
	end = err ? NULL : last_of(t->at, "' )");
	if (err || !end)
		return err ? err : dl_text_expected(t, "a name and ' )");
	return read_name(p, end, 3, &far->desc);
}

/* ---- iblinkinfo --------------------------------------------------------- */

/* A link's rate as iblinkinfo has it; none of a port that is down. */
static int read_state(struct dl_text *t, char *end, struct dl_fabric_record *near)
{
	static const struct {
		const char *word;
		uint8_t speed;
	} speeds[] = {
		{ "2.5 ", DL_FABRIC_SDR },	{ "5.0 ", DL_FABRIC_DDR },
		{ "10.0 ", DL_FABRIC_QDR },	{ "14.0625 ", DL_FABRIC_FDR },
		{ "25.78125 ", DL_FABRIC_EDR }, { "53.125 ", DL_FABRIC_HDR },
		{ "106.25 ", DL_FABRIC_NDR },	{ "212.5 ", DL_FABRIC_XDR },
	};
	char width[4] = "", *unit = strstr(t->at, " Gbps");
	unsigned int speed = 0;
	size_t len;

	dl_text_at_end(t);
	len = strspn(t->at, "0123456789");
	if (len && len < sizeof(width) - 1 && t->at[len] == 'X') {
		memcpy(width, t->at, len);
		width[len] = 'x';
		near->widths = dl_fabric_widths_up_to(dl_fabric_width_of(width, len + 1));
		if (!near->widths)
			return dl_text_expected(t, "1X, 2X, 4X, 8X or 12X");
		t->at += len + 1;
	}
	if (memchr(t->at, '"', end - t->at))
		return dl_text_expected(t, "a state and )==>");
	if (!unit || unit > end)
		return 0;
	dl_text_at_end(t);
	for (size_t i = 0; i < sizeof(speeds) / sizeof(*speeds); i++)
		if (!strncmp(t->at, speeds[i].word, strlen(speeds[i].word)))
			speed = speeds[i].speed;
	if (!speed)
		return dl_text_expected(t, "a speed from 2.5 (SDR) to 212.5 Gbps (XDR)");
	if (!strncmp(unit, " Gbps (FDR10)", 13))
		speed = DL_FABRIC_FDR10;
	near->speeds = dl_fabric_speeds_up_to(speed);
	return 0;
}

/* From "==(" on; with the far end's GUID in line mode. */
static int report_read_cable(struct reader *p, struct dl_fabric_record *near,
			     struct dl_fabric_record *far)
{
	struct dl_text *t = p->t;
	char *arrow, *end;
	int err;

	arrow = dl_text_take_string(t, "==(") ? strstr(t->at, ")==>") : NULL;
	if (!arrow)
		return dl_text_expected(t, "==( , a state and )==>");
	err = read_state(t, arrow, near);
	if (err)
		return err;
	t->at = arrow + 4;
	if (dl_text_take_string(t, "[") || dl_text_take(t, '"')) /* nothing, or nobody */
		return 0;
	if (p->mode == LINES)
		err = report_read_guid(t, &far->port_guid);
	if (!err)
		err = read_numbers(t, true, far);
	if (err)
		return err;
	far->refers = true;
	end = dl_text_take(t, '"') ? last_of(t->at, "\" (") : NULL;
	return end ? read_name(p, end, 3, &far->desc) :
		     dl_text_expected(t, "a far end's name in quotes and (");
}

static int report_read_heading(struct reader *p, size_t word)
{
	struct dl_text *t = p->t;
	char *end;
	int err = 0;

	t->at += strlen(words[word].word);
	p->type = words[word].type;
	p->guid = 0;
	if (p->type == DL_FABRIC_SWITCH)
		err = report_read_guid(t, &p->guid);
	end = strrchr(t->at, ':');
	if (!err && (!end || end[1]))
		err = dl_text_expected(t, "a name and :");
	return err ? err : read_name(p, end, 1, &p->desc);
}

static int report_read_link(struct reader *p, struct dl_fabric_record *near,
			    struct dl_fabric_record *far)
{
	int err = 0;

	if (!p->type && !p->desc)
		return dl_text_expected(p->t, "Switch:, CA: or Router: before its ports");
	near->type = p->type;
	near->desc = p->desc;
	near->port_guid = p->guid;
	if (p->type != DL_FABRIC_SWITCH)
		err = report_read_guid(p->t, &near->port_guid);
	if (!err)
		err = read_numbers(p->t, true, near);
	return err ? err : report_read_cable(p, near, far);
}

/* Does a name in line mode end here?  What follows it is two numbers and [. */
static bool ends_name(const char *at)
{
	for (int i = 0; i < 2; i++) {
		at += strspn(at + 1, " ") + 1;
		if (!isdigit((unsigned char)*at))
			return false;
		at += strspn(at, "0123456789") - 1;
	}
	return at[1] == '[';
}

static int read_line_named(struct reader *p, char *end, struct dl_fabric_record *near,
			   struct dl_fabric_record *far)
{
	int err = read_name(p, end, 1, &near->desc);

	if (!err)
		err = read_numbers(p->t, true, near);
	return err ? err : report_read_cable(p, near, far);
}

/*
 * A name may hold what looks like its own end: the true one is the first after
 * which the whole line can be read.
 */
static int report_read_line(struct reader *p, struct dl_fabric_record *near,
			    struct dl_fabric_record *far)
{
	struct dl_text *t = p->t;
	const struct dl_log *log = t->log;
	struct dl_fabric_record n, f;
	char *begin, *end, *first = NULL;
	int err = report_read_guid(t, &near->port_guid);

	if (err)
		return err;
	if (!dl_text_take(t, '"'))
		return dl_text_expected(t, "a name in quotes");
	begin = t->at;
	for (end = strchr(begin, '"'); end && end < begin + LONGEST_NAME;
	     end = strchr(end + 1, '"')) {
		if (!ends_name(end))
			continue;
		first = first ? first : end;
		n = *near;
		f = *far;
		t->at = begin;
		t->log = NULL;
		err = read_line_named(p, end, &n, &f);
		t->log = log;
		if (err == -EINVAL)
			continue;
		*near = n;
		*far = f;
		return err;
	}
	t->at = begin;
	return first ? read_line_named(p, first, near, far) :
		       dl_text_expected(t, "a name in quotes, a LID and a port");
}

/* ---- nodes -------------------------------------------------------------- */

/* Is the port one of the node whose lines stand above? */
static bool report_continues(const struct reader *p, const struct dl_fabric_record *e)
{
	const struct dl_fabric_record *first, *last;
	const char *s = p->r.d->strings;

	if (p->run == p->r.n)
		return false;
	if (p->mode == LINKS)
		return true; /* until the next heading */
	first = &p->r.record[p->run];
	last = &p->r.record[p->r.n - 2];
	if (e->type != last->type || strcmp(s + e->desc, s + last->desc))
		return false;
	if (e->port_guid == last->port_guid)
		return e->type == DL_FABRIC_SWITCH || !e->type;
	return e->type != DL_FABRIC_SWITCH &&
	       (last == first || last->port_guid != first->port_guid) && e->num != last->num &&
	       e->port_guid - last->port_guid == (uint64_t)e->num - last->num;
}

/* What all lines of a node say together. */
static void end_node(struct reader *p)
{
	struct dl_fabric_record *e = p->r.record, *lowest;
	uint8_t nports = 0;

	if (p->run == p->r.n)
		return;
	lowest = &e[p->run];
	for (uint32_t i = p->run; i < p->r.n; i += 2) {
		if (e[i].num > nports)
			nports = e[i].num;
		if (e[i].num < lowest->num)
			lowest = &e[i];
	}
	for (uint32_t i = p->run; i < p->r.n; i += 2) {
		e[i].nports = nports;
		e[i].guid = lowest->port_guid;
		if (!e[i].type)
			e[i].type = p->r.n - p->run > 2 &&
						    e[p->run].port_guid == e[p->run + 2].port_guid ?
					    DL_FABRIC_SWITCH :
					    DL_FABRIC_CA;
	}
	p->run = p->r.n;
}

static int read_row(struct reader *p)
{
	static int (*const read[])(struct reader * p, struct dl_fabric_record * near,
				   struct dl_fabric_record * far) = {
		[PORTS] = report_read_port, [LINKS] = report_read_link, [LINES] = report_read_line
	};
	struct dl_fabric_record near = { .line = p->t->line }, far = near;
	size_t word;
	int err;

	if (dl_text_at_end(p->t) || *p->t->at == '#')
		return 0;
	word = find_word(p->t->at);
	if (p->mode == UNKNOWN)
		p->mode = word < NWORDS ? words[word].mode : LINES;
	if (p->mode == LINKS && word < NWORDS && words[word].mode == LINKS) {
		end_node(p);
		return report_read_heading(p, word);
	}
	err = read[p->mode](p, &near, &far);
	if (!err && !near.port_guid)
		err = dl_text_error(p->t, "port GUID 0: expected another one");
	if (err || !is_port(p, &near))
		return err;
	if (far.refers && !is_port(p, &far))
		far.refers = false;
	if (!report_continues(p, &near))
		end_node(p);
	return dl_fabric_records_add(&p->r, &near, &far);
}

int dl_fabric_read_port_report(struct dl_text *t, struct dl_fabric_parsed *d, uint32_t file)
{
	struct reader p = { .r = { .d = d, .file = file }, .t = t };
	int err;

	do
		err = read_row(&p);
	while (!err && (err = dl_text_next(t)) > 0 && !(err = 0));
	if (!err) {
		end_node(&p);
		p.r.by_name = p.mode == LINKS;
		err = dl_fabric_records_resolve(&p.r);
	}
	if (!err)
		err = dl_fabric_records_fill(&p.r);
	free(p.r.record);
	return err;
}

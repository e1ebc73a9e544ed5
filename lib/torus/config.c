/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reader of torus-2QoS.conf (rules A2, torus-2QoS.conf(5)).
 *
 * Problem.  Take every file that OpenSM's own torus-2QoS engine works with,
 * and tell the author of any other file what is wrong, where, and what was
 * expected instead, all of it at once and not one mistake a run.
 *
 * Method.  First parse: a table maps each keyword to its handler, and the
 * handlers fill drafts, one a seed, which remember the line of every value.
 * Then check: only a file that parsed is judged as a whole, so that the order
 * of its lines never matters, and only a draft without fault becomes a seed.
 * Nothing of a damaged file is ever used.
 *
 * How strict.  Measured against the built-in engine, file by file.  What it
 * lives with is at most a warning here: trailing words, a keyword given twice
 * (the last one counts), a number with something stuck to its end (the number
 * counts), links of an absent dimension, a leading next_seed, a backup seed
 * with a GUID of 0.  Two things it lives with are errors here, because it
 * takes them for zero without a word: a number without any digit, and NUL
 * bytes.  Three things that it refuses are taken: no seed at all (the
 * coordinates are then found from the cabling), a dateline keyword that stands
 * before the geometry, and a radix-4 ring with one link only, which is enough
 * while the torus is whole.
 *
 * Complexity.  Linear in the size of the file.  Limits: DL_TORUS_MAX_RADIX sites a
 * dimension, DL_FABRIC_MAX_LID sites in all; lines and seeds without limit.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "dateline/torus.h"

#define MAX_ERRORS 20 /* then the rest of the file is not read */
#define BLANKS " \t\n\v\f\r"

/* A seed while it is read.  Lines are 0 for what was not given. */
struct draft {
	uint32_t line; /* of its next_seed, or its first keyword */
	uint32_t link_line[DL_TORUS_DIRS];
	uint64_t from[DL_TORUS_DIRS];
	uint64_t to[DL_TORUS_DIRS];
	uint32_t dateline_line[DL_TORUS_DIMS];
	int32_t dateline[DL_TORUS_DIMS];
};

struct parser {
	const char *name;
	const struct dl_log *log;
	struct dl_torus_config *c;
	struct draft *drafts;
	uint32_t ndrafts, drafts_cap;
	uint32_t line; /* the one that is read now */
	uint32_t geometry_line;
	uint32_t nerrors;
	int err;	  /* other than errors in the file */
	const char *word; /* keyword of this line */
	char *rest;	  /* strtok_r()'s place in this line */
};

static const char *const link_words[DL_TORUS_DIRS] = { "xp_link", "xm_link",
						       "yp_link", "ym_link",
						       "zp_link", "zm_link" };

static const char *const dateline_words[DL_TORUS_DIMS] = { "x_dateline",
							   "y_dateline",
							   "z_dateline" };

/* ---- messages ---------------------------------------------------------- */

static void complain(struct parser *p, enum dl_log_level level, uint32_t line,
		     const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void complain(struct parser *p, enum dl_log_level level, uint32_t line,
		     const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dl_log(p->log, level, "%s:%" PRIu32 ": %s", p->name, line, text);
	if (level == DL_LOG_ERROR)
		p->nerrors++;
}

/* A token of the file, made fit for a message. */
struct shown {
	char text[48];
};

static const char *show(const char *token, struct shown *buf)
{
	size_t i;

	if (!token)
		return "the end of the line";
	buf->text[0] = '"';
	for (i = 1; *token && i < sizeof(buf->text) - 5; i++, token++)
		buf->text[i] = isprint((unsigned char)*token) ? *token : '?';
	strcpy(buf->text + i, *token ? "...\"" : "\"");
	return buf->text;
}

/* ---- tokens and numbers ------------------------------------------------ */

static char *next_token(struct parser *p)
{
	return strtok_r(NULL, BLANKS, &p->rest);
}

/*
 * A whole number as the C language writes it (0x..: hexadecimal, 0..: octal),
 * within [min, max].  *junk receives what follows its digits.
 */
static bool scan_number(const char *token, int64_t min, uint64_t max,
			uint64_t *out, const char **junk)
{
	bool negative = token[0] == '-';
	const char *digits = token + (negative || token[0] == '+');
	char *end;
	uint64_t value;

	if (!isdigit((unsigned char)digits[0]))
		return false;
	errno = 0;
	value = strtoull(digits, &end, 0);
	*junk = end;
	*out = negative ? -value : value;
	if (negative)
		return !errno && min < 0 && value <= -(uint64_t)min;
	return !errno && value <= max && (min < 0 || value >= (uint64_t)min);
}

/*
 * The line's next token as a number.  What is stuck to it is reported, and
 * otherwise ignored; a comment may follow without a blank.  Where it is no
 * number, false, after an error that says that `what` was expected.
 */
static bool take_number(struct parser *p, const char *what, int64_t min,
			uint64_t max, uint64_t *out)
{
	const char *token = next_token(p);
	const char *junk;
	struct shown shown;

	if (!token || !scan_number(token, min, max, out, &junk)) {
		complain(p, DL_LOG_ERROR, p->line, "%s: expected %s, found %s",
			 p->word, what, show(token, &shown));
		return false;
	}
	if (*junk && *junk != '#')
		complain(p, DL_LOG_WARNING, p->line,
			 "%s: %s: only the number at its beginning counts",
			 p->word, show(token, &shown));
	return true;
}

/* ---- keywords ---------------------------------------------------------- */

/* One radix with its suffix, m, M, t or T. */
static bool take_radix(struct parser *p, unsigned int dim, bool mesh)
{
	struct dl_torus_grid *g = &p->c->grid;
	const char *token = next_token(p);
	const char *junk;
	struct shown shown;
	uint64_t radix;

	if (!token ||
	    !scan_number(token, 1, DL_TORUS_MAX_RADIX, &radix, &junk)) {
		complain(p, DL_LOG_ERROR, p->line,
			 "%s: expected the radix of %c, a number from 1 to %d "
			 "with or without m or t, found %s",
			 p->word, 'x' + dim, DL_TORUS_MAX_RADIX,
			 show(token, &shown));
		return false;
	}
	if (*junk && strchr("mMtT", *junk))
		mesh = tolower((unsigned char)*junk++) == 'm';
	if (*junk && *junk != '#')
		complain(p, DL_LOG_WARNING, p->line,
			 "%s: the end of %s is no suffix m or t, and ignored",
			 p->word, show(token, &shown));
	g->radix[dim] = radix;
	g->mesh[dim] = mesh;
	return true;
}

static void parse_geometry(struct parser *p, unsigned int mesh)
{
	const struct dl_torus_grid *g = &p->c->grid;

	if (p->geometry_line) {
		complain(p, DL_LOG_ERROR, p->line,
			 "%s: the geometry was given in line %" PRIu32
			 " already",
			 p->word, p->geometry_line);
		return;
	}
	p->geometry_line = p->line;
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		if (!take_radix(p, d, mesh))
			return;
	/* Three factors of at most 255 each: no overflow. */
	if (dl_torus_grid_sites(g) > DL_FABRIC_MAX_LID)
		complain(p, DL_LOG_ERROR, p->line,
			 "%s: expected at most %d switches, the LIDs of a "
			 "subnet, found %" PRIu32 " x %" PRIu32 " x %" PRIu32
			 " = %" PRIu32,
			 p->word, DL_FABRIC_MAX_LID, g->radix[0], g->radix[1],
			 g->radix[2], dl_torus_grid_sites(g));
}

static void parse_next_seed(struct parser *p, unsigned int unused)
{
	struct draft *drafts = p->drafts;

	(void)unused;
	if (p->ndrafts == p->drafts_cap) {
		uint32_t cap = p->drafts_cap ? 2 * p->drafts_cap : 4;

		drafts = reallocarray(drafts, cap, sizeof(*drafts));
		if (!drafts) {
			p->err = -ENOMEM;
			return;
		}
		p->drafts = drafts;
		p->drafts_cap = cap;
	}
	drafts[p->ndrafts++] = (struct draft){ .line = p->line };
}

/* The seed that links and datelines belong to now. */
static struct draft *current_draft(struct parser *p)
{
	struct draft *d = &p->drafts[p->ndrafts - 1];

	if (!d->line)
		d->line = p->line;
	return d;
}

/* Does this keyword, given in line `before` of its seed, change its mind? */
static void warn_repeated(struct parser *p, uint32_t before, bool same)
{
	if (before && !same)
		complain(p, DL_LOG_WARNING, p->line,
			 "%s: this replaces line %" PRIu32
			 " of the same seed; is a next_seed missing?",
			 p->word, before);
}

static void parse_link(struct parser *p, unsigned int dir)
{
	static const char *const what = "two switch GUIDs, such as 0x2000 "
					"0x2001";
	struct draft *d = current_draft(p);
	uint64_t from, to;

	if (!take_number(p, what, 0, UINT64_MAX, &from) ||
	    !take_number(p, what, 0, UINT64_MAX, &to))
		return;
	warn_repeated(p, d->link_line[dir],
		      d->from[dir] == from && d->to[dir] == to);
	d->link_line[dir] = p->line;
	d->from[dir] = from;
	d->to[dir] = to;
}

static void parse_dateline(struct parser *p, unsigned int dim)
{
	struct draft *d = current_draft(p);
	uint64_t position;

	if (!take_number(p, "a position relative to the seed's switch",
			 -INT32_MAX, INT32_MAX, &position))
		return;
	warn_repeated(p, d->dateline_line[dim],
		      d->dateline[dim] == (int32_t)position);
	d->dateline_line[dim] = p->line;
	d->dateline[dim] = (int32_t)position;
}

static void parse_portgroup_max_ports(struct parser *p, unsigned int unused)
{
	uint64_t value;

	(void)unused;
	if (!take_number(p, "a number of ports", 0, UINT32_MAX, &value))
		return;
	p->c->portgroup_max_ports = value;
	complain(p, DL_LOG_VERBOSE, p->line,
		 "%s: Dateline needs no such limit and takes any number of "
		 "ports",
		 p->word);
}

static void parse_max_changes(struct parser *p, unsigned int unused)
{
	uint64_t value;

	(void)unused;
	if (take_number(p, "a number of changes to report", 0, UINT32_MAX,
			&value))
		p->c->max_changes = value;
}

static void parse_port_order(struct parser *p, unsigned int unused)
{
	struct dl_torus_config *c = p->c;
	char *token;

	(void)unused;
	c->nport_order = 0; /* the last such line is the one that counts */
	while ((token = next_token(p)) && token[0] != '#') {
		const char *junk;
		struct shown shown;
		uint64_t port;

		if (!scan_number(token, 0, DL_FABRIC_MAX_PORTS, &port, &junk)) {
			complain(p, DL_LOG_ERROR, p->line,
				 "%s: expected port numbers from 0 to %d, "
				 "found %s",
				 p->word, DL_FABRIC_MAX_PORTS,
				 show(token, &shown));
			return;
		}
		if (*junk && *junk != '#')
			complain(p, DL_LOG_WARNING, p->line,
				 "%s: %s: only the number at its beginning "
				 "counts",
				 p->word, show(token, &shown));
		if (!memchr(c->port_order, (int)port, c->nport_order))
			c->port_order[c->nport_order++] = port;
		if (*junk == '#')
			return;
	}
}

static const struct keyword {
	const char *word;
	void (*parse)(struct parser *p, unsigned int arg);
	unsigned int arg;
} keywords[] = {
	{ "torus", parse_geometry, false },
	{ "mesh", parse_geometry, true },
	{ "xp_link", parse_link, 0 },
	{ "xm_link", parse_link, 1 },
	{ "yp_link", parse_link, 2 },
	{ "ym_link", parse_link, 3 },
	{ "zp_link", parse_link, 4 },
	{ "zm_link", parse_link, 5 },
	{ "x_dateline", parse_dateline, 0 },
	{ "y_dateline", parse_dateline, 1 },
	{ "z_dateline", parse_dateline, 2 },
	{ "next_seed", parse_next_seed, 0 },
	{ "portgroup_max_ports", parse_portgroup_max_ports, 0 },
	{ "port_order", parse_port_order, 0 },
	{ "max_changes", parse_max_changes, 0 },
};

#define NKEYWORDS (sizeof(keywords) / sizeof(keywords[0]))

static void parse_line(struct parser *p, char *line)
{
	const char *word = strtok_r(line, BLANKS, &p->rest);
	struct shown shown;

	if (!word || word[0] == '#')
		return;
	for (size_t i = 0; i < NKEYWORDS; i++) {
		if (strcmp(word, keywords[i].word))
			continue;
		p->word = word;
		keywords[i].parse(p, keywords[i].arg);
		return;
	}
	complain(p, DL_LOG_ERROR, p->line,
		 "%s is no keyword; expected torus, mesh, [xyz][pm]_link, "
		 "[xyz]_dateline, next_seed, portgroup_max_ports, port_order "
		 "or max_changes",
		 show(word, &shown));
}

/* ---- checks of the whole ----------------------------------------------- */

/*
 * The seed's links: one common switch, and every neighbour a switch of its
 * own, but for a ring of two, where both ways lead to the same one.
 */
static bool check_links(struct parser *p, const struct draft *d)
{
	const struct dl_torus_grid *g = &p->c->grid;
	unsigned int first = DL_TORUS_DIRS;

	for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++) {
		uint32_t line = d->link_line[dir];
		const char *word = link_words[dir];

		if (!line || g->radix[dl_torus_dir_dim(dir)] == 1)
			continue;
		if (first == DL_TORUS_DIRS)
			first = dir;
		if (d->from[dir] != d->from[first]) {
			complain(p, DL_LOG_ERROR, line,
				 "%s: expected the link to start at 0x%" PRIx64
				 " like %s in line %" PRIu32
				 ", found 0x%" PRIx64,
				 word, d->from[first], link_words[first],
				 d->link_line[first], d->from[dir]);
			return false;
		}
		if (d->to[dir] == d->from[dir]) {
			complain(p, DL_LOG_ERROR, line,
				 "%s: expected two different switches, found "
				 "0x%" PRIx64 " twice",
				 word, d->to[dir]);
			return false;
		}
		for (unsigned int other = first; other < dir; other++) {
			if (!d->link_line[other] ||
			    g->radix[dl_torus_dir_dim(other)] == 1 ||
			    d->to[other] != d->to[dir] ||
			    (other == dl_torus_opposite(dir) &&
			     g->radix[dl_torus_dir_dim(dir)] == 2))
				continue;
			complain(p, DL_LOG_ERROR, line,
				 "%s: 0x%" PRIx64
				 " is the neighbour by %s in line %" PRIu32
				 " already",
				 word, d->to[dir], link_words[other],
				 d->link_line[other]);
			return false;
		}
	}
	return true;
}

/* A link for every dimension that is there. */
static bool check_complete(struct parser *p, const struct draft *d)
{
	const struct dl_torus_grid *g = &p->c->grid;
	bool complete = true;

	for (unsigned int dim = 0; dim < DL_TORUS_DIMS; dim++) {
		unsigned int dir = dl_torus_dir(dim, false);
		bool plus = d->link_line[dir];
		bool minus = d->link_line[dl_torus_opposite(dir)];

		if (g->radix[dim] == 1)
			continue;
		if (!plus && !minus) {
			complain(p, DL_LOG_ERROR, d->line,
				 "the seed that begins here has no %s and no "
				 "%s; expected one of them, since %c has "
				 "radix %" PRIu32,
				 link_words[dir],
				 link_words[dl_torus_opposite(dir)], 'x' + dim,
				 g->radix[dim]);
			complete = false;
		} else if (!(plus && minus) && g->radix[dim] == 4 &&
			   !g->mesh[dim]) {
			complain(
				p, DL_LOG_WARNING, d->line,
				"the seed that begins here has no %s: with "
				"radix 4, a torus with failures needs it",
				link_words[plus ? dl_torus_opposite(dir) : dir]);
		}
	}
	return complete;
}

static bool check_datelines(struct parser *p, const struct draft *d)
{
	bool good = true;

	for (unsigned int dim = 0; dim < DL_TORUS_DIMS; dim++) {
		int32_t radix = p->c->grid.radix[dim];

		if (abs(d->dateline[dim]) < radix)
			continue;
		complain(p, DL_LOG_ERROR, d->dateline_line[dim],
			 "%s: expected a position from %d to %d, since %c has "
			 "radix %d, found %d",
			 dateline_words[dim], 1 - radix, radix - 1, 'x' + dim,
			 radix, d->dateline[dim]);
		good = false;
	}
	return good;
}

/* Does a link name GUID 0?  No switch has it, so the seed is of no use. */
static bool names_nobody(struct parser *p, const struct draft *d,
			 enum dl_log_level level)
{
	for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++) {
		if (!d->link_line[dir] || (d->from[dir] && d->to[dir]) ||
		    p->c->grid.radix[dl_torus_dir_dim(dir)] == 1)
			continue;
		complain(p, level, d->link_line[dir],
			 "%s: expected the GUIDs of two switches, found 0%s",
			 link_words[dir],
			 level == DL_LOG_WARNING ? "; this seed is left out" :
						   "");
		return true;
	}
	return false;
}

static bool is_empty(const struct draft *d)
{
	for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++)
		if (d->link_line[dir])
			return false;
	for (unsigned int dim = 0; dim < DL_TORUS_DIMS; dim++)
		if (d->dateline_line[dim])
			return false;
	return true;
}

static void keep_seed(struct parser *p, const struct draft *d)
{
	struct dl_torus_config *c = p->c;
	struct dl_torus_seed *seed = &c->seeds[c->nseeds];

	*seed = (struct dl_torus_seed){ .line = d->line };
	for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++) {
		if (!d->link_line[dir] ||
		    c->grid.radix[dl_torus_dir_dim(dir)] == 1)
			continue;
		seed->from = d->from[dir];
		seed->to[dir] = d->to[dir];
	}
	for (unsigned int dim = 0; dim < DL_TORUS_DIMS; dim++) {
		seed->dateline[dim] = d->dateline[dim];
		seed->has_dateline[dim] = d->dateline_line[dim];
	}
	/* Where no dimension is there, no link is, and none is needed. */
	c->nseeds += seed->from != 0;
}

/* Turn the drafts into seeds. */
static void check_seeds(struct parser *p)
{
	const struct draft *end = p->drafts + p->ndrafts;
	const struct draft *d = p->drafts;
	bool useless = false;

	/* The first seed needs no next_seed, but may have one. */
	if (is_empty(d))
		d++;
	p->c->seeds = calloc(p->ndrafts, sizeof(*p->c->seeds));
	if (!p->c->seeds) {
		p->err = -ENOMEM;
		return;
	}
	for (; d < end && p->nerrors < MAX_ERRORS; d++) {
		if (is_empty(d)) {
			complain(p, DL_LOG_ERROR, d->line,
				 "next_seed: expected links of another seed "
				 "to follow, found none");
			continue;
		}
		if (!check_complete(p, d) | !check_datelines(p, d))
			continue;
		if (names_nobody(p, d, DL_LOG_WARNING))
			useless = true;
		else if (check_links(p, d))
			keep_seed(p, d);
	}
	if (useless && !p->c->nseeds && !p->nerrors)
		names_nobody(p, end - 1, DL_LOG_ERROR);
}

/* ---- files ------------------------------------------------------------- */

static void read_lines(struct parser *p, FILE *from)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	errno = 0;
	while (!p->err && p->nerrors < MAX_ERRORS &&
	       (len = getline(&line, &cap, from)) >= 0) {
		p->line++;
		if (memchr(line, '\0', len))
			complain(p, DL_LOG_ERROR, p->line,
				 "expected text, found a NUL byte");
		else
			parse_line(p, line);
		errno = 0;
	}
	if (!p->err && p->nerrors < MAX_ERRORS && !feof(from)) {
		p->err = errno ? -errno : -EIO;
		dl_log(p->log, DL_LOG_ERROR, "%s: cannot be read: %s", p->name,
		       strerror(-p->err));
	}
	free(line);
}

int dl_torus_config_read_stream(FILE *from, const char *name,
				const struct dl_log *log,
				struct dl_torus_config **out)
{
	struct parser p = { .name = name, .log = log };

	p.c = calloc(1, sizeof(*p.c));
	if (!p.c)
		return -ENOMEM;
	p.c->portgroup_max_ports = DL_TORUS_DEFAULT_PORTGROUP;
	p.c->max_changes = DL_TORUS_DEFAULT_MAX_CHANGES;
	p.c->path = strdup(name);
	if (!p.c->path)
		p.err = -ENOMEM;
	else
		parse_next_seed(&p, 0);
	if (!p.err)
		read_lines(&p, from);
	if (!p.err && !p.nerrors && !p.geometry_line)
		complain(&p, DL_LOG_ERROR, p.line,
			 "expected a line \"torus X Y Z\" or \"mesh X Y Z\", "
			 "found the end of the file");
	if (!p.err && !p.nerrors)
		check_seeds(&p);
	if (p.nerrors >= MAX_ERRORS)
		dl_log(log, DL_LOG_ERROR, "%s: too many errors", name);
	if (!p.err && p.nerrors)
		p.err = -EINVAL;
	free(p.drafts);
	if (p.err)
		dl_torus_config_free(p.c);
	else
		*out = p.c;
	return p.err;
}

int dl_torus_config_read(const char *path, const struct dl_log *log,
			 struct dl_torus_config **out)
{
	FILE *from = fopen(path, "re");
	int err;

	if (!from) {
		err = -errno;
		dl_log(log, DL_LOG_ERROR, "%s: cannot be opened: %s", path,
		       strerror(-err));
		return err;
	}
	err = dl_torus_config_read_stream(from, path, log, out);
	fclose(from);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reader and writer of torus-2QoS.conf (rules A2, torus-2QoS.conf(5)).
 *
 * Problem.  Take every file that OpenSM's own torus-2QoS engine works with,
 * and report to the author of any other file what is wrong, where, and what was
 * expected instead, all of it at once and not one mistake a run.  Write files
 * that both read.
 *
 * Method.  One table of keywords drives both.  First read: numbers go into
 * parsed seeds, which keep the line of every value.  Then check:
 * only a file without syntax errors is checked as a whole, so that the order
 * of its lines never matters, and only a parsed seed without fault is used.
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
 * Complexity.  Linear in the file.  Limits: DL_TORUS_MAX_RADIX sites a
 * dimension, DL_FABRIC_MAX_LID in all; lines and seeds without limit.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

#define MAX_ERRORS 20 /* then the rest of the file is not read */
#define BLANKS " \t\n\v\f\r"

/* A seed while it is read.  Lines are 0 for what was not given. */
struct parsed_seed {
	struct dl_torus_seed seed; /* its line: next_seed, or first keyword */
	bool given;		   /* anything at all */
	uint64_t from[DIRS];
	uint32_t link_line[DIRS], dateline_line[DIMS];
};

struct parser {
	struct dl_text text; /* its place: behind the token read last */
	struct dl_torus_config *c;
	struct parsed_seed *parsed;
	uint32_t nparsed, parsed_cap;
	uint32_t geometry_line;
	uint32_t nerrors;
	int err;	  /* other than errors in the file */
	const char *word; /* keyword of this line */
};

/* ---- messages ---------------------------------------------------------- */

#define config_complain(p, level, line, format, ...)                                 \
	do {                                                                         \
		dl_log((p)->text.log, level, "%s:%u: " format, (p)->text.name, line, \
		       ##__VA_ARGS__);                                               \
		(p)->nerrors += (level) == DL_LOG_ERROR;                             \
	} while (0)
#define ERROR(p, line, ...) config_complain(p, DL_LOG_ERROR, line, __VA_ARGS__)
#define WARNING(p, line, ...) config_complain(p, DL_LOG_WARNING, line, __VA_ARGS__)

/* A token of the file, made fit for a message. */
struct shown {
	char text[48];
};

static struct shown config_token_text(const char *token)
{
	struct shown s = { "the end of the line" };
	size_t i;

	if (!token)
		return s;
	s.text[0] = '"';
	for (i = 1; *token && i < sizeof(s.text) - 5; i++, token++)
		s.text[i] = isprint((unsigned char)*token) ? *token : '?';
	snprintf(s.text + i, sizeof(s.text) - i, "%s", *token ? "...\"" : "\"");
	return s;
}

/* ---- numbers ----------------------------------------------------------- */

static char *next_token(struct parser *p)
{
	return strtok_r(NULL, BLANKS, &p->text.at);
}

/*
 * A whole number as the C language writes it (0x..: hexadecimal, 0..: octal),
 * within [min, max].  *junk receives what follows its digits.
 */
static bool scan_number(const char *token, int64_t min, uint64_t max, uint64_t *out,
			const char **junk)
{
	bool negative = token && token[0] == '-';
	const char *digits = negative || (token && token[0] == '+') ? token + 1 : token;

	if (!token || (*junk = dl_number_scan(digits, 0, out)) == digits)
		return false;
	if (negative) {
		*out = -*out;
		return min < 0 && -*out <= -(uint64_t)min;
	}
	return *out <= max && (min < 0 || *out >= (uint64_t)min);
}

static void warn_junk(struct parser *p, const char *token, const char *junk)
{
	if (*junk && *junk != '#')
		WARNING(p, p->text.line, "%s: %s: only the number at its beginning counts", p->word,
			config_token_text(token).text);
}

/*
 * The line's next token as a number.  What is stuck to it is reported, and
 * otherwise ignored; a comment may follow without a blank.
 */
static bool read_number(struct parser *p, const char *what, int64_t min, uint64_t max,
			uint64_t *out)
{
	const char *token = next_token(p), *junk;

	if (scan_number(token, min, max, out, &junk)) {
		warn_junk(p, token, junk);
		return true;
	}
	ERROR(p, p->text.line, "%s: expected %s, found %s", p->word, what,
	      config_token_text(token).text);
	return false;
}

/* ---- keywords ---------------------------------------------------------- */

enum kind { GEOMETRY, NEXT_SEED, LINK, DATELINE, NUMBER, TIES, PORTS };

#define RADICES "radices of x, y, z; 1: absent, m: open, t: closed"
#define FROM_SEED "from the seed's switch to its neighbour in "
#define SEEN_FROM " = 0 is, seen from the seed's switch"
#define CONFIG(member) offsetof(struct dl_torus_config, member)
/* In the order in which they are written. */
static const struct keyword {
	const char *word;
	enum kind kind;
	size_t arg;	     /* is open; direction; dimension; place of number */
	const char *comment; /* behind it in a file */
	const char *what;    /* a number is, in messages */
} keywords[] = {
	{ "torus", GEOMETRY, false, RADICES, NULL },
	{ "mesh", GEOMETRY, true, RADICES, NULL },
	{ "next_seed", NEXT_SEED, 0, "in case a switch of those above fails", NULL },
	{ "xp_link", LINK, 0, FROM_SEED "+x", NULL },
	{ "xm_link", LINK, 1, FROM_SEED "-x", NULL },
	{ "yp_link", LINK, 2, FROM_SEED "+y", NULL },
	{ "ym_link", LINK, 3, FROM_SEED "-y", NULL },
	{ "zp_link", LINK, 4, FROM_SEED "+z", NULL },
	{ "zm_link", LINK, 5, FROM_SEED "-z", NULL },
	{ "x_dateline", DATELINE, 0, "where x" SEEN_FROM, NULL },
	{ "y_dateline", DATELINE, 1, "where y" SEEN_FROM, NULL },
	{ "z_dateline", DATELINE, 2, "where z" SEEN_FROM, NULL },
	{ "portgroup_max_ports", NUMBER, CONFIG(portgroup_max_ports),
	  "most parallel cables, and most adapters plus one", "a number of ports" },
	{ "max_changes", NUMBER, CONFIG(max_changes), "most lines in a report of changes",
	  "a number of changes to report" },
	{ "ties", TIES, 0, "equally long ways are shared out", NULL },
	{ "port_order", PORTS, 0, NULL, NULL },
};

enum { FIRST_OF_SEED = 2, FIRST_LINK = 3, FIRST_DATELINE = 9, REST = 12 };
#define NKEYWORDS (sizeof(keywords) / sizeof(*keywords))

static const char *link_word(unsigned int dir)
{
	return keywords[FIRST_LINK + dir].word;
}

/* ---- reading ----------------------------------------------------------- */

/* One radix with its suffix, m, M, t or T. */
static bool config_read_radix(struct parser *p, unsigned int dim, bool mesh)
{
	const char *token = next_token(p), *junk;
	uint64_t radix;

	if (!scan_number(token, 1, DL_TORUS_MAX_RADIX, &radix, &junk)) {
		ERROR(p, p->text.line,
		      "%s: expected the radix of %c, a number from 1 to %d "
		      "with or without m or t, found %s",
		      p->word, 'x' + dim, DL_TORUS_MAX_RADIX, config_token_text(token).text);
		return false;
	}
	if (*junk && strchr("mMtT", *junk))
		mesh = tolower((unsigned char)*junk++) == 'm';
	if (*junk && *junk != '#')
		WARNING(p, p->text.line, "%s: the end of %s is no suffix m or t, and ignored",
			p->word, config_token_text(token).text);
	p->c->grid.radix[dim] = radix;
	p->c->grid.mesh[dim] = mesh;
	return true;
}

static void read_geometry(struct parser *p, bool mesh)
{
	const struct dl_torus_grid *g = &p->c->grid;

	if (p->geometry_line) {
		ERROR(p, p->text.line, "%s: the geometry was given in line %u already", p->word,
		      p->geometry_line);
		return;
	}
	p->geometry_line = p->text.line;
	for (unsigned int d = 0; d < DIMS; d++)
		if (!config_read_radix(p, d, mesh))
			return;
	/* Three factors of at most 255 each: no overflow. */
	if (dl_torus_grid_sites(g) > DL_FABRIC_MAX_LID)
		ERROR(p, p->text.line,
		      "%s: expected at most %d switches, the LIDs of a subnet, found %u x %u x %u"
		      " = %u",
		      p->word, DL_FABRIC_MAX_LID, g->radix[0], g->radix[1], g->radix[2],
		      dl_torus_grid_sites(g));
}

static void begin_seed(struct parser *p)
{
	if (dl_array_room(p->parsed, p->nparsed, 1, &p->parsed_cap))
		p->parsed[p->nparsed++] = (struct parsed_seed){ .seed.line = p->text.line };
	else
		p->err = -ENOMEM;
}

/* Does a keyword, given in line *before of its seed, change its mind? */
static void note_line(struct parser *p, struct parsed_seed *d, uint32_t *before, bool same)
{
	if (*before && !same)
		WARNING(p, p->text.line,
			"%s: this replaces line %u of the same seed; is a next_seed missing?",
			p->word, *before);
	*before = p->text.line;
	d->given = true;
	if (!d->seed.line)
		d->seed.line = p->text.line;
}

static void config_read_link(struct parser *p, unsigned int dir)
{
	static const char *const what = "two switch GUIDs, such as 0x2000 0x2001";
	struct parsed_seed *d = &p->parsed[p->nparsed - 1];
	uint64_t from, to;

	if (!read_number(p, what, 0, UINT64_MAX, &from) ||
	    !read_number(p, what, 0, UINT64_MAX, &to))
		return;
	note_line(p, d, &d->link_line[dir], d->from[dir] == from && d->seed.to[dir] == to);
	d->from[dir] = from;
	d->seed.to[dir] = to;
}

static void read_dateline(struct parser *p, unsigned int dim)
{
	struct parsed_seed *d = &p->parsed[p->nparsed - 1];
	uint64_t v;

	if (!read_number(p, "a position relative to the seed's switch", -INT32_MAX, INT32_MAX, &v))
		return;
	note_line(p, d, &d->dateline_line[dim], d->seed.dateline[dim] == (int32_t)v);
	d->seed.dateline[dim] = (int32_t)v;
	d->seed.has_dateline[dim] = true;
}

static void config_read_value(struct parser *p, const struct keyword *k)
{
	uint64_t v;

	if (!read_number(p, k->what, 0, UINT32_MAX, &v))
		return;
	*(uint32_t *)((char *)p->c + k->arg) = v;
	if (k->arg == CONFIG(portgroup_max_ports))
		config_complain(p, DL_LOG_VERBOSE, p->text.line,
				"%s: Dateline needs no such limit and takes any number of ports",
				p->word);
}

static void read_ports(struct parser *p)
{
	struct dl_torus_config *c = p->c;
	const char *token, *junk = "";
	uint64_t port;

	c->nport_order = 0; /* the last such line is the one that counts */
	while (*junk != '#' && (token = next_token(p)) && token[0] != '#') {
		if (!scan_number(token, 0, DL_FABRIC_MAX_PORTS, &port, &junk)) {
			ERROR(p, p->text.line, "%s: expected port numbers from 0 to %d, found %s",
			      p->word, DL_FABRIC_MAX_PORTS, config_token_text(token).text);
			return;
		}
		warn_junk(p, token, junk);
		if (!memchr(c->port_order, (int)port, c->nport_order))
			c->port_order[c->nport_order++] = port;
	}
}

static void read_ties(struct parser *p)
{
	static const char *const words[] = { "torus-2QoS", "balanced" };
	const char *token = next_token(p);
	size_t len = token ? strcspn(token, "#") : 0, i;

	for (i = 0; i < 2 && !(len == strlen(words[i]) && !memcmp(token, words[i], len)); i++)
		;
	p->c->balanced_ties = i == 1;
	if (i == 2)
		ERROR(p, p->text.line, "%s: expected balanced or torus-2QoS, found %s", p->word,
		      config_token_text(token).text);
}

static void read_keyword(struct parser *p, const struct keyword *k)
{
	switch (k->kind) {
	case GEOMETRY:
		return read_geometry(p, k->arg);
	case NEXT_SEED:
		return begin_seed(p);
	case LINK:
		return config_read_link(p, k->arg);
	case DATELINE:
		return read_dateline(p, k->arg);
	case NUMBER:
		return config_read_value(p, k);
	case TIES:
		return read_ties(p);
	case PORTS:
		return read_ports(p);
	}
}

static void config_read_line(struct parser *p)
{
	p->word = next_token(p);
	if (!p->word || p->word[0] == '#')
		return;
	for (size_t k = 0; k < NKEYWORDS; k++)
		if (!strcmp(p->word, keywords[k].word)) {
			read_keyword(p, &keywords[k]);
			return;
		}
	ERROR(p, p->text.line,
	      "%s is no keyword; expected torus, mesh, [xyz][pm]_link, "
	      "[xyz]_dateline, next_seed, portgroup_max_ports, port_order, max_changes or ties",
	      config_token_text(p->word).text);
}

/* ---- checks of the whole ----------------------------------------------- */

/* Does a parsed seed have this link, in a dimension that is there? */
static bool config_has_link(const struct parser *p, const struct parsed_seed *d, unsigned int dir)
{
	return d->link_line[dir] && p->c->grid.radix[dl_torus_dir_dim(dir)] > 1;
}

/* An earlier link to the same switch, or DIRS: two ways round a ring of two. */
static unsigned int find_same_neighbour(const struct parser *p, const struct parsed_seed *d,
					unsigned int dir)
{
	for (unsigned int other = 0; other < dir; other++)
		if (config_has_link(p, d, other) && d->seed.to[other] == d->seed.to[dir] &&
		    (other != dl_torus_opposite(dir) ||
		     p->c->grid.radix[dl_torus_dir_dim(dir)] != 2))
			return other;
	return DIRS;
}

/*
 * The seed's links: one common switch, and every neighbour a switch of its
 * own, but for a ring of two, where both ways lead to the same one.
 */
static bool check_links(struct parser *p, const struct parsed_seed *d)
{
	unsigned int first = DIRS, other;

	for (unsigned int dir = 0; dir < DIRS; dir++) {
		uint32_t line = d->link_line[dir], errors = p->nerrors;

		if (!config_has_link(p, d, dir))
			continue;
		first = first == DIRS ? dir : first;
		other = find_same_neighbour(p, d, dir);
		if (d->from[dir] != d->from[first])
			ERROR(p, line,
			      "%s: expected the link to start at 0x%" PRIx64
			      " like %s in line %u, found 0x%" PRIx64,
			      link_word(dir), d->from[first], link_word(first), d->link_line[first],
			      d->from[dir]);
		else if (d->seed.to[dir] == d->from[dir])
			ERROR(p, line,
			      "%s: expected two different switches, found 0x%" PRIx64 " twice",
			      link_word(dir), d->from[dir]);
		else if (other < DIRS)
			ERROR(p, line,
			      "%s: 0x%" PRIx64 " is the neighbour by %s in line %u already",
			      link_word(dir), d->seed.to[dir], link_word(other),
			      d->link_line[other]);
		if (p->nerrors > errors)
			return false;
	}
	return true;
}

/* A link for every dimension that is there. */
static bool check_complete(struct parser *p, const struct parsed_seed *d)
{
	const struct dl_torus_grid *g = &p->c->grid;
	bool complete = true;

	for (unsigned int dim = 0; dim < DIMS; dim++) {
		unsigned int dir = dl_torus_dir(dim, false);
		bool plus = d->link_line[dir], minus = d->link_line[dir + 1];

		if (g->radix[dim] == 1 || (plus && minus))
			continue;
		if (!plus && !minus) {
			ERROR(p, d->seed.line,
			      "the seed that begins here has no %s and no %s; "
			      "expected one of them, since %c has radix %u",
			      link_word(dir), link_word(dir + 1), 'x' + dim, g->radix[dim]);
			complete = false;
		} else if (g->radix[dim] == 4 && !g->mesh[dim]) {
			WARNING(p, d->seed.line,
				"the seed that begins here has no %s: with "
				"radix 4, a torus with failures needs it",
				link_word(dir + plus));
		}
	}
	return complete;
}

static bool check_datelines(struct parser *p, const struct parsed_seed *d)
{
	bool good = true;

	for (unsigned int dim = 0; dim < DIMS; dim++) {
		int32_t radix = p->c->grid.radix[dim];

		if (abs(d->seed.dateline[dim]) < radix)
			continue;
		ERROR(p, d->dateline_line[dim],
		      "%s: expected a position from %d to %d, since %c has radix %d, found %d",
		      keywords[FIRST_DATELINE + dim].word, 1 - radix, radix - 1, 'x' + dim, radix,
		      d->seed.dateline[dim]);
		good = false;
	}
	return good;
}

/* Does a link name GUID 0?  No switch has it, so the seed is of no use. */
static bool names_nobody(struct parser *p, const struct parsed_seed *d, enum dl_log_level level)
{
	for (unsigned int dir = 0; dir < DIRS; dir++) {
		if (!config_has_link(p, d, dir) || (d->from[dir] && d->seed.to[dir]))
			continue;
		config_complain(p, level, d->link_line[dir],
				"%s: expected the GUIDs of two switches, found 0%s", link_word(dir),
				level == DL_LOG_WARNING ? "; this seed is left out" : "");
		return true;
	}
	return false;
}

static void keep_seed(struct parser *p, const struct parsed_seed *d)
{
	struct dl_torus_seed *seed = &p->c->seeds[p->c->nseeds];

	*seed = d->seed;
	for (unsigned int dir = 0; dir < DIRS; dir++) {
		if (config_has_link(p, d, dir))
			seed->from = d->from[dir];
		else
			seed->to[dir] = 0;
	}
	/* Where no dimension is there, no link is, and none is needed. */
	p->c->nseeds += seed->from != 0;
}

/* Turn what was parsed into seeds. */
static void config_finish_seeds(struct parser *p)
{
	const struct parsed_seed *d = p->parsed, *end = p->parsed + p->nparsed;
	bool useless = false;

	p->c->seeds = calloc(p->nparsed, sizeof(*p->c->seeds));
	if (!p->c->seeds) {
		p->err = -ENOMEM;
		return;
	}
	/* The first seed may have a next_seed. */
	for (d += !d->given; d < end && p->nerrors < MAX_ERRORS; d++) {
		if (!d->given)
			ERROR(p, d->seed.line,
			      "next_seed: expected links of another seed to follow, found none");
		else if (!check_complete(p, d) | !check_datelines(p, d))
			continue;
		else if (names_nobody(p, d, DL_LOG_WARNING))
			useless = true;
		else if (check_links(p, d))
			keep_seed(p, d);
	}
	if (useless && !p->c->nseeds && !p->nerrors)
		names_nobody(p, end - 1, DL_LOG_ERROR);
}

/* ---- files ------------------------------------------------------------- */

static void config_read_lines(struct parser *p)
{
	int more;

	while (!p->err && p->nerrors < MAX_ERRORS && (more = dl_text_next(&p->text))) {
		if (more > 0)
			config_read_line(p);
		else if (more == -EINVAL)
			p->nerrors++; /* no text */
		else
			p->err = more;
	}
}

int dl_torus_config_read_stream(FILE *from, const char *name, const struct dl_log *log,
				struct dl_torus_config **out)
{
	struct parser p = { .c = dl_torus_config_new(NULL, name, 0) };

	if (!p.c)
		return -ENOMEM;
	dl_text_begin(&p.text, from, name, log);
	begin_seed(&p);
	config_read_lines(&p);
	if (!p.err && !p.nerrors && !p.geometry_line)
		ERROR(&p, p.text.line,
		      "expected a line \"torus X Y Z\" or \"mesh X Y Z\", "
		      "found the end of the file");
	if (!p.err && !p.nerrors)
		config_finish_seeds(&p);
	if (p.nerrors >= MAX_ERRORS)
		dl_log(log, DL_LOG_ERROR, "%s: too many errors", name);
	if (!p.err && p.nerrors)
		p.err = -EINVAL;
	if (p.err)
		dl_torus_config_free(p.c);
	else
		*out = p.c;
	dl_text_end(&p.text);
	free(p.parsed);
	return p.err;
}

int dl_torus_config_read(const char *path, const struct dl_log *log, struct dl_torus_config **out)
{
	FILE *from = fopen(path, "re");
	int err;

	if (!from) {
		err = -errno;
		return dl_fail(log, err, "%s: cannot be opened: %m", path);
	}
	err = dl_torus_config_read_stream(from, path, log, out);
	fclose(from);
	return err;
}

/* ---- writing ----------------------------------------------------------- */

static bool write_geometry(const struct keyword *k, const struct dl_torus_grid *g, FILE *to)
{
	unsigned int present = 0, open = 0;

	for (unsigned int d = 0; d < DIMS; d++) {
		present += g->radix[d] > 1;
		open += g->radix[d] > 1 && g->mesh[d];
	}
	/* The one of the two keywords that takes fewer suffixes. */
	if (k->arg != (2 * open > present))
		return false;
	fputs(k->word, to);
	for (unsigned int d = 0; d < DIMS; d++)
		fprintf(to, " %u%s", g->radix[d],
			g->mesh[d] == k->arg ? "" :
			g->mesh[d]	     ? "m" :
					       "t");
	return true;
}

/* Returns whether there is anything to write. */
static bool write_value(const struct keyword *k, const struct dl_torus_config *c,
			const struct dl_torus_seed *s, FILE *to)
{
	switch (k->kind) {
	case GEOMETRY:
		return write_geometry(k, &c->grid, to);
	case NEXT_SEED:
		fprintf(to, s == c->seeds ? "\n# The first seed: links from one "
					    "switch, and their directions.\n" :
					    "\nnext_seed");
		return s != c->seeds;
	case LINK:
		if (s->to[k->arg])
			fprintf(to, "%s 0x%" PRIx64 " 0x%" PRIx64, k->word, s->from, s->to[k->arg]);
		return s->to[k->arg];
	case DATELINE:
		if (s->has_dateline[k->arg])
			fprintf(to, "%s %d", k->word, s->dateline[k->arg]);
		return s->has_dateline[k->arg];
	case NUMBER:
		fprintf(to, "%s%s %u", k == &keywords[REST] ? "\n" : "", k->word,
			*(const uint32_t *)((const char *)c + k->arg));
		return true;
	case TIES:
		if (c->balanced_ties)
			fprintf(to, "%s balanced", k->word);
		return c->balanced_ties;
	default:
		/* The built-in engine would take a comment behind for ports. */
		if (c->nport_order)
			fprintf(to,
				"# Order in which a switch's adapter ports are given routes.\n%s",
				k->word);
		for (uint32_t i = 0; i < c->nport_order; i++)
			fprintf(to, " %d", c->port_order[i]);
		return c->nport_order;
	}
}

static void write_keywords(const struct dl_torus_config *c, const struct dl_torus_seed *seed,
			   size_t from, size_t to, FILE *out)
{
	for (const struct keyword *k = keywords + from; k < keywords + to; k++)
		if (write_value(k, c, seed, out))
			fprintf(out, k->comment ? "\t# %s\n" : "\n", k->comment);
}

int dl_torus_config_write(const struct dl_torus_config *c, FILE *to)
{
	fprintf(to, "# Torus configuration, see torus-2QoS.conf(5).\n");
	write_keywords(c, NULL, 0, FIRST_OF_SEED, to);
	for (uint32_t i = 0; i < c->nseeds; i++)
		write_keywords(c, &c->seeds[i], FIRST_OF_SEED, REST, to);
	write_keywords(c, NULL, REST, NKEYWORDS, to);
	return fflush(to) || ferror(to) ? -EIO : 0;
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `dateline report`: a snapshot as one HTML file.
 *
 *   report.c            the command
 *   report_model.c      the page's own numbers of switches, ends and cables
 *   report_fabric.c     what there is, what has failed, how it is loaded
 *   report_tables.c     the tables themselves, so that any path can be drawn
 *   report_change.c     the difference to an earlier snapshot
 *   report_moments.c    several earlier snapshots, for a slider
 *   report_emulation.c  what an emulation measured
 *   report_html.c       the file: page, style, program, data
 *   report/             page, style and program, put into the command by make
 *
 * Data.  One JSON document holds all that the page shows when it opens.  The
 * tables, which are large and needed only for a path or a tree, follow as
 * bytes, compressed (zlib, base64): the page unpacks each when it is first
 * asked for.
 */
#ifndef TOOL_REPORT_H
#define TOOL_REPORT_H

#include "tools/common/background.h"
#include "tools/diff/diff.h"
#include "tools/path/path.h"
#include "tools/verify/verify.h"

/* A cable between two switches; [0] at the lower page number. */
struct report_cable {
	uint32_t port[2]; /* port indices */
};

/*
 * The numbers by which the page knows things: switches in the order of their
 * sites (those without one last), then the end ports of adapters and routers,
 * by switch and its port.  So neighbours in the fabric are neighbours in the
 * tables, and what repeats itself compresses well.
 *
 * An "end" is a switch's port 0 (its number is the switch's) or another end
 * port (numbered from nswitches on).
 */
struct report_page {
	struct dl_arena arena; /* of the arrays */
	const struct dl_fabric *fabric;
	const struct dl_tables *tables;
	const struct tool_coords *coords;
	const struct tool_input *input; /* which they are of */
	uint32_t *switches;		/* switch number by page number */
	uint32_t *place;		/* page number by switch number */
	uint32_t *ends;			/* port index by end */
	uint32_t nends;			/* switches included */
	uint32_t *end_of;		/* by port index: end, or DL_NONE */
	struct report_cable *cables;
	uint32_t ncables;
	/* By port index: 2 * cable + (1 at its second end), or DL_NONE. */
	uint32_t *way_of;
	uint16_t *lids; /* LIDs in use, by their end */
	uint32_t nlids;
};

/* Into a column; -1 where there is none. */
static inline void report_push(json_t *list, json_int_t value)
{
	json_array_append_new(list, json_integer(value));
}

static inline json_int_t report_or_minus(uint32_t value)
{
	return value == DL_NONE ? -1 : (json_int_t)value;
}

int report_page_init(struct report_page *p, const struct tool_input *in);
void report_page_release(struct report_page *p);

/* Parts of the document. */
json_t *report_fabric(const struct report_page *p);
json_t *report_missing(const struct report_page *p);
/* `verdict` is what verify found, as its document, which becomes the part. */
json_t *report_verdict(const struct report_page *p, const struct dl_verify_result *v,
		       json_t *verdict);
/* Those that may fail are added to it.  The loads of the ways: 0 or -ENOMEM. */
int report_load(const struct report_page *p, const struct dl_log *log, json_t *document);

/*
 * What ports counted, `from` a file or "live"; beside it the prediction of
 * `predicted`, a document of an emulation, unless it is NULL.  0 or a negative errno,
 * reported.
 */
int report_counters(struct tool *tool, const struct report_page *p, struct path_request *r,
		    json_t *document);

/* What describes the tables, which report_write_tables() writes. */
json_t *report_tables(const struct report_page *p);

/*
 * The difference between two snapshots.  From the beginning to the document,
 * the change of tables is checked on another core.
 */
struct report_change {
	const struct report_page *now, *then;
	const struct dl_log *log;
	struct diff d; /* from now to then */
	struct background background;
	json_t *transition;
};

/* With now, then and log.  0, -EINVAL (reported), -ENOMEM; release in any case. */
int report_change_begin(struct report_change *c);
/* `v` is of the new tables, and compared their path SLs.  0 or -ENOMEM. */
int report_change_json(struct report_change *c, const char *dir, const struct dl_verify_result *v,
		       json_t *document);
void report_change_release(struct report_change *c);

/* An earlier snapshot. */
struct report_earlier {
	const char *title; /* borrowed */
	struct tool_input input;
	struct report_page page;
};

/* Several, oldest first.  0, -EINVAL (of another fabric, reported), -ENOMEM. */
int report_moments(const struct report_page *now, const struct report_earlier *list, uint32_t n,
		   const struct dl_log *log, json_t *document);

/*
 * Read what `dateline emulate --json` printed.  0, -EINVAL (not such a
 * document, or of another fabric; reported), -ENOMEM.
 */
int report_emulation(const struct report_page *p, const char *path, const struct dl_log *log,
		     json_t *document);

/* Read what emulations recorded, to play side by side; likewise. */
int report_recordings(const struct report_page *p, const struct tool_names *files,
		      const struct dl_log *log, json_t *document);

/* The tables, as elements of the page.  0, -EIO, -ENOMEM. */
int report_write_tables(const struct report_page *p, FILE *to);

/* The whole file.  0, -EIO, -ENOMEM. */
int report_write(const struct report_page *p, const json_t *document, FILE *to);

/* Page, style and program: made from report/ by make. */
struct report_source {
	const unsigned char *text;
	size_t len;
};
extern const struct report_source report_html, report_css, report_js;

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the subcommands of `dateline` share: exit statuses, messages, options
 * that all of them take, and files.
 *
 * Output.  Standard output carries results, and with --json one JSON document
 * and nothing else.  Messages for people go to standard error through the
 * tool's log.
 */
#ifndef TOOL_H
#define TOOL_H

#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "dateline.h"
#include "dateline/base.h"
#include "dateline/torus.h"

enum tool_exit {
	TOOL_EXIT_GOOD = 0,
	TOOL_EXIT_FINDING = 1,	  /* unsafe, undelivered, deadlock, refused */
	TOOL_EXIT_USAGE = 2,	  /* wrong options or damaged input */
	TOOL_EXIT_ENVIRONMENT = 3 /* no fabric, no memory, no space */
};

/* How far something is that may take long; from zeroed memory. */
struct tool_progress {
	const char *what;    /* this runs since ... */
	double total;	     /* ... up to that, */
	double begin, shown; /* ... and was last shown, in seconds */
	double first;	     /* when anything began */
};

/* One run of the command.  A subcommand gets it from main(). */
struct tool {
	struct dl_log log;	 /* prints to standard error */
	enum dl_log_level level; /* the last level that is printed */
	bool colour;		 /* is standard error a terminal with codes? */
	bool json;		 /* --json: set by tool_options() */
	json_t *warnings;	 /* texts; NULL: one was lost, no memory */
	bool finding;		 /* is a success a finding all the same? */
	unsigned int errors;	 /* said so far */
	struct tool_progress progress;
};

/* A subcommand: returns an exit status; argv[0] is "dateline WORD". */
typedef int tool_command(struct tool *tool, int argc, char **argv);

#define COMMAND(word, summary) tool_command tool_cmd_##word;
#include "tools/commands.def"
#undef COMMAND

/*
 * The exit status that a negative errno (or 0) of the library stands for.  What
 * cannot be read is bad input; what cannot be written is -EIO, whatever the
 * cause that was reported.
 */
enum tool_exit tool_exit_status(int err);

#define TOOL_UNWRITTEN (-EIO)

/*
 * Log an assumption about what the input lacks; it goes into the
 * document's warnings, too.
 */
void tool_assume(struct tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Plural endings. */
static inline const char *tool_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static inline const char *tool_es(uint64_t n)
{
	return n == 1 ? "" : "es";
}

/* ---- options ----------------------------------------------------------- */

enum tool_usage_flags {
	TOOL_JSON = 1 /* the subcommand offers --json */
};

/*
 * A subcommand's command line as tables of settings.  Argument after argument
 * goes to `args`; a last one that is a call gets all further ones.  One that
 * is required and missing is an error: "which NAME?".
 */
struct tool_usage {
	const struct dl_setting *options; /* NULL: none of its own */
	const struct dl_setting *args;	  /* NULL: none */
	/*
	 * What it reads: the options of input.h, and where in the result their
	 * struct tool_input_options is, whose `from` is the only argument, called
	 * so in messages, unless `args` has it.  NULL: nothing of the kind.
	 */
	const struct dl_setting *input;
	size_t input_at;
	const char *what;
	/* Options that do not go together: argp_error().  May be NULL. */
	void (*check)(const struct argp_state *state, void *to);
	const char *args_doc, *doc; /* as of struct argp */
	unsigned int flags;	    /* enum tool_usage_flags */
};

/*
 * Parse a command line into `to`, with the options that all subcommands share
 * (--quiet, --verbose, --help, ...).  A setting named "" is a heading in
 * --help.  Wrong usage ends the process with status 2.
 */
void tool_options(struct tool *tool, const struct tool_usage *usage, int argc, char **argv,
		  void *to);

/*
 * For a usage's `check`: the first on the command line of these options of its table, by
 * names separated by blanks; NULL: none is there.  The command knows 32 options at most.
 */
const char *tool_first_given(const struct argp_state *state, const char *names);

/*
 * The values of an option that may be given several times, each the command line's;
 * from zeroed memory.  The reader is a setting's `call`, with DL_MEMBER() of them.
 */
struct tool_names {
	const char **names;
	uint32_t n;
};

int tool_names_read(const struct dl_setting *s, void *to, const char *text, char *why, size_t size);
void tool_names_release(struct tool_names *l);

/* ---- progress ---------------------------------------------------------- */

/* Is there a terminal for it, and is it wanted? */
bool tool_shows_progress(const struct tool *tool);

/*
 * Show one line on the terminal, once it takes longer than two seconds: how much
 * is done, the rate and the time left.  What is done of `what` counts from its
 * first call.  `unit` follows the numbers.  Without `total` the line goes away.
 */
void tool_progress(struct tool_progress *p, const char *what, const char *unit, double done,
		   double total);

/* ---- files ------------------------------------------------------------- */

struct dl_route_tree;

/* Draw a multicast tree in characters. */
void tool_draw_tree(const struct dl_torus *t, const struct dl_route_tree *tree, FILE *to);

/*
 * Write a snapshot: a file if the name ends in ".dls", else an export, for which
 * missing parent directories are created.  0 or a negative errno, reported;
 * -EEXIST: what is there is no export.
 */
int tool_write_snapshot(const struct tool *tool, const struct dl_snapshot *s, const char *path,
			unsigned int flags);

/* Create the directories above a path, unless they exist.  Errors reported. */
int tool_make_parents(const struct tool *tool, const char *path);

struct tool_out {
	FILE *file;
	char *path;
	struct dl_file whole; /* without `to`: a device or a pipe */
};

/*
 * Create the file `name` in the directory `dir` (NULL: the current one).
 * `name` "-" without a directory is standard output; one that is a device or
 * a pipe is written to as it is.  Returns 0 or a negative errno, reported.
 * Close with tool_out_close().
 */
int tool_out_open(const struct tool *tool, const char *dir, const char *name, struct tool_out *out);

/* Could it be created?  What takes long asks before.  0 or a negative errno, reported. */
int tool_out_try(const struct tool *tool, const char *dir, const char *name);

/*
 * Put the file in place.  `err` is what its writer returned.  When that or
 * writing failed, reports it, leaves what was there before and returns the
 * negative errno.
 */
int tool_out_close(const struct tool *tool, struct tool_out *out, int err);

/*
 * Both, around a call that writes to `to`; 0 or a negative errno, reported:
 *
 *	err = tool_write(tool, NULL, path, to, dl_torus_config_write(c, to));
 */
#define tool_write(tool, dir, name, to, call)                     \
	({                                                        \
		struct tool_out out_;                             \
		int err_ = tool_out_open(tool, dir, name, &out_); \
                                                                  \
		if (!err_) {                                      \
			FILE *to = out_.file;                     \
                                                                  \
			err_ = tool_out_close(tool, &out_, call); \
		}                                                 \
		err_;                                             \
	})

/*
 * Add a note to a snapshot, from a call that writes to `to`; 0 or a negative
 * errno.
 */
#define tool_add_note(snapshot, name, to, call)                                      \
	({                                                                           \
		char *text_;                                                         \
		size_t len_;                                                         \
		int wrong_ = dl_memory_write(&text_, &len_, to, call);               \
                                                                                     \
		wrong_ ? wrong_ : dl_snapshot_add_note(snapshot, name, text_, len_); \
	})

/* ---- documents; see document.c ------------------------------------------- */

/*
 * Watch over the memory of all documents, from the beginning on; has some call
 * found none?  Then no result is whole: none is printed, no file is put in
 * place, and the exit status is TOOL_EXIT_ENVIRONMENT.
 */
void tool_json_begin(void);
bool tool_json_failed(void);

/* Read a document.  0 or a negative errno, reported. */
int tool_json_read(const char *path, const struct dl_log *log, json_t **out);

/* Names are free text; JSON takes UTF-8 only: what is not becomes "?"s. */
json_t *tool_json_text(const char *text);

/*
 * "0x..."; a name, with the GUID if others have it, too; {guid, name}; {guid, port}, or null
 * for DL_NONE; {name, port}.
 */
json_t *tool_json_guid(const struct dl_fabric *f, uint32_t node);
json_t *tool_json_name(const struct dl_fabric *f, uint32_t node);
json_t *tool_json_node(const struct dl_fabric *f, uint32_t node);
json_t *tool_json_port(const struct dl_fabric *f, uint32_t port);
json_t *tool_json_named_port(const struct dl_fabric *f, uint32_t port);

/* [x, y, z], or null for DL_NONE; a number, or null. */
json_t *tool_json_coord(const struct dl_torus_grid *g, uint32_t site);
json_t *tool_json_or_null(bool meaningful, json_int_t number);

/*
 * The object, with another key.  As everywhere, a call that finds no memory need not
 * be noticed: tool_json_failed() knows; also of a value that is NULL because of
 * other memory.
 */
json_t *tool_json_with(json_t *object, const char *key, json_t *value);

/* A value by its keys, such as "switch.name"; NULL, 0 or false: none there. */
const json_t *tool_at(const json_t *document, const char *path);
json_int_t tool_int_at(const json_t *document, const char *path);
bool tool_true_at(const json_t *document, const char *path);
bool tool_has(const json_t *document, const char *path); /* and not null? */

/*
 * Print text by a template.  "{path}" is a value of the document; a list's
 * elements stand between commas, and what is null or missing is "-".
 * "{path:8}" is right-justified, "{path:-8}" left, "{path:8.3}" has three
 * decimals, and "{path#switch}" counts: "1 switch", "2 switches" with
 * "{path#switch/es}".  "{?path}text{/}" is text for a value that is there and
 * neither null nor an empty list, "{!path}text{/}" otherwise; "{+path}text{/}" wants
 * neither false nor 0, either; and "{*path}text{/}" is text for each element of a list,
 * whose values it names.
 */
void tool_print(FILE *to, const json_t *document, const char *template);

/* A text, or nothing for null, as a field of comma-separated values. */
void tool_print_csv(FILE *to, const json_t *value);
/* All tables of a document, a CSV file each in a directory: csv.c.  0 or negative, reported. */
int tool_write_tables(const struct tool *tool, const char *dir, const json_t *document);

/* What `print` prints, for free(); NULL: no memory, as tool_json_failed() then says. */
char *tool_text_of(const json_t *document, void (*print)(const json_t *document, FILE *to));

/*
 * Print a document to standard output, with "format" and "warnings" added, and
 * release it.  It may be NULL, which
 * stands for "no memory" (so results of json_pack() can be passed on
 * unchecked).  Returns 0 or -ENOMEM.
 */
int tool_print_json(const struct tool *tool, json_t *document);

/* The same with a member that is printed as it is made: for large ones. */
struct tool_part {
	const char *key;
	void (*print)(const void *context, FILE *to);
	const void *context;
};
int tool_print_json_with(const struct tool *tool, json_t *document, const struct tool_part *part);

/* The same, or with `print` as text unless --json was given. */
int tool_show(const struct tool *tool, json_t *document,
	      void (*print)(const json_t *document, FILE *to));

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What every room of libdateline shares: conventions, messages, invariants,
 * text, numbers, settings, YAML, arrays, arenas, random numbers.
 *
 * Conventions.  Functions that can fail return 0 or a negative errno value;
 * results come through the last parameter, which is left alone on failure.
 * Every message meant for a person goes to the caller's log.  The library
 * never prints, exits or aborts, keeps no global state, and gives the same
 * bytes for the same input.  Several threads may read an object at once; only
 * one thread may change it.
 */
#ifndef DATELINE_BASE_H
#define DATELINE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DL_NONE UINT32_MAX /* no such node, port, switch or site */

/* ---- messages --------------------------------------------------------------- */

enum dl_log_level { DL_LOG_ERROR, DL_LOG_WARNING, DL_LOG_INFO, DL_LOG_VERBOSE };

/* Where messages go.  `message` is one line without its newline. */
struct dl_log {
	void (*write)(void *context, enum dl_log_level level, const char *message);
	void *context;
	/*
	 * Called now and then during long work: how much of it is done; `unit`
	 * follows the numbers.  At the end `done` equals `total`.  May be NULL.
	 */
	void (*progress)(void *context, const char *what, const char *unit, double done,
			 double total);
};

/* Report progress; `log` may be NULL. */
static inline void dl_progress(const struct dl_log *log, const char *what, const char *unit,
			       double done, double total)
{
	if (log && log->progress)
		log->progress(log->context, what, unit, done, total);
}

/* Format a message, at most 1023 bytes, and hand it to `log`, which may be NULL. */
void dl_log(const struct dl_log *log, enum dl_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Log an error.  Returns `err`. */
int dl_fail(const struct dl_log *log, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- invariants ------------------------------------------------------------- */

/*
 * What one room promises and the next one relies on:
 *
 *	if (dl_broken(log, lid <= DL_FABRIC_MAX_LID))
 *		return -EPROTO;
 *
 * A broken invariant is a fault of the program, never of its input.  It is
 * logged with its place (`log` may be NULL).  A build with --enable-debug then
 * aborts; any other build takes the caller's error path, so that a subnet manager
 * keeps the tables that it has.
 */
#define dl_broken(log, invariant) \
	(__builtin_expect(!(invariant), 0) && dl_broken_at(log, #invariant, __FILE__, __LINE__))

/* Reports and returns true, or aborts. */
bool dl_broken_at(const struct dl_log *log, const char *invariant, const char *file, int line)
	__attribute__((cold));

/* ---- text ------------------------------------------------------------------- */

/*
 * Reading text line by line and token by token, with messages that name file,
 * line, token and what was expected.
 *
 * Lines end in LF, CR LF, or with the file; with `whole` set, which is for what
 * programs write, a last line without an end is refused, as the file may have been
 * cut there.  A byte 0 is refused, so that a line is a C string, and a line of more
 * than 64 MB.
 */
#define DL_TEXT_LONGEST (1 << 26) /* bytes of a line */

struct dl_text {
	FILE *from;	  /* borrowed */
	const char *name; /* of the file, for messages; borrowed */
	const struct dl_log *log;
	uint32_t line; /* number of the current line, from 1 */
	char *at;      /* where reading goes on in the current line */
	/*
	 * The piece of the file at hand.  Whole lines from `next` up to `lines`, each with
	 * its newline and without a byte 0, may be taken by whoever counts them in `line`.
	 */
	char *next, *lines;
	char *buf, *end, *zero; /* zero: the first byte 0, or NULL */
	size_t cap;
	uint64_t bytes; /* read so far */
	bool at_end, whole;
};

/* Begin with line 0 of a stream.  Release with dl_text_end(). */
void dl_text_begin(struct dl_text *t, FILE *from, const char *name, const struct dl_log *log);
void dl_text_end(struct dl_text *t);

/* Go to the next line.  1: there is one; 0: end of file; negative errno. */
int dl_text_next(struct dl_text *t);

/*
 * Call `line` with each line of a stream, or of a file, until it returns a negative errno.
 * 0 or a negative errno; it is reported if the file cannot be read.
 */
typedef int (*dl_text_line)(void *context, struct dl_text *t);
int dl_text_each(FILE *from, const char *name, const struct dl_log *log, dl_text_line line,
		 void *context);
int dl_text_each_of(const char *path, const struct dl_log *log, dl_text_line line, void *context);

/* Report an error in the current line.  Returns -EINVAL. */
int dl_text_error(const struct dl_text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Report that the token at `at` is not what was expected.  -EINVAL. */
int dl_text_expected(const struct dl_text *t, const char *what);

/* Skip blanks; if the given character follows, skip it too and return true. */
bool dl_text_take(struct dl_text *t, char c);

/* Skip blanks; if the given string follows, skip it too and return true. */
bool dl_text_take_string(struct dl_text *t, const char *s);

/* Skip blanks; then, is this the end of the line? */
bool dl_text_at_end(struct dl_text *t);

/*
 * Skip blanks and read an unsigned number of at most `max` in the base of
 * strtoull().  0, or -EINVAL after a message that `what` was expected.
 */
int dl_text_number(struct dl_text *t, int base, uint64_t max, const char *what, uint64_t *out);

/*
 * Skip blanks and read a name in double quotes.  *out is its first character,
 * *len its length; it is not ended by NUL.  0, or -EINVAL after a message.
 */
int dl_text_quoted(struct dl_text *t, const char *what, const char **out, size_t *len);

/*
 * Clean untrusted text, such as a host's description, in place: control characters,
 * which a terminal would obey, become blanks; bytes that are not UTF-8, and characters
 * that only change how others are displayed, become "?".  Returns the new length.
 */
size_t dl_text_clean(char *text);

/* Append to a string, within the size of its buffer. */
void dl_text_append(char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- numbers ---------------------------------------------------------------- */

/*
 * The unsigned number at the beginning of a text in the base of strtoull(),
 * but without a sign and a locale.  Returns what follows it; the text itself
 * when there is none, or none that fits.
 */
const char *dl_number_scan(const char *text, unsigned int base, uint64_t *out);

#define DL_NUMBER_ANY (-1) /* as `max`, with `min` 0: any unsigned one */

/*
 * Is the whole text one number from min to max, decimal without leading zeros
 * (which some read as octal) or 0x...?  The same for a decimal number, rounded to
 * six decimals; it and its limits are in millionths.
 */
bool dl_number_parse(const char *text, int64_t min, int64_t max, int64_t *out);
bool dl_decimal_parse(const char *text, int64_t min, int64_t max, int64_t *out);

/* ---- settings --------------------------------------------------------------- */

/*
 * What a person can set: an option of a command, a key of a YAML file, a
 * key=value word of the plugin.  One table of them, ended by a name of NULL,
 * drives parsing, messages and help.  Values go into the members of a
 * structure; numbers and indices into one of 1, 2, 4 or 8 bytes, signed or not.
 *
 *	static const struct dl_setting settings[] = {
 *		{ "levels", DL_SETTING_NUMBER, DL_MEMBER(struct request, levels),
 *		  .min = 1, .max = 2, .arg = "N", .doc = "QoS levels" },
 *		{ 0 }
 *	};
 */
enum dl_setting_type {
	DL_SETTING_CALL,    /* read by `call` or `read` */
	DL_SETTING_FLAG,    /* `max`, or 1 where that is 0; text: yes or no */
	DL_SETTING_NUMBER,  /* from min to max, as by dl_number_parse() */
	DL_SETTING_DECIMAL, /* in millionths, as by dl_decimal_parse() */
	DL_SETTING_WORD,    /* the index among `words` */
	DL_SETTING_TEXT,    /* char *: a copy, not empty; the old one is freed */
	DL_SETTING_BORROW   /* const char *: the caller's text; not in YAML */
};

struct dl_setting;
struct dl_yaml;	     /* a file that is read */
struct dl_yaml_node; /* a value in it */

/*
 * Readers of values that no type describes: of a text, and of a node.  `to`
 * is the whole structure.  0 or a negative errno; a reader of texts that
 * returns -EINVAL has written into `why` what was expected.
 */
typedef int dl_setting_call(const struct dl_setting *s, void *to, const char *text, char *why,
			    size_t size);
typedef int dl_yaml_reader(struct dl_yaml *y, const struct dl_yaml_node *value,
			   const struct dl_setting *s, void *to);

struct dl_setting {
	const char *name; /* without "--" */
	enum dl_setting_type type;
	size_t offset, size; /* of the member: DL_MEMBER() */
	int64_t min, max;
	const char *words; /* choices, separated by blanks */
	dl_setting_call *call;
	dl_yaml_reader *read;
	const char *expected;  /* in messages; NULL: what the type says */
	bool required;	       /* YAML, arguments: an error when it is missing */
	char key;	       /* short option, or 0 */
	signed char group;     /* of argp */
	const char *arg, *doc; /* in --help */
};

#define DL_MEMBER(type, member) \
	.offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* The member that a setting sets. */
static inline void *dl_setting_member(const struct dl_setting *s, void *to)
{
	return (char *)to + s->offset;
}

/*
 * Set a member from a text; NULL is a flag without a value.  0, -ENOMEM, or
 * -EINVAL: `why` says then what was expected.
 */
int dl_setting_set(const struct dl_setting *s, void *to, const char *text, char *why, size_t size);

/* What a setting expects, such as "a whole number from 1 to 2". */
void dl_setting_expected(const struct dl_setting *s, char *text, size_t size);

/* The setting of that name, of `len` characters, or NULL; all names. */
const struct dl_setting *dl_setting_find(const struct dl_setting *table, const char *name,
					 size_t len);
void dl_setting_list(const struct dl_setting *table, char *list, size_t size);

/* ---- YAML ------------------------------------------------------------------- */

/*
 * YAML files, read by tables of settings, one for each kind of mapping.
 * Whatever is wrong is reported as "FILE:LINE: ... expected ...": wrong YAML,
 * a key that the table lacks, one that stands there twice, one that is
 * missing, a value that does not fit.  The first error ends it.
 */

/*
 * Read a file ("-": standard input) whose root is a mapping with these keys.
 * 0 or a negative errno, reported.
 */
int dl_yaml_read(const char *path, const struct dl_log *log, const struct dl_setting *keys,
		 void *to);

/* The same from an open stream; `name` stands in messages. */
int dl_yaml_read_stream(FILE *from, const char *name, const struct dl_log *log,
			const struct dl_setting *keys, void *to);

/* For readers of nodes.  Report an error at a node: -EINVAL. */
int dl_yaml_error(const struct dl_yaml *y, const struct dl_yaml_node *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Report that there is no memory: -ENOMEM. */
int dl_yaml_no_memory(const struct dl_yaml *y, const struct dl_yaml_node *at);

/* A node's line, from 1 on; of what kind is it? */
unsigned int dl_yaml_line(const struct dl_yaml_node *n);
bool dl_yaml_is_list(const struct dl_yaml_node *n);
bool dl_yaml_is_mapping(const struct dl_yaml_node *n);

/* A list's items, a mapping's pairs: how many; the i-th, or NULL or false. */
size_t dl_yaml_count(const struct dl_yaml_node *n);
const struct dl_yaml_node *dl_yaml_item(struct dl_yaml *y, const struct dl_yaml_node *list,
					size_t i);
bool dl_yaml_pair(struct dl_yaml *y, const struct dl_yaml_node *mapping, size_t i,
		  const struct dl_yaml_node **key, const struct dl_yaml_node **value);

/*
 * Of a mapping, the first of these keys that is there; the mapping, if there is none.  So
 * what concerns several keys is reported with the line of one of them.
 */
const struct dl_yaml_node *dl_yaml_key(struct dl_yaml *y, const struct dl_yaml_node *mapping,
				       const char *names);

/*
 * Read a mapping with the keys of a table.  When all have been read, its last entry's
 * `read`, if there is one, is called with the mapping.
 */
int dl_yaml_mapping(struct dl_yaml *y, const struct dl_yaml_node *n, const struct dl_setting *keys,
		    void *to);

/* Set the member of one setting, whose name stands in messages. */
int dl_yaml_value(struct dl_yaml *y, const struct dl_yaml_node *n, const struct dl_setting *s,
		  void *to);

/* A number from min to max; the index of one of the words. */
int dl_yaml_number(struct dl_yaml *y, const struct dl_yaml_node *n, const char *what, int64_t min,
		   int64_t max, int64_t *out);
/* The same for a key, which may stand in quotes: in JSON all keys do. */
int dl_yaml_number_key(struct dl_yaml *y, const struct dl_yaml_node *n, const char *what,
		       int64_t min, int64_t max, int64_t *out);
int dl_yaml_word(struct dl_yaml *y, const struct dl_yaml_node *n, const char *what,
		 const char *words, unsigned int *out);

/* ---- arrays ----------------------------------------------------------------- */

/*
 * Make room for `more` elements of `size` bytes behind the first `used` of
 * *cap.  Returns the array, which may have moved, or NULL when there is no
 * memory or more than 32 bits can count; the old array is then still there.
 */
void *dl_array_grow(void *array, size_t size, uint32_t used, size_t more, uint32_t *cap);

/* The same of a variable that holds the array: is there room? */
#define dl_array_room(array, used, more, cap)                                           \
	({                                                                              \
		void *grown_ = dl_array_grow(array, sizeof(*(array)), used, more, cap); \
                                                                                        \
		(array) = grown_ ? grown_ : (array);                                    \
		grown_ != NULL;                                                         \
	})

/*
 * How many of n sorted items come before something: `before` says of item number `i`
 * whether it does.
 */
#define dl_array_count_before(i, n, before)                     \
	({                                                      \
		uint32_t low_ = 0, high_ = (n);                 \
                                                                \
		while (low_ < high_) {                          \
			uint32_t i = low_ + (high_ - low_) / 2; \
                                                                \
			if (before)                             \
				low_ = i + 1;                   \
			else                                    \
				high_ = i;                      \
		}                                               \
		low_;                                           \
	})

/*
 * Memory for random access: in large pages, where the system has them, so that
 * address translation stays cached.  Not initialised, aligned to cache lines, freed
 * by free().  NULL: no memory.
 */
void *dl_array_large(size_t n, size_t size);

/* ---- arenas ----------------------------------------------------------------- */

/*
 * Memory of one job, taken piece by piece and freed at once.  All zero is an
 * empty arena without a limit.  Pieces are aligned for any type and never
 * move.  NULL: no memory, or beyond the limit; the arena stays as it is.
 */
struct dl_arena {
	struct dl_arena_block *last;
	size_t used;  /* bytes handed out */
	size_t limit; /* of `used`; 0: none */
};

void *dl_arena_alloc(struct dl_arena *a, size_t bytes);		 /* not initialised */
void *dl_arena_zalloc(struct dl_arena *a, size_t bytes);	 /* all zero */
void *dl_arena_array(struct dl_arena *a, size_t n, size_t size); /* all zero */

/* Free every piece.  The arena is empty then and can be used again. */
void dl_arena_free(struct dl_arena *a);

/* ---- topological order (order.c) -------------------------------------------- */

/* List the vertices that one leads to (`forward`), or that lead to it; how many there are. */
typedef uint32_t (*dl_order_neighbours)(const void *context, uint32_t vertex, bool forward,
					uint32_t *list);

/* Of vertices 0..n-1, whose edges the caller keeps. */
struct dl_order {
	uint32_t n;
	uint32_t *at, *pos; /* vertex by position, position by vertex */
	uint32_t *parent;   /* after a refusal: from x back to y */
	dl_order_neighbours neighbours;
	const void *context;
	uint32_t *seen, epoch, *before, *after, *stack, *list;
	uint64_t *bits;	 /* by position; all clear between uses */
	uint64_t effort; /* neighbours that dl_order_reorder() looked at so far */
};

/* In the arena's memory; a vertex has at most so many neighbours.  0 or -ENOMEM. */
int dl_order_init(struct dl_order *o, struct dl_arena *arena, uint32_t n, uint32_t most,
		  dl_order_neighbours neighbours, const void *context);

/* Order the vertices by the present edges.  False: there is a cycle. */
bool dl_order_find(struct dl_order *o);

/* For an edge against the order: as below. */
bool dl_order_reorder(struct dl_order *o, uint32_t x, uint32_t y);

/*
 * Before an edge from x to y is added: change the order so that it suits.  False: y leads
 * to x, so that the edge would close a cycle; nothing is changed.
 */
static inline bool dl_order_insert(struct dl_order *o, uint32_t x, uint32_t y)
{
	return o->pos[x] < o->pos[y] || dl_order_reorder(o, x, y);
}

/* ---- files ------------------------------------------------------------------ */

/*
 * A file that is written as a whole or not at all: the old file stays until the new
 * one is put in place.  A link that somebody plants under the file's name is
 * replaced, never followed.
 *
 *	err = dl_file_begin(&f, path);
 *	if (!err)
 *		err = dl_file_finish(&f, write_it(f.to));
 *	if (!err)
 *		err = dl_file_place(&f);
 *
 * A call that fails has released everything and left nothing of the file.
 */
struct dl_file {
	FILE *to;
	char *name, *buffer;
	char part[32]; /* its name until it is in place */
	int dir;
	bool named; /* does it have that name? */
};

/* Begin to write.  0 or a negative errno: -EISDIR, -ENOENT, -EACCES, ... */
int dl_file_begin(struct dl_file *f, const char *path);

/* Written; `err` is what the writer returned.  Bring it to the disk. */
int dl_file_finish(struct dl_file *f, int err);

/* Put a finished file in place, durably, and release all. */
int dl_file_place(struct dl_file *f);

/* Release all, in place of finishing or placing.  At any time, also twice. */
void dl_file_drop(struct dl_file *f);

/*
 * The end of writing to any stream: `err`, else 0, else what kept the bytes
 * from getting there, as a negative errno.
 */
int dl_file_flush(FILE *to, int err);

/*
 * A stream into memory.  Closed, it leaves in *text what was written, for free(),
 * ended by NUL; fclose() fails, and leaves NULL, when some of it was lost.  NULL:
 * there is no memory.
 */
FILE *dl_memory_open(char **text, size_t *len);

/*
 * The same for what a call writes to `to`.  0, what the call returns, or -ENOMEM; *text
 * is NULL then.
 */
#define dl_memory_write(text, len, to, call)          \
	({                                            \
		FILE *to = dl_memory_open(text, len); \
		int err_ = to ? (call) : -ENOMEM;     \
                                                      \
		if (to && fclose(to))                 \
			err_ = -ENOMEM;               \
		if (err_) {                           \
			free(*(text));                \
			*(text) = NULL;               \
			*(len) = 0;                   \
		}                                     \
		err_;                                 \
	})

/* ---- random numbers ---------------------------------------------------- */

/*
 * Random numbers by counter: the same seed and stream give the same numbers
 * on every machine, however the work is split.  Streams of one seed are
 * independent of each other.
 */
struct dl_random {
	uint64_t seed;
	uint32_t stream;
	uint64_t at; /* how often numbers were drawn */
};

struct dl_random_block {
	uint32_t v[4];
};

/* Four numbers, for about the price of one. */
struct dl_random_block dl_random_four(struct dl_random *r);

uint32_t dl_random_next(struct dl_random *r);

/* A number from 0 to below - 1, all equally likely; `below` is not 0. */
uint32_t dl_random_below(struct dl_random *r, uint32_t below);

/* ---- threads ---------------------------------------------------------------- */

/*
 * Threads that run tasks, made when they are needed and kept for the next ones.
 * Signals are blocked in them.
 *
 *	if (dl_pool_start(pool, &task)) {
 *		...
 *		dl_pool_wait(pool, &task);
 *	} else {
 *		task.run(task.context);
 *	}
 */
struct dl_pool;

struct dl_task {
	void (*run)(void *context);
	void *context;
	/* The rest is the pool's. */
	struct dl_task *next;
	bool done;
};

/* NULL: no memory. */
struct dl_pool *dl_pool_new(void);

/* Run a task in a thread of its own, at once.  False: there is no thread, or no pool. */
bool dl_pool_start(struct dl_pool *p, struct dl_task *t);

/* Until a task that was started has ended. */
void dl_pool_wait(struct dl_pool *p, struct dl_task *t);

/* Call it when no task is waited for any more; running tasks finish first. */
void dl_pool_free(struct dl_pool *p);

/* ---- time ------------------------------------------------------------------- */

/* Monotonic time in seconds.  The library itself never calls it: clocks are arguments. */
double dl_clock_monotonic(void);

#ifdef __cplusplus
}
#endif
#endif

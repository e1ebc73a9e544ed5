/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the subcommands share; see tool.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"

enum tool_exit tool_exit_status(int err)
{
	switch (-err) {
	case 0:
		return TOOL_EXIT_GOOD;
	case ENOTSUP: /* the rules refuse the fabric */
		return TOOL_EXIT_FINDING;
	case EINVAL:
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case EEXIST:
	case ENAMETOOLONG:
	case ERANGE:
	case E2BIG:
	case EACCES:
	case EPERM:
	case ELOOP:
		return TOOL_EXIT_USAGE;
	default:
		return TOOL_EXIT_ENVIRONMENT;
	}
}

/* ---- the command line --------------------------------------------------- */

#define KEY_FIRST 0x2000 /* of settings without a short option */

static int be_quiet(const struct dl_setting *s, void *to, const char *text, char *why, size_t size)
{
	struct tool *tool = to;

	(void)s, (void)text, (void)why, (void)size;
	tool->level = DL_LOG_ERROR;
	return 0;
}

static const struct dl_setting shared[] = {
	{ "quiet", DL_SETTING_FLAG, .call = be_quiet, .key = 'q', .group = -1,
	  .doc = "Print errors only" },
	{ "verbose", DL_SETTING_FLAG, DL_MEMBER(struct tool, level), .max = DL_LOG_VERBOSE,
	  .key = 'v', .group = -1, .doc = "Say more about what is done" },
	{ 0 }
};

static const struct dl_setting json[] = { { "json", DL_SETTING_FLAG, DL_MEMBER(struct tool, json),
					    .doc = "Print the result as one JSON document" },
					  { 0 } };

/* Tables whose options a command takes, and what they set. */
#define TABLES 5
#define GIVEN 32

struct parsing {
	const struct tool_usage *usage;
	const struct dl_setting *args;
	void *to;
	struct {
		const struct dl_setting *settings; /* NULL: none */
		void *to;
	} tables[TABLES];
	struct tool_input_options *input; /* NULL: reads none */
	unsigned int nargs;		  /* arguments so far */
	const char *given[GIVEN];	  /* the command's own options so far, each once */
};

static void options_note(struct parsing *p, const char *name)
{
	unsigned int i = 0;

	while (i < GIVEN && p->given[i] && p->given[i] != name)
		i++;
	if (i < GIVEN)
		p->given[i] = name;
}

const char *tool_first_given(const struct argp_state *state, const char *names)
{
	const struct parsing *p = state->input;

	for (unsigned int i = 0; i < GIVEN && p->given[i]; i++) {
		size_t len = strlen(p->given[i]);

		for (const char *at = names; (at = strstr(at, p->given[i])); at += len)
			if ((at == names || at[-1] == ' ') && strchr(" ", at[len]))
				return p->given[i];
	}
	return NULL;
}

static void options_set(const struct argp_state *state, const struct dl_setting *s, void *to,
			const char *dashes, const char *text)
{
	char why[256];
	int err = dl_setting_set(s, to, text, why, sizeof(why));

	if (err == -EINVAL)
		argp_error(state, "%s%s: \"%s\": expected %s", dashes, s->name, text, why);
	else if (err)
		argp_failure(state, TOOL_EXIT_ENVIRONMENT, -err, "%s", s->name);
}

static void take_argument(const struct argp_state *state, const char *text)
{
	struct parsing *p = state->input;
	const struct dl_setting *s = p->args;

	/* With --live, whose place among the options does not matter, none to read. */
	if (s && s[1].name && !p->nargs && p->input && p->input->is_live &&
	    dl_setting_member(s, p->to) == (void *)&p->input->from)
		p->nargs++;
	if (!s || !s[p->nargs].name) {
		if (p->nargs == 1)
			argp_error(state, "one %s only; what is \"%s\"?", s->name, text);
		argp_error(state, "\"%s\" is one argument too many", text);
		return;
	}
	s += p->nargs;
	if (!s->call || s[1].name)
		p->nargs++;
	options_set(state, s, p->to, "", text);
}

void tool_refuse_port(const struct argp_state *state, const struct dl_live_options *live)
{
	if (live->ca || live->port)
		argp_error(state, "-%c goes with --live: nothing is read from the running fabric",
			   live->ca ? 'C' : 'P');
}

static void options_finish(const struct argp_state *state)
{
	const struct parsing *p = state->input;
	const struct dl_setting *s = p->args;

	if (p->input && !p->input->from == !p->input->is_live)
		argp_error(state, "which %s, or --live?", s->name);
	if (p->input && p->input->is_live && (p->input->net || p->input->psl))
		argp_error(state, "--net and --psl go with a snapshot");
	if (s && s[p->nargs].name && s[p->nargs].required)
		argp_error(state, "which %s?", s[p->nargs].name);
	if (p->usage->check)
		p->usage->check(state, p->to);
	if (p->input && !p->input->is_live && !p->input->asks)
		tool_refuse_port(state, &p->input->live);
}

static error_t options_parse(int key, char *arg, struct argp_state *state)
{
	struct parsing *p = state->input;
	int number = KEY_FIRST;

	switch (key) {
	case ARGP_KEY_ARG:
		take_argument(state, arg);
		return 0;
	case ARGP_KEY_END:
		options_finish(state);
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	}
	for (unsigned int t = 0; t < TABLES; t++) {
		const struct dl_setting *s = p->tables[t].settings;

		for (; s && s->name; s++, number++) {
			if (!*s->name || (s->key ? s->key : number) != key)
				continue;
			options_set(state, s, p->tables[t].to, "--", arg);
			if (!t)
				options_note(p, s->name);
			return 0;
		}
	}
	return ARGP_ERR_UNKNOWN;
}

/*
 * The options of argp that the tables stand for, and -h beside its own -?.
 * NULL: no memory.
 */
static struct argp_option *make_options(const struct parsing *p)
{
	struct argp_option *options, *o;
	unsigned int n = 2;

	for (unsigned int t = 0; t < TABLES; t++)
		for (const struct dl_setting *s = p->tables[t].settings; s && s->name; s++)
			n++;
	options = calloc(n, sizeof(*options));
	if (!options)
		return NULL;
	o = options;
	for (unsigned int t = 0; t < TABLES; t++)
		for (const struct dl_setting *s = p->tables[t].settings; s && s->name; s++, o++) {
			o->doc = s->doc;
			o->group = s->group;
			if (!*s->name)
				continue;
			o->name = s->name;
			o->key = s->key ? s->key : KEY_FIRST + (o - options);
			o->arg = s->arg;
		}
	*o = (struct argp_option){ .key = 'h', .flags = OPTION_HIDDEN };
	return options;
}

void tool_options(struct tool *tool, const struct tool_usage *usage, int argc, char **argv,
		  void *to)
{
	void *input = (char *)to + usage->input_at;
	const struct dl_setting from[] = { { usage->what, DL_SETTING_BORROW,
					     .offset = usage->input_at +
						       offsetof(struct tool_input_options, from) },
					   { 0 } };
	struct parsing p = {
		.usage = usage,
		.args = usage->args || !usage->input ? usage->args : from,
		.to = to,
		.tables = { { usage->options, to },
			    { usage->input, input },
			    { usage->input ? tool_input_live : NULL, input },
			    { usage->flags & TOOL_JSON ? json : NULL, tool },
			    { shared, tool } },
		.input = usage->input ? input : NULL,
	};
	struct argp_option *options = make_options(&p);
	const struct argp argp = { .options = options,
				   .parser = options_parse,
				   .args_doc = usage->args_doc,
				   .doc = usage->doc };
	int err = options ? argp_parse(&argp, argc, argv, 0, NULL, &p) : ENOMEM;

	if (err == ENOMEM)
		dl_log(&tool->log, DL_LOG_ERROR, "%s", strerror(err));
	if (err)
		exit(err == ENOMEM ? TOOL_EXIT_ENVIRONMENT : TOOL_EXIT_USAGE);
	free(options);
}

int tool_names_read(const struct dl_setting *s, void *to, const char *text, char *why, size_t size)
{
	struct tool_names *l = dl_setting_member(s, to);
	const char **names = reallocarray(l->names, l->n + 1ul, sizeof(*names));

	(void)why, (void)size; /* any text will do */
	if (!names)
		return -ENOMEM;
	names[l->n++] = text;
	l->names = names;
	return 0;
}

void tool_names_release(struct tool_names *l)
{
	free(l->names);
}

/* ---- progress ---------------------------------------------------------- */

#define PROGRESS_AFTER 2.0 /* seconds */
#define PROGRESS_EVERY 0.2

bool tool_shows_progress(const struct tool *tool)
{
	return tool->colour && tool->level >= DL_LOG_INFO;
}

void tool_progress(struct tool_progress *p, const char *what, const char *unit, double done,
		   double total)
{
	double now = dl_clock_monotonic(), rate, left;

	if (p->what != what || p->total != total || !total) {
		if (p->shown > 0)
			fputs("\r\033[K", stderr);
		*p = (struct tool_progress){ .what = what,
					     .total = total,
					     .begin = now,
					     .first = p->first ? p->first : now };
	}
	if (!total || done <= 0 || now < p->first + PROGRESS_AFTER ||
	    now < p->begin + PROGRESS_EVERY || now < p->shown + PROGRESS_EVERY)
		return;
	p->shown = now;
	rate = done / (now - p->begin);
	left = (total - done) / rate;
	fprintf(stderr, "\r%s: %.0f of %.0f%s (%.0f%%), %.3g%s/s, ", what, done, total, unit,
		100 * done / total, rate, unit);
	if (left < 120)
		fprintf(stderr, "%.0f s left\033[K", left);
	else
		fprintf(stderr, "%.0f min left\033[K", left / 60);
}

/* ---- files ------------------------------------------------------------- */

int tool_make_parents(const struct tool *tool, const char *path)
{
	char *part = strdup(path);
	int err = part ? 0 : -ENOMEM;

	for (char *at = part; !err && *at && (at = strchr(at + 1, '/'));) {
		*at = '\0';
		if (mkdir(part, 0777) && errno != EEXIST)
			err = -errno;
		*at = '/';
	}
	if (err)
		dl_log(&tool->log, DL_LOG_ERROR, "cannot create the directory above %s: %s", path,
		       strerror(-err));
	free(part);
	return err;
}

/*
 * A device or a pipe that the user has named, such as /dev/stdout or a shell's
 * >(...): there is nothing to replace.  Links are followed only where only
 * the system makes them.
 */
static FILE *open_special(const char *path)
{
	bool system = !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6);
	struct stat st;
	int fd;

	if (!system &&
	    (lstat(path, &st) || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode)))
		return NULL;
	fd = open(path, O_WRONLY | O_CLOEXEC | (system ? 0 : O_NOFOLLOW));
	return fd < 0 ? NULL : fdopen(fd, "w");
}

int tool_out_open(const struct tool *tool, const char *dir, const char *name, struct tool_out *out)
{
	int err = 0;

	*out = (struct tool_out){ .whole.dir = -1 };
	/* What lacks a part is not begun: standard output cannot be taken back. */
	if (tool_json_failed()) {
		err = -ENOMEM;
	} else if (asprintf(&out->path, "%s%s%s", dir ? dir : "", dir ? "/" : "", name) < 0) {
		out->path = NULL;
		err = -ENOMEM;
	} else if (!dir && !strcmp(name, "-")) {
		out->file = stdout;
	} else {
		out->file = dir ? NULL : open_special(name);
		if (!out->file)
			err = dl_file_begin(&out->whole, out->path);
		if (!out->file && !err)
			out->file = out->whole.to;
	}
	if (err) {
		dl_log(&tool->log, DL_LOG_ERROR, "cannot create %s: %s",
		       out->path ? out->path : name, strerror(-err));
		free(out->path);
		out->path = NULL;
	}
	return err ? TOOL_UNWRITTEN : 0;
}

int tool_out_try(const struct tool *tool, const char *dir, const char *name)
{
	struct tool_out out;
	struct stat st;
	int err;

	if (!dir && (!strcmp(name, "-") || (!lstat(name, &st) && !S_ISREG(st.st_mode))))
		return 0;
	err = tool_out_open(tool, dir, name, &out);
	if (!err) {
		dl_file_drop(&out.whole);
		free(out.path);
	}
	return err;
}

int tool_out_close(const struct tool *tool, struct tool_out *out, int err)
{
	if (!err && tool_json_failed())
		err = -ENOMEM;
	if (out->whole.to) {
		err = dl_file_finish(&out->whole, err);
		if (!err)
			err = dl_file_place(&out->whole);
	} else if (out->file != stdout) {
		err = dl_file_flush(out->file, err);
		if (fclose(out->file) && !err)
			err = -errno;
	}
	/* What is wrong with standard output is said in the end, by main(). */
	if (err && out->file != stdout)
		dl_log(&tool->log, DL_LOG_ERROR, "cannot write %s: %s", out->path, strerror(-err));
	free(out->path);
	out->file = NULL;
	out->path = NULL;
	return err ? TOOL_UNWRITTEN : 0;
}

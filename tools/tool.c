/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the subcommands share; see tool.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool.h"

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
		return TOOL_EXIT_USAGE;
	default:
		return TOOL_EXIT_ENVIRONMENT;
	}
}

/* ---- options ----------------------------------------------------------- */

#define KEY_JSON 0x1000 /* no short form */

static const struct argp_option shared_options[] = {
	{ .name = "quiet", .key = 'q', .doc = "Print errors only", .group = -1 },
	{ .name = "verbose",
	  .key = 'v',
	  .doc = "Say more about what is done",
	  .group = -1 },
	{ 0 }
};

static const struct argp_option json_options[] = {
	{ .name = "json",
	  .key = KEY_JSON,
	  .doc = "Print the result as one JSON document" },
	{ 0 }
};

static error_t parse_shared(int key, char *arg, struct argp_state *state)
{
	struct tool *tool = state->input;

	(void)arg;
	switch (key) {
	case 'q':
		tool->level = DL_LOG_ERROR;
		return 0;
	case 'v':
		tool->level = DL_LOG_VERBOSE;
		return 0;
	case KEY_JSON:
		tool->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct inputs {
	void *own;
	struct tool *tool;
};

static error_t hand_out_inputs(int key, char *arg, struct argp_state *state)
{
	struct inputs *inputs = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = inputs->own;
	state->child_inputs[1] = inputs->tool;
	state->child_inputs[2] = inputs->tool;
	return 0;
}

void tool_parse(struct tool *tool, const struct argp *own, unsigned int flags,
		int argc, char **argv, void *input)
{
	struct inputs inputs = { .own = input, .tool = tool };
	struct argp options = *own;
	struct argp json = { .options = json_options, .parser = parse_shared };
	struct argp shared = { .options = shared_options,
			       .parser = parse_shared };
	struct argp_child children[] = {
		{ .argp = &options },
		{ .argp = flags & TOOL_JSON ? &json : &shared },
		{ .argp = flags & TOOL_JSON ? &shared : NULL },
		{ 0 }
	};
	struct argp all = { .parser = hand_out_inputs,
			    .args_doc = own->args_doc,
			    .doc = own->doc,
			    .children = children };

	/* Usage and text belong to the whole, or argp would print them twice. */
	options.args_doc = NULL;
	options.doc = NULL;
	if (argp_parse(&all, argc, argv, 0, NULL, &inputs))
		exit(TOOL_EXIT_USAGE);
}

/* ---- settings ---------------------------------------------------------- */

#define KEY_FIRST 0x2000 /* of settings without a short option */

struct parsing {
	const struct tool_usage *usage;
	void *to;
	unsigned int nargs; /* arguments so far */
};

static void set(const struct argp_state *state, const struct dl_setting *s,
		const char *dashes, const char *text)
{
	const struct parsing *p = state->input;
	char why[256];
	int err = dl_setting_set(s, p->to, text, why, sizeof(why));

	if (err == -EINVAL)
		argp_error(state, "%s%s: \"%s\": expected %s", dashes, s->name,
			   text, why);
	else if (err)
		argp_failure(state, TOOL_EXIT_ENVIRONMENT, -err, "%s", s->name);
}

static void take_argument(const struct argp_state *state, const char *text)
{
	struct parsing *p = state->input;
	const struct dl_setting *s = p->usage->args;

	if (!s || !s[p->nargs].name) {
		if (p->nargs == 1)
			argp_error(state, "one %s only; what is \"%s\"?",
				   s->name, text);
		argp_error(state, "\"%s\" is one argument too many", text);
		return;
	}
	s += p->nargs;
	if (!s->call || s[1].name)
		p->nargs++;
	set(state, s, "", text);
}

static void finish(const struct argp_state *state)
{
	const struct parsing *p = state->input;
	const struct dl_setting *s = p->usage->args;

	if (s && s[p->nargs].name && s[p->nargs].required)
		argp_error(state, "which %s?", s[p->nargs].name);
	if (p->usage->check)
		p->usage->check(state, p->to);
}

static error_t parse_setting(int key, char *arg, struct argp_state *state)
{
	const struct parsing *p = state->input;
	const struct dl_setting *s = p->usage->options;

	switch (key) {
	case ARGP_KEY_ARG:
		take_argument(state, arg);
		return 0;
	case ARGP_KEY_END:
		finish(state);
		return 0;
	}
	if (!s)
		return ARGP_ERR_UNKNOWN;
	for (int i = 0; s->name; s++, i++) {
		if (*s->name && (s->key ? s->key : KEY_FIRST + i) == key) {
			set(state, s, "--", arg);
			return 0;
		}
	}
	return ARGP_ERR_UNKNOWN;
}

/* The options of argp that a table stands for; NULL: no memory. */
static struct argp_option *make_options(const struct dl_setting *table)
{
	static const struct dl_setting none;
	struct argp_option *o;
	unsigned int n = 0;

	table = table ? table : &none;
	while (table[n].name)
		n++;
	o = calloc(n + 1, sizeof(*o));
	for (unsigned int i = 0; o && i < n; i++) {
		const struct dl_setting *s = &table[i];

		o[i].doc = s->doc;
		o[i].group = s->group;
		if (!*s->name)
			continue;
		o[i].name = s->name;
		o[i].key = s->key ? s->key : (int)(KEY_FIRST + i);
		o[i].arg = s->arg;
	}
	return o;
}

void tool_options(struct tool *tool, const struct tool_usage *usage, int argc,
		  char **argv, void *to)
{
	struct parsing p = { .usage = usage, .to = to };
	struct argp_option *options = make_options(usage->options);
	const struct argp own = { .options = options,
				  .parser = parse_setting,
				  .args_doc = usage->args_doc,
				  .doc = usage->doc };

	if (!options) {
		dl_log(&tool->log, DL_LOG_ERROR, "out of memory");
		exit(TOOL_EXIT_ENVIRONMENT);
	}
	tool_parse(tool, &own, usage->flags, argc, argv, &p);
	free(options);
}

void tool_arg_once(const struct argp_state *state, const char **slot,
		   const char *arg, const char *what)
{
	if (*slot)
		argp_error(state, "one %s only; what is \"%s\"?", what, arg);
	else
		*slot = arg;
}

uint64_t tool_arg_number(const struct argp_state *state, const char *text,
			 const char *what, uint64_t min, uint64_t max)
{
	int64_t value;

	if (!dl_number_parse(text, min, max, &value))
		argp_error(state,
			   "%s: \"%s\": expected a whole number from %llu to "
			   "%llu",
			   what, text, (unsigned long long)min,
			   (unsigned long long)max);
	return value;
}

/* ---- files ------------------------------------------------------------- */

int tool_make_dir(const struct tool *tool, const char *path)
{
	char *part = strdup(path);
	int err = part ? 0 : -ENOMEM;
	struct stat st;

	for (char *at = part; !err && at;) {
		at = strchr(at + (*at != '\0'), '/');
		if (at)
			*at = '\0';
		if (mkdir(part, 0777) && errno != EEXIST)
			err = -errno;
		if (at)
			*at = '/';
	}
	if (!err && stat(path, &st))
		err = -errno;
	if (!err && !S_ISDIR(st.st_mode))
		err = -ENOTDIR;
	if (err)
		dl_log(&tool->log, DL_LOG_ERROR,
		       "cannot make the folder %s: %s", path, strerror(-err));
	free(part);
	return err;
}

int tool_out_open(const struct tool *tool, const char *dir, const char *name,
		  struct tool_out *out)
{
	int err = 0;

	out->file = NULL;
	if (asprintf(&out->path, "%s%s%s", dir ? dir : "", dir ? "/" : "",
		     name) < 0) {
		out->path = NULL;
		err = -ENOMEM;
	} else if (!dir && !strcmp(name, "-")) {
		out->file = stdout;
	} else {
		out->file = fopen(out->path, "we");
		err = out->file ? 0 : -errno;
	}
	if (err) {
		dl_log(&tool->log, DL_LOG_ERROR, "cannot create %s: %s",
		       out->path ? out->path : name, strerror(-err));
		free(out->path);
		out->path = NULL;
	}
	return err;
}

int tool_out_close(const struct tool *tool, struct tool_out *out, int err)
{
	bool ours = out->file != stdout;
	struct stat st;
	/* A half-written file goes; a device that is full stays. */
	bool regular = ours && !fstat(fileno(out->file), &st) &&
		       S_ISREG(st.st_mode);

	if (!err && (fflush(out->file) || ferror(out->file)))
		err = errno ? -errno : -EIO;
	/* A writer says no more than -EIO; one more byte tells the cause. */
	if (err == -EIO && (putc('\n', out->file) == EOF || fflush(out->file)))
		err = -errno;
	if (ours && fclose(out->file) && !err)
		err = -errno;
	if (err) {
		dl_log(&tool->log, DL_LOG_ERROR, "cannot write %s: %s",
		       out->path, strerror(-err));
		if (regular)
			remove(out->path);
	}
	free(out->path);
	out->file = NULL;
	out->path = NULL;
	return err;
}

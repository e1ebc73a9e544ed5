/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The `dateline` command: hands over to a subcommand. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/campaign.h"
#include "tools/common/tool.h"
#include "tools/opensm_version.h"

static const struct command {
	const char *word;
	tool_command *run;
	const char *summary;
} commands[] = {
#define COMMAND(word, summary) { #word, tool_cmd_##word, summary },
#include "commands.def"
#undef COMMAND
	{ 0 }
};

/* For the document.  Threads may warn side by side. */
static void main_keep(struct tool *tool, const char *message)
{
	flockfile(stderr);
	if (tool->warnings && json_array_append_new(tool->warnings, tool_json_text(message))) {
		json_decref(tool->warnings);
		tool->warnings = NULL;
	}
	funlockfile(stderr);
}

static void print_message(void *context, enum dl_log_level level, const char *message)
{
	static const struct {
		const char *label, *colour;
	} styles[] = {
		[DL_LOG_ERROR] = { "error: ", "\033[1;31m" },
		[DL_LOG_WARNING] = { "warning: ", "\033[1;33m" },
		[DL_LOG_INFO] = { "", "" },
		[DL_LOG_VERBOSE] = { "", "" },
	};
	struct tool *tool = context;

	if (level == DL_LOG_WARNING)
		main_keep(tool, message);
	tool->errors += level == DL_LOG_ERROR;
	if (level > tool->level)
		return;
	if (tool->progress.shown > 0)
		tool_progress(&tool->progress, NULL, "", 0, 0);
	fprintf(stderr, "dateline: %s%s%s%s\n", tool->colour ? styles[level].colour : "",
		styles[level].label, tool->colour ? "\033[0m" : "", message);
}

static void main_show_progress(void *context, const char *what, const char *unit, double done,
			       double total)
{
	struct tool *tool = context;

	if (tool_shows_progress(tool))
		tool_progress(&tool->progress, what, unit, done, done < total ? total : 0);
}

void tool_assume(struct tool *tool, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	main_keep(tool, text);
	dl_log(&tool->log, DL_LOG_INFO, "%s", text);
}

/* The list of subcommands, between the text of the help and the options. */
static char *list_commands(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t len;
	FILE *to;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || !text)
		return (char *)text;
	to = dl_memory_open(&list, &len);
	if (!to)
		return (char *)text;
	fputs("Subcommands:\n", to);
	for (const struct command *c = commands; c->word; c++)
		fprintf(to, "  %-10s %s\n", c->word, c->summary);
	fprintf(to, "\n%s", text);
	return fclose(to) ? (char *)text : list;
}

struct choice {
	const struct command *command;
	int first; /* index in argv of the subcommand */
};

/*
 * "help" is --help, "help route" is "route --help", for which argv[first + 1] becomes
 * "--help".
 */
static bool main_take_help(struct argp_state *state, char **arg)
{
	static char help[] = "--help";
	int first = state->next - 1;

	if (strcmp(*arg, "help"))
		return false;
	if (state->next == state->argc) {
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return true;
	}
	if (state->argc > first + 2)
		argp_error(state, "\"%s\" is one argument too many", state->argv[first + 2]);
	*arg = state->argv[first] = state->argv[first + 1];
	state->argv[first + 1] = help;
	return false;
}

static error_t parse_main(int key, char *arg, struct argp_state *state)
{
	struct choice *choice = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (main_take_help(state, &arg))
			return 0;
		for (const struct command *c = commands; c->word; c++) {
			if (strcmp(arg, c->word))
				continue;
			choice->command = c;
			choice->first = state->next - 1;
			state->next = state->argc; /* the rest is its */
			return 0;
		}
		argp_error(state, "there is no subcommand \"%s\"", arg);
		return EINVAL;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which subcommand?");
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option main_options[] = { { .key = 'h',
						     .flags = OPTION_HIDDEN }, /* as -? */
						   { 0 } };

static const struct argp main_argp = {
	.options = main_options,
	.parser = parse_main,
	.help_filter = list_commands,
	.args_doc = "SUBCOMMAND ...",
	.doc = "Route torus InfiniBand fabrics without credit loops, verify "
	       "and show them."
	       "\v"
	       "A first look: make a fabric of 6 by 5 switches with two "
	       "adapters each, as a netlist and a torus-2QoS.conf.\n"
	       "\n"
	       "  dateline gen 6 5 --hosts 2 -o first\n"
	       "\n"
	       "Each subcommand explains itself: dateline help SUBCOMMAND\n"
	       "\n"
	       "Exit status: 0 good, 1 a finding, 2 usage or bad input, "
	       "3 environment.",
};

/* Does standard error go to a terminal that knows escape codes? */
static bool is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
}

/* Whatever was printed, --help included, must have arrived. */
static void close_output(void)
{
	int err = dl_file_flush(stdout, 0);

	if (fclose(stdout) && !err)
		err = -errno;
	if (!err)
		return;
	fprintf(stderr, "dateline: error: cannot print the result: %s\n", strerror(-err));
	_exit(TOOL_EXIT_ENVIRONMENT);
}

/*
 * A stream that the caller has closed must not become a file that is opened
 * later: what is written to it fails.
 */
static void hold_streams(void)
{
	int fd = open("/dev/null", O_RDONLY);

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDONLY);
	if (fd >= 0)
		close(fd);
}

static int main_finish(struct tool *tool, int status)
{
	if (tool_json_failed())
		status = TOOL_EXIT_ENVIRONMENT;
	/* Whatever else fails without a word has found no memory. */
	if (status == TOOL_EXIT_ENVIRONMENT && !tool->errors)
		dl_log(&tool->log, DL_LOG_ERROR, "%s", strerror(ENOMEM));
	return status;
}

int main(int argc, char **argv)
{
	static char output[1 << 16];
	struct tool tool = {
		.log = { .write = print_message, .context = &tool, .progress = main_show_progress },
		.level = DL_LOG_INFO,
		.colour = is_terminal(),
	};
	struct choice choice = { 0 };
	char *name = NULL;
	int status, err;

	tool_json_begin();
	tool.warnings = json_array();
	hold_streams();
	if (atexit(close_output))
		return TOOL_EXIT_ENVIRONMENT;
	argp_err_exit_status = TOOL_EXIT_USAGE;
	argp_program_version = PACKAGE_STRING " (plugin for " TOOL_OPENSM_VERSION ")";
	/* Columns for the longest option there is; a user's own wish wins. */
	setenv("ARGP_HELP_FMT", "opt-doc-col=35,no-dup-args-note", 0);
	/* A buffer that needs no memory. */
	setvbuf(stdout, output, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, sizeof(output));
	err = argp_parse(&main_argp, argc, argv, ARGP_IN_ORDER, NULL, &choice);
	if (!err && asprintf(&name, "dateline %s", choice.command->word) < 0)
		err = ENOMEM;
	if (err)
		return main_finish(&tool, err == EINVAL ? TOOL_EXIT_USAGE : TOOL_EXIT_ENVIRONMENT);
	argv[choice.first] = name;
	status = choice.command->run(&tool, argc - choice.first, argv + choice.first);
	campaign_end();
	free(name);
	json_decref(tool.warnings);
	if (status == TOOL_EXIT_GOOD && tool.finding)
		status = TOOL_EXIT_FINDING;
	return main_finish(&tool, status);
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Models that run event by event; see steps.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"

struct steps {
	const struct steps_model *model;
	json_t *list; /* NULL: printed at once */
};

int steps_add(struct steps *s, json_t *step)
{
	if (!step)
		return -ENOMEM;
	if (s->list)
		return json_array_append_new(s->list, step) ? -ENOMEM : 0;
	if (!tool_json_failed())
		s->model->print_step(step, stdout);
	json_decref(step);
	return tool_json_failed() ? -ENOMEM : 0;
}

/* What comes before or after the steps: part of the document, or printed. */
static int steps_take(const struct tool *tool, json_t *document, json_t *part,
		      void (*print)(const json_t *document, FILE *to))
{
	int err = json_object_update(document, part) || tool_json_failed() ? -ENOMEM : 0;

	if (!err && !tool->json)
		print(document, stdout);
	json_decref(part);
	return err;
}

static int steps_run(const struct tool *tool, const struct steps_model *m, void *model,
		     const char *path)
{
	json_t *document = json_object();
	struct steps steps = { .model = m };
	int err = steps_take(tool, document, m->before ? m->before(model) : json_object(),
			     m->print_before);

	if (!err && tool->json) {
		steps.list = json_array();
		err = json_object_set_new(document, m->list, steps.list) ? -ENOMEM : 0;
	}
	if (!err)
		err = m->run(model, &steps);
	if (!err && m->after)
		err = steps_take(tool, document, m->after(model, path, &tool->log), m->print_after);
	if (!err && tool->json)
		return tool_print_json(tool, document);
	if (err)
		dl_log(&tool->log, DL_LOG_ERROR, "%s: %s", path, strerror(-err));
	json_decref(document);
	return err;
}

int steps_command(struct tool *tool, const struct steps_model *m, const char *doc, int argc,
		  char **argv)
{
	static const struct dl_setting args[] = {
		{ "scenario", DL_SETTING_BORROW, .size = sizeof(const char *), .required = true },
		{ 0 }
	};
	const struct tool_usage usage = {
		.args = args, .args_doc = "FILE.yaml", .doc = doc, .flags = TOOL_JSON
	};
	void *model = calloc(1, m->size);
	const char *path = NULL;
	int err;

	tool_options(tool, &usage, argc, argv, &path);
	err = model ? m->read(model, path, &tool->log) : -ENOMEM;
	if (!err)
		err = steps_run(tool, m, model, path);
	if (model)
		m->release(model);
	free(model);
	return tool_exit_status(err);
}

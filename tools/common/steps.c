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

/* What comes before the steps: printed, or part of the document. */
static int steps_begin(const struct steps_model *m, const void *model, bool print, json_t *document)
{
	json_t *part = m->before ? m->before(model) : json_object();
	int err = json_object_update(document, part) || tool_json_failed() ? -ENOMEM : 0;

	if (!err && print)
		m->print_before(document, stdout);
	json_decref(part);
	return err;
}

/* What comes after them. */
static int steps_end(const struct tool *tool, const struct steps_model *m, const void *model,
		     const char *path, json_t *document)
{
	json_t *part;
	int err = 0;

	if (!m->after)
		return 0;
	part = m->after(model, path, &tool->log);
	err = json_object_update(document, part) || tool_json_failed() ? -ENOMEM : 0;
	if (!err && !tool->json)
		m->print_after(document, stdout);
	json_decref(part);
	return err;
}

static int steps_run(const struct tool *tool, const struct steps_model *m, void *model,
		     const char *path)
{
	json_t *document = json_object();
	struct steps steps = { .model = m };
	int err = steps_begin(m, model, !tool->json, document);

	if (!err && tool->json) {
		steps.list = json_array();
		err = json_object_set_new(document, m->list, steps.list) ? -ENOMEM : 0;
	}
	if (!err)
		err = m->run(model, &steps);
	if (!err)
		err = steps_end(tool, m, model, path, document);
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

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a scenario of `dateline credits` or `dateline arbitrate` (the first
 * byte is a c or an a), which then happens and is printed, step by step.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "listen.h"
#include "tools/common/steps.h"

#define MOST_STEPS 2000

struct steps {
	const struct steps_model *model;
	FILE *to;
	unsigned int n;
};

static const struct steps_model *models[2];

/* In place of the command: only the model is wanted. */
int steps_command(struct tool *tool, const struct steps_model *m, const char *doc, int argc,
		  char **argv)
{
	(void)tool;
	(void)doc;
	(void)argv;
	models[argc] = m;
	return 0;
}

int steps_add(struct steps *s, json_t *step)
{
	FUZZ_CHECK(step);
	s->model->print_step(step, s->to);
	json_decref(step);
	return ++s->n < MOST_STEPS ? 0 : -ECANCELED;
}

static void run(const struct steps_model *m, const char *path, FILE *to)
{
	struct steps steps = { .model = m, .to = to };
	void *model = calloc(1, m->size);
	json_t *document = json_object(), *part;
	int err;

	FUZZ_CHECK(model && document);
	error = false;
	err = m->read(model, path, &listener);
	FUZZ_CHECK(error == !!err && (!err || err == -EINVAL));
	if (!err) {
		part = m->before ? m->before(model) : json_object();
		FUZZ_CHECK(part && !json_object_update(document, part));
		m->print_before(document, to);
		json_decref(part);
		err = m->run(model, &steps);
		FUZZ_CHECK(!err || err == -ECANCELED);
	}
	if (!err && m->after) {
		part = m->after(model, path, &listener);
		FUZZ_CHECK(part && !json_object_update(document, part));
		m->print_after(document, to);
		json_decref(part);
	}
	m->release(model);
	free(model);
	json_decref(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	char path[32];
	int fd;

	if (!nowhere) {
		nowhere = fopen("/dev/null", "w");
		tool_cmd_credits(NULL, 0, NULL);
		tool_cmd_arbitrate(NULL, 1, NULL);
	}
	if (!size || (*data != 'c' && *data != 'a'))
		return 0;
	fd = memfd_create("input", MFD_CLOEXEC);
	FUZZ_CHECK(nowhere && fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)size - 1);
	FUZZ_CHECK(!lseek(fd, 0, SEEK_SET));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	run(models[*data == 'a'], path, nowhere);
	close(fd);
	return 0;
}

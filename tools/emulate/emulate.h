/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the parts of `dateline emulate` share: results become one JSON
 * document, and what is printed for people is printed from that.
 */
#ifndef EMULATE_H
#define EMULATE_H

#include "tools/common/input.h"
#include "dateline/emu.h"

struct emulate_run {
	const struct dl_fabric *fabric;
	const struct dl_tables *tables;
	const struct tool_coords *coords;
	const struct dl_emu_scenario *scenario;
	const struct emulate_program *program; /* NULL: none */
	struct dl_emu_result result;
	double cpu_seconds;
};

/*
 * Read a scenario for these tables and coordinates; for a program it need not be
 * there (`path` NULL), or have no traffic.  0 or a negative errno, reported.
 */
int emulate_read_scenario(struct tool *tool, const char *path, bool program,
			  const struct dl_tables *t, const struct tool_coords *coords,
			  struct dl_emu_scenario **out);

/* A program, and the ports of its ranks. */
struct emulate_program {
	const char *name;
	struct dl_emu_program *program;
	uint32_t *port;
};

/*
 * Read or make the program of this name with its ranks on a list of hosts (NULL:
 * all), and give it to the scenario.  0 or a negative errno, reported; free in
 * either case.
 */
int emulate_program(const struct tool *tool, const struct tool_input *in, const char *name,
		    const char *list, struct dl_emu_scenario *s, struct emulate_program *out);
void emulate_program_free(struct emulate_program *p);
json_t *emulate_program_json(const struct emulate_run *r);
void emulate_program_print(const json_t *job, FILE *to);

/* A sweep, and a point of it. */
struct emulate_sweep {
	char *name;		 /* of entries; NULL: all open loops */
	uint32_t from, to, step; /* loads in millionths; step 0: no sweep */
	unsigned int threads;	 /* 0: one for each core */
	bool show;		 /* progress, on standard error */
};

struct emulate_point {
	struct dl_emu_point point;
	double cpu_seconds;
};

/*
 * Run all points, each by itself, as a campaign; *out is for free().  The
 * results do not depend on how many run at a time.  Points that were not run,
 * because the user interrupted, are not `done`.  0 or negative, reported.
 */
int emulate_sweep(const struct dl_emu_scenario *scenario, const struct emulate_sweep *s,
		  struct emulate_point **out, uint32_t *n);

/* Where it saturates, as far as it was not interrupted; see dateline/emu.h. */
int emulate_find_saturation(const struct dl_emu_scenario *scenario, const struct emulate_sweep *s,
			    struct dl_emu_saturation *out);

/* The processor time of this thread so far, in seconds. */
double emulate_cpu(void);

/* Why packets did not arrive, by enum dl_emu_drop: a key, and for people. */
struct emulate_drop {
	const char *key, *words;
};
extern const struct emulate_drop emulate_drops[];

/* JSON documents, or NULL: no memory. */
json_t *emulate_json(const struct emulate_run *r);
json_t *emulate_sweep_json(const struct emulate_point *points, uint32_t n,
			   const struct dl_emu_saturation *saturation);

/* For people.  (The document has no names, and of a deadlock no packets.) */
void emulate_print(const json_t *document, const struct emulate_run *r, FILE *to);
void emulate_sweep_print(const json_t *document, FILE *to);
void emulate_sweep_print_csv(const json_t *document, FILE *to);

/* Packets that are watched, step by step; all that was recorded, as CSV (0 or -EIO). */
json_t *emulate_watched_json(const struct emulate_run *r);
void emulate_watched_print(const json_t *document, FILE *to);
int emulate_record(const struct emulate_run *r, FILE *to);

/* The counters of every port as commands of ibsim's console.  0 or -EIO. */
int emulate_counters(const struct emulate_run *r, FILE *to);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `dateline arbitrate` and `dateline credits`: the reference cases, number
 * by number, from the files in conf/examples; options; and bad files.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>

static const char *source_dir(void)
{
	const char *dir = getenv("srcdir");

	return dir ? dir : ".";
}

/* What a command prints; *status is its exit status. */
static void run(char *out, size_t size, int *status, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void run(char *out, size_t size, int *status, const char *format, ...)
{
	char command[1024];
	va_list args;
	FILE *from;
	size_t n;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	from = popen(command, "r");
	assert_non_null(from);
	n = fread(out, 1, size - 1, from);
	out[n] = '\0';
	*status = WEXITSTATUS(pclose(from));
}

/* A scenario in a file of its own. */
struct file {
	char path[64];
};

static void write_file(struct file *f, const char *text)
{
	FILE *to;
	int fd;

	strcpy(f->path, "link_cli_XXXXXX");
	fd = mkstemp(f->path);
	assert_true(fd >= 0);
	to = fdopen(fd, "w");
	assert_true(fputs(text, to) >= 0);
	assert_int_equal(fclose(to), 0);
}

static json_t *result(const char *command, const char *path)
{
	char *out = malloc(1 << 20);
	json_error_t error;
	json_t *json;
	int status;

	run(out, 1 << 20, &status, "./dateline %s --json '%s' 2>/dev/null", command, path);
	assert_int_equal(status, 0);
	json = json_loads(out, 0, &error);
	free(out);
	assert_non_null(json);
	return json;
}

static json_t *example(const char *command, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/conf/examples/%s.yaml", source_dir(), name);
	return result(command, path);
}

/*
 * An object's members in the order of `keys`, parted by blanks; null is "-".
 */
static void flat(const json_t *object, const char *const *keys, char *out)
{
	*out = '\0';
	for (; *keys; keys++) {
		const json_t *value = json_object_get(object, *keys);

		assert_non_null(value);
		if (json_is_string(value))
			out += sprintf(out, "%s", json_string_value(value));
		else if (json_is_integer(value))
			out += sprintf(out, "%d", (int)json_integer_value(value));
		else
			out += sprintf(out, "%s",
				       json_is_true(value)  ? "yes" :
				       json_is_false(value) ? "no" :
							      "-");
		if (keys[1])
			out += sprintf(out, " ");
	}
}

/* An array's objects, each as by flat(), must be these lines. */
static void expect_rows(json_t *array, const char *const *keys, const char *const *rows)
{
	const json_t *object;
	char line[256];
	size_t i;

	json_array_foreach(array, i, object)
	{
		assert_non_null(rows[i]);
		flat(object, keys, line);
		assert_string_equal(line, rows[i]);
	}
	assert_null(rows[i]);
}

#define ROWS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const char *const packet_keys[] = { "n",	    "kind",  "vl",	     "table",
					   "entry", "bytes", "weight_after", "counter_after",
					   NULL };

static void expect_packets(json_t *json, const char *const *rows, const char *left)
{
	json_t *wanted = json_loads(left, 0, NULL);

	expect_rows(json_object_get(json, "packets"), packet_keys, rows);
	assert_true(json_equal(json_object_get(json, "left"), wanted));
	json_decref(wanted);
	json_decref(json);
}

static void arbitrate(const char *text, const char *const *rows, const char *left)
{
	struct file f;
	json_t *json;

	write_file(&f, text);
	json = result("arbitrate", f.path);
	unlink(f.path);
	expect_packets(json, rows, left);
}

static const char *const iba_keys[] = { "event", "accepted", "fctbs", "cl",	 "cr",
					"abr",	 "free",     "fccl",  "dropped", NULL };
static const char *const pcie_keys[] = { "event",   "accepted", "tx_cnt", "crd_bal",
					 "fwd_cnt", "occupied", NULL };

static void expect_steps(json_t *json, const char *const *keys, const char *const *rows)
{
	expect_rows(json_object_get(json, "steps"), keys, rows);
	json_decref(json);
}

static void credits(const char *text, const char *const *keys, const char *const *rows)
{
	struct file f;
	json_t *json;

	write_file(&f, text);
	json = result("credits", f.path);
	unlink(f.path);
	expect_steps(json, keys, rows);
}

/* ---- the reference cases ----------------------------------------------- */

static void test_figure_25_10(void **state)
{
	(void)state;
	expect_packets(example("arbitrate", "arbitrate-figure-25-10"),
		       ROWS("1 data 6 high 0 4096 63 3072", "2 data 6 high 0 4096 -1 2048",
			    "3 data 1 high 1 4096 -1 1024", "4 data 7 high 2 4096 190 0",
			    "5 data 7 high 2 4096 126 -1024", "6 data 3 low 0 4096 -62 4096",
			    "7 data 7 high 2 4096 62 3072", "8 data 7 high 2 4096 -2 2048",
			    "9 data 6 high 0 4096 63 1024", "10 data 6 high 0 4096 -1 0",
			    "11 data 1 high 1 4096 -1 -1024", "12 data 3 low 0 4096 -62 4096"),
		       "{\"1\": 6, \"3\": 6, \"6\": 4, \"7\": 4}");
}

static void test_low_turn(void **state)
{
	(void)state;
	expect_packets(example("arbitrate", "arbitrate-low-turn"),
		       ROWS("1 data 0 high 0 256 251 -64", "2 data 3 low 0 256 4 0",
			    "3 data 3 low 0 256 0 0", "4 data 0 high 0 256 247 -64",
			    "5 data 4 low 1 256 -2 0", "6 data 0 high 0 256 243 -64",
			    "7 data 3 low 0 256 4 0", "8 data 3 low 0 256 0 0",
			    "9 data 0 high 0 256 239 -64", "10 data 4 low 1 256 -2 0",
			    "11 data 0 high 0 256 235 -64", "12 data 3 low 0 256 4 0",
			    "13 data 3 low 0 256 0 0", "14 data 0 high 0 256 231 -64"),
		       "{\"0\": 14, \"4\": 4}");
}

static void test_priorities(void **state)
{
	(void)state;
	expect_packets(example("arbitrate", "arbitrate-priorities"),
		       ROWS("1 data 1 high 0 2048 95 3584", "2 data 1 high 0 2048 63 3072",
			    "3 smp 15 none - 256 - -", "4 smp 15 none - 256 - -",
			    "5 fcp - none - 6 - -", "6 data 1 high 0 2048 31 2560",
			    "7 data 1 high 0 2048 -1 2048", "8 data 0 low 0 2048 95 4096",
			    "9 data 0 low 0 2048 63 4096"),
		       "{}");
}

static void test_receiver(void **state)
{
	(void)state;
	expect_steps(example("credits", "credits-receiver"), iba_keys,
		     ROWS("send yes 10 2048 10 10 3062 2058 0",
			  "send yes 15 2048 15 15 3057 2063 0",
			  "send yes 1024 2048 1024 1024 2048 3072 0",
			  "fcp yes 1024 3072 1024 1024 2048 3072 0",
			  "fcp yes 1024 3072 1024 1024 2048 3072 0",
			  "send yes 1027 3072 1027 1027 2045 3072 0",
			  "send yes 2027 3072 2027 2027 1045 3072 0"));
}

static void test_full(void **state)
{
	(void)state;
	expect_steps(example("credits", "credits-full"), iba_keys,
		     ROWS("send no 3072 3072 3073 3072 0 3072 0",
			  "offload yes 3072 3072 3072 3072 1 3073 0",
			  "send no 3072 3072 3073 3072 1 3073 0",
			  "fcp yes 3072 3073 3072 3072 1 3073 0",
			  "send yes 3073 3073 3073 3073 0 3073 0"));
}

static void test_rollover(void **state)
{
	(void)state;
	expect_steps(example("credits", "credits-rollover"), iba_keys,
		     ROWS("offload yes 3586 4090 3586 3586 509 4095 0",
			  "offload yes 3586 4090 3586 3586 510 0 0",
			  "send yes 3587 4090 3587 3587 509 0 0",
			  "fcp yes 3587 0 3587 3587 509 0 0", "send yes 3588 0 3588 3588 508 0 0",
			  "send yes 0 0 0 0 0 0 0", "send no 0 0 1 0 0 0 0"));
}

static void test_chunks(void **state)
{
	(void)state;
	expect_steps(example("credits", "credits-chunks"), iba_keys,
		     ROWS("send yes 1 8 1 1 14 8 0", "send yes 2 8 2 2 12 8 0",
			  "send yes 3 8 3 3 10 8 0", "send yes 4 8 4 4 8 8 0",
			  "send yes 8 8 8 8 4 10 0", "send no 8 8 9 8 4 10 0",
			  "fcp yes 8 10 8 8 4 10 0", "send yes 9 10 9 9 2 10 0",
			  "send yes 10 10 10 10 0 10 0", "send no 10 10 11 10 0 10 0",
			  "offload yes 10 10 10 10 4 12 0", "fcp yes 10 12 10 10 4 12 0",
			  "send yes 12 12 12 12 2 13 0"));
}

static void test_loss(void **state)
{
	(void)state;
	expect_steps(example("credits", "credits-loss"), iba_keys,
		     ROWS("lose yes 60 100 60 0 100 100 0", "fcp yes 60 100 60 0 100 100 0",
			  "send no 60 100 101 0 100 100 0", "send yes 100 100 100 40 60 100 0",
			  "offload yes 100 100 100 40 100 140 0",
			  "corrupt_fcp no 100 100 100 40 100 140 0",
			  "reserved_fcp no 100 100 100 40 100 140 0",
			  "fcp yes 100 140 100 40 100 140 0", "send no 100 140 141 40 100 140 0",
			  "fcp yes 100 140 100 100 100 200 0", "fcp yes 100 200 100 100 100 200 0",
			  "send yes 200 200 200 200 0 200 0"));
}

static void test_due(void **state)
{
	(void)state;
	expect_steps(example("credits", "credits-due"), iba_keys,
		     ROWS("fcp no 40 40 40 40 0 40 0", "offload yes 40 40 40 40 3 43 0",
			  "fcp yes 40 43 40 40 3 43 0", "fcp no 40 43 40 40 3 43 0",
			  "send yes 41 43 41 41 2 43 0", "fcp no 41 43 41 41 2 43 0",
			  "offload yes 41 43 41 41 3 44 0", "fcp yes 41 44 41 41 3 44 0"));
	/* The transmitter knows the credit of the registers at the start. */
	credits("buffer_blocks: 8\nstart: {fctbs: 5, abr: 5}\nevents: [{fcp: due}]\n", iba_keys,
		ROWS("fcp no 5 13 5 5 8 13 0"));
}

/* Upstream - Current - Downstream, on two VCs. */
static void test_chain(void **state)
{
	static const char *const keys[] = { "link",    "vl",	  "event",    "accepted", "tx_cnt",
					    "crd_bal", "fwd_cnt", "occupied", NULL };

	(void)state;
	expect_steps(example("credits", "chain-three-nodes"), keys,
		     ROWS("0 0 send yes 1 3 0 1", "0 0 send yes 2 2 0 2", "0 0 send yes 3 1 0 3",
			  "0 0 forward yes 3 1 1 2", "1 0 send yes 1 1 0 1",
			  "0 0 forward yes 3 1 2 1", "1 0 send yes 2 0 0 2", "0 0 send yes 4 0 2 2",
			  "0 0 send no 4 0 2 2", "0 0 fcp yes 4 2 2 2", "0 0 send yes 5 1 2 3",
			  "0 0 send yes 6 0 2 4", "0 0 forward no 6 0 2 4", "1 0 send no 2 0 0 2",
			  "0 0 fcp yes 6 0 2 4", "0 0 send no 6 0 2 4", "0 1 send yes 1 3 0 1",
			  "0 1 forward yes 1 3 1 0", "1 1 send yes 1 1 0 1",
			  "1 0 offload yes 2 0 1 1", "1 0 fcp yes 2 1 1 1",
			  "0 0 forward yes 6 0 3 3", "1 0 send yes 3 0 1 2", "0 0 fcp yes 6 1 3 3",
			  "0 0 send yes 7 0 3 4"));
	/* IBA: what is forwarded goes as one packet. */
	credits("buffer_blocks: 10\nnext_links: [6]\n"
		"events: [{send: 4}, {send: 4}, {forward: 5}, {forward: 2}, {forward: 1}]\n",
		iba_keys,
		ROWS("send yes 4 10 4 4 6 10 0", "send yes 8 10 8 8 2 10 0",
		     "forward yes 8 10 8 8 7 15 0", "send yes 5 6 5 5 1 6 0",
		     "forward no 8 10 8 8 7 15 0", "send no 5 6 7 5 1 6 0",
		     "forward yes 8 10 8 8 8 16 0", "send yes 6 6 6 6 0 6 0"));
}

/* ---- the format -------------------------------------------------------- */

static void test_defaults(void **state)
{
	(void)state;
	arbitrate("{}", ROWS(NULL), "{}");
	arbitrate("low: [[0, 1]]\nqueues: {0: {packets: 2}}\n",
		  ROWS("1 data 0 low 0 4096 -63 0", "2 data 0 low 0 4096 -63 0"), "{}");
	arbitrate("vls: 1\nqueues: {0: {packets: 1, bytes: 1}}\n", ROWS("1 data 0 none - 1 - -"),
		  "{}");
	/* The same in JSON. */
	arbitrate("{\"vls\": 1, \"queues\": {\"0\": {\"packets\": 1, \"bytes\": 1}}}",
		  ROWS("1 data 0 none - 1 - -"), "{}");
	arbitrate("vls: 1\nhigh: [[3, 7]]\nqueues: {0: {packets: 1}}\n",
		  ROWS("1 data 0 none - 4096 - -"), "{}");
	arbitrate("high_limit: 255\nhigh: [[0, 1]]\nqueues: {0: {packets: 1}}",
		  ROWS("1 data 0 high 0 4096 -63 -"), "{}");
}

static void test_sizes(void **state)
{
	(void)state;
	arbitrate("high_limit: 1\n"
		  "high: [[0, 9], [1, 1], [2, 1]]\n"
		  "queues:\n"
		  "  0: {packets: [64, 65, 256]}\n"
		  "  1: {packets: 3, bytes: [1, 128]}\n"
		  "  2: {bytes: [5]}\n",
		  ROWS("1 data 0 high 0 64 8 1008", "2 data 0 high 0 65 6 991",
		       "3 data 0 high 0 256 2 927", "4 data 1 high 1 1 0 926",
		       "5 data 2 high 2 5 0 924", "6 data 1 high 1 128 -1 892",
		       "7 data 1 high 1 1 0 891"),
		  "{}");
}

/* Credits cover a whole packet or it waits; more of them arrive. */
static void test_queue_events(void **state)
{
	(void)state;
	arbitrate("low: [[0, 255], [1, 255]]\n"
		  "queues:\n"
		  "  0: {packets: 3, bytes: 128, credits: 3}\n"
		  "  1: {packets: 1, bytes: 64}\n"
		  "events:\n"
		  "  - {after: 2, queues: {0: {credits: 1}, 1: {packets: 1}}}\n",
		  ROWS("1 data 0 low 0 128 253 0", "2 data 1 low 1 64 254 0",
		       "3 data 1 low 1 4096 190 0", "4 data 0 low 0 128 253 0"),
		  "{\"0\": 1}");
}

static void test_options(void **state)
{
	(void)state;
	arbitrate("{vls: 2, low: [[15, 2], [1, 1]], bad_entry: any,"
		  " queues: {0: {packets: 2, bytes: 64},"
		  " 1: {packets: 2, bytes: 64}}}",
		  ROWS("1 data 0 low 0 64 1 0", "2 data 0 low 0 64 0 0", "3 data 1 low 1 64 0 0",
		       "4 data 1 low 0 64 1 0"),
		  "{}");
	arbitrate("{vls: 2, low: [[15, 2], [1, 1]],"
		  " queues: {0: {packets: 2}, 1: {packets: 1}}}",
		  ROWS("1 data 1 low 1 4096 -63 0"), "{\"0\": 2}");
	arbitrate("{vls: 2, low: [[1, 1]], unlisted_vl: idle,"
		  " queues: {0: {packets: 2}, 1: {packets: 1}}}",
		  ROWS("1 data 1 low 0 4096 -63 0", "2 data 0 none - 4096 - -",
		       "3 data 0 none - 4096 - -"),
		  "{}");
	arbitrate("{vls: 2, low: [[1, 1]], unlisted_vl: drop,"
		  " queues: {0: {packets: 2}, 1: {packets: 1}}}",
		  ROWS("1 data 1 low 0 4096 -63 0"), "{}");
	arbitrate("{low_cap: 1, low: [[1, 1], [0, 1]], stop_after: 1,"
		  " queues: {0: {packets: 2}, 1: {packets: 2}}}",
		  ROWS("1 data 1 low 0 4096 -63 0"), "{\"0\": 2, \"1\": 1}");
}

/* Tables and the limit change; SMPs and flow control come in between. */
static void test_change(void **state)
{
	(void)state;
	arbitrate("high_limit: 0\nhigh: [[0, 200]]\nlow: [[1, 200]]\n"
		  "queues: {0: {packets: 9}, 1: {packets: 9}}\n"
		  "events:\n"
		  "  - {after: 5, low: [[0, 9]], smp: 1, fcp: 1}\n"
		  "  - {after: 1, high: [[1, 1]]}\n"
		  "  - {after: 3, high_limit: 255}\n"
		  "stop_after: 8\n",
		  ROWS("1 data 0 high 0 4096 136 -1024", "2 data 1 low 0 4096 136 0",
		       "3 data 1 high 0 4096 -63 -1024", "4 data 1 high 0 4096 -63 -",
		       "5 data 1 high 0 4096 -63 -", "6 smp 15 none - 256 - -",
		       "7 fcp - none - 6 - -", "8 data 1 high 0 4096 -63 -"),
		  "{\"0\": 8, \"1\": 4}");
}

static void test_credits_format(void **state)
{
	(void)state;
	/* The contract's own example: keys of both schemes in one file. */
	credits("scheme: pcie\nbuffer_blocks: 3072\nbuffer_packets: 8\n"
		"start: {fctbs: 0, abr: 0}\n"
		"events:\n- send: 9\n- send: 8\n- lose: 1\n- offload: 9\n"
		"- offload: 1\n- corrupt_fcp: receiver\n- fcp: receiver\n"
		"- lose: 1\n- fcp: receiver\n- fcp: transmitter\n"
		"- fcp: receiver\n",
		pcie_keys,
		ROWS("send no 0 8 0 0", "send yes 8 0 0 8", "lose no 8 0 0 8", "offload no 8 0 0 8",
		     "offload yes 8 0 1 7", "corrupt_fcp no 8 0 1 7", "fcp yes 8 1 1 7",
		     "lose yes 9 0 1 7", "fcp yes 9 0 1 7", "fcp yes 9 0 2 7", "fcp yes 9 1 2 7"));
	credits("{buffer_blocks: 20, buffer_packets: 1,"
		" start: {fctbs: 0, abr: 4090},"
		" events: [{send: 14}, {send: 1}, {offload: 15},"
		" {corrupt_fcp: transmitter}, {fcp: transmitter}]}",
		iba_keys,
		ROWS("send yes 14 14 14 8 6 14 0", "send no 14 14 15 8 6 14 0",
		     "offload no 14 14 14 8 6 14 0", "corrupt_fcp no 14 14 14 8 6 14 0",
		     "fcp yes 14 14 14 14 6 20 0"));
	/* Dishonest registers: the packet is discarded and counted. */
	credits("{buffer_blocks: 20, start: {fctbs: 0, abr: 10},"
		" events: [{send: 21}, {offload: 1}]}",
		iba_keys, ROWS("send yes 21 30 21 10 20 30 1", "offload no 21 30 21 10 20 30 1"));
}

/* ---- bad files --------------------------------------------------------- */

static const struct {
	const char *command, *text;
	int line;
	const char *says; /* behind "FILE:LINE: " */
} bad[] = {
	{ "arbitrate", "", 1, "expected a scenario" },
	{ "arbitrate", "# nothing\n", 1, "expected a scenario" },
	{ "arbitrate", "- 1\n", 1, "expected a mapping with keys of: vls" },
	{ "arbitrate", "vls: 8\nhi: [[1, 2]]\n", 2,
	  "hi: unknown key; expected one of: vls, high_cap" },
	{ "arbitrate", "vls: 8\nlow: []\nvls: 8\n", 3, "vls: expected only once" },
	{ "arbitrate", "vls: 3\n", 1, "vls: 3: expected one of: 1 2 4 8 15" },
	{ "arbitrate", "high:\n  - [1, 2]\n  - [16, 2]\n", 3,
	  "VL of an entry: 16: expected a whole number from 0 to 15" },
	{ "arbitrate", "high: [[1, 2],\n  [3, 256]]\n", 2,
	  "weight of an entry: 256: expected a whole number from 0 to 255" },
	{ "arbitrate", "high: [[1, 2, 3]]\n", 1, "expected an entry of two numbers, [VL, weight]" },
	{ "arbitrate", "high: [1]\n", 1, "expected an entry" },
	{ "arbitrate", "low: 7\n", 1, "low: expected a list of entries" },
	{ "arbitrate", "high_limit: 256\n", 1, "from 0 to 255" },
	{ "arbitrate", "high_limit: -1\n", 1, "high_limit: -1: expected" },
	{ "arbitrate", "high_limit: 4.0\n", 1, "high_limit: 4.0: expected" },
	{ "arbitrate", "high_limit: 010\n", 1, "high_limit: 010: expected" },
	{ "arbitrate", "high_limit: \"4\"\n", 1, "high_limit: 4: expected" },
	{ "arbitrate", "high_limit: 99999999999999999999\n", 1, "expected" },
	{ "arbitrate", "high_limit:\n", 1, "high_limit: nothing: expected" },
	{ "arbitrate", "low_turn: both\n", 1, "low_turn: both: expected one of: packet weight" },
	{ "arbitrate", "bad_entry: [any]\n", 1, "bad_entry: a list: expected one of: skip any" },
	{ "arbitrate", "unlisted_vl: hol\n", 1,
	  "unlisted_vl: hol: expected one of: hold idle drop" },
	{ "arbitrate", "queues:\n  15: {packets: 1}\n", 2,
	  "VL of a queue: 15: expected a whole number from 0 to 14" },
	{ "arbitrate", "queues:\n  4: {packets: 1}\nvls: 4\n", 2,
	  "queue of VL 4: expected VLs 0 to 3, for vls is 4" },
	{ "arbitrate", "queues:\n  0: {packets: 1}\n  0x0: {packets: 1}\n", 3,
	  "0: expected only once" },
	{ "arbitrate", "queues:\n  0: {packet: 1}\n", 2,
	  "packet: unknown key; expected one of: packets, bytes, credits" },
	{ "arbitrate", "queues:\n  0:\n    packets: 1\n    bytes: 0\n", 4,
	  "bytes: 0: expected a whole number from 1 to 8188" },
	{ "arbitrate", "queues:\n  0: {bytes: 64}\n", 2, "expected packets beside bytes" },
	{ "arbitrate", "queues:\n  0: {packets: [64], bytes: 1}\n", 2,
	  "bytes: expected none beside a list" },
	{ "arbitrate", "queues:\n  0: {bytes: [64], packets: [64]}\n", 2,
	  "expected only one list of sizes" },
	{ "arbitrate", "queues:\n  0: {packets: []}\n", 2, "packets: expected 1 to" },
	{ "arbitrate", "queues: [1]\n", 1, "queues: expected a mapping" },
	{ "arbitrate", "queues: {0: 3}\n", 1, "3: expected a mapping" },
	{ "arbitrate", "events: {}\n", 1, "events: expected a list" },
	{ "arbitrate", "events:\n  - {smp: 1}\n", 2, "expected the key after" },
	{ "arbitrate", "events:\n  - {after: 1}\n", 2, "expected something that happens" },
	{ "arbitrate",
	  "events:\n  - {after: 1, smp: 1}\n"
	  "  - {after: 1, queues: {1: {credits: 3}}}\n",
	  3, "credits: VL 1 has enough of them" },
	{ "arbitrate", "events:\n  - after: 1\n    vls: 2\n", 3,
	  "vls: unknown key; expected one of: after, smp" },
	{ "arbitrate", "vls: 8\nhigh: [[1, 2]\n", 3, "expected YAML" },
	{ "arbitrate", "vls: 8\n---\nvls: 4\n", 3, "expected one YAML document" },
	{ "arbitrate", "vls: 8\n--- [\n", 3, "expected YAML" },
	{ "arbitrate", "stop_after: -1\n", 1, "stop_after: -1: expected" },
	{ "credits", "{}", 1, "expected the key events" },
	{ "credits", "events: []\n", 1, "expected the key buffer_blocks" },
	{ "credits", "scheme: pcie\nbuffer_blocks: 1\nevents: []\n", 1,
	  "expected the key buffer_packets" },
	{ "credits", "scheme: ib\n", 1, "scheme: ib: expected one of: iba pcie" },
	{ "credits", "buffer_blocks: 0\n", 1, "from 1 to" },
	{ "credits", "buffer_packets: 2049\n", 1, "from 1 to 2048" },
	{ "credits", "chunk_blocks: 0\n", 1, "chunk_blocks: 0: expected" },
	{ "credits", "start: {fctbs: 4096}\n", 1, "from 0 to 4095" },
	{ "credits", "start:\n  cl: 4096\n", 2,
	  "cl: unknown key; expected one of: fctbs, abr, tx_cnt" },
	{ "credits", "buffer_blocks: 5\nevents:\n- {send: 1, link: 1}\n", 3,
	  "expected a link and a VL that there are" },
	{ "credits", "buffer_blocks: 5\nevents:\n- {send: 1, forward: 1}\n", 3,
	  "expected one thing" },
	{ "credits", "buffer_blocks: 5\nevents:\n- {forward: 1}\n", 3,
	  "forward: expected a link with another one behind it" },
	{ "credits", "buffer_blocks: 5\nnext_links: [0]\nevents: []\n", 2, "next_links: " },
	{ "credits", "buffer_blocks: 5\nstart: {free: 6}\nevents: []\n", 2,
	  "free: expected no more than the buffer holds" },
	{ "credits",
	  "scheme: pcie\nbuffer_packets: 5\n"
	  "start: {tx_cnt: 6}\nevents: []\n",
	  3, "expected fwd_cnt <= tx_cnt" },
	{ "credits", "events:\n  - send: 0\n", 2,
	  "send: 0: expected a whole number from 1 to 4095" },
	{ "credits", "events:\n  - send: 1\n  - sent: 1\n", 3,
	  "sent: unknown key; expected one of: send, lose, offload, forward" },
	{ "credits", "events:\n  - {send: 1, lose: 1}\n", 2, "expected one thing that happens" },
	{ "credits", "events:\n  - {}\n", 2, "expected one thing" },
	{ "credits", "events:\n  - send\n", 2, "send: expected a mapping" },
	{ "credits", "events:\n  - fcp: sender\n", 2,
	  "fcp: sender: expected one of: receiver transmitter" },
	{ "credits", "events: 1\n", 1, "events: expected a list" },
};

static void test_bad_files(void **state)
{
	char out[2048], begin[128];
	struct file f;
	int status;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_file(&f, bad[i].text);
		run(out, sizeof(out), &status, "./dateline %s --json %s 2>&1", bad[i].command,
		    f.path);
		unlink(f.path);
		snprintf(begin, sizeof(begin), "dateline: error: %s:%d: ", f.path, bad[i].line);
		if (status != 2 || strncmp(out, begin, strlen(begin)) ||
		    !strstr(out + strlen(begin), bad[i].says) ||
		    strchr(out, '\n') != out + strlen(out) - 1)
			fail_msg("case %zu (\"%s\"): status %d, \"%s\"", i, bad[i].text, status,
				 out);
	}
}

static void test_usage(void **state)
{
	static const struct {
		const char *args;
		int status;
		const char *says;
	} uses[] = {
		{ "arbitrate", 2, "which scenario?" },
		{ "credits", 2, "which scenario?" },
		{ "arbitrate a b", 2, "\"b\"" },
		{ "arbitrate /nonexistent.yaml", 2, "/nonexistent.yaml" },
		{ "arbitrate .", 2, "cannot read .: Is a directory" },
		{ "arbitrate --bogus x", 2, "--bogus" },
	};
	char out[2048];
	int status;

	(void)state;
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		run(out, sizeof(out), &status, "./dateline %s 2>&1", uses[i].args);
		assert_int_equal(status, uses[i].status);
		assert_non_null(strstr(out, uses[i].says));
	}
}

/* What is odd but not wrong is told on standard error. */
static void test_warnings(void **state)
{
	static const struct {
		const char *command, *text, *says;
	} odd[] = {
		{ "arbitrate", "{vls: 1, low: [[0, 1]]}", "do nothing" },
		{ "arbitrate", "vls: 4\nlow: [[0, 1], [1, 0], [15, 1], [2, 1]]",
		  ":2: low: valid entries: 2, expected at least 4, one for each data VL" },
		{ "arbitrate", "high: [[0, 0]]",
		  ":1: high: valid entries: 0, expected at least 1" },
		{ "arbitrate", "{vls: 8,\n events: [{after: 1, smp: 1}]}",
		  ":2: the event after 1 packets did not happen" },
		{ "arbitrate", "low_cap: 2\nlow: [[0, 1], [1, 1], [2, 1]]",
		  ":2: low: 1 entries beyond low_cap are cut" },
		{ "arbitrate",
		  "{power_up_seed: 7, queues: {1: {packets: 9},"
		  " 2: {packets: 9}, 3: {packets: 9}}}",
		  "nobody has programmed" },
		{ "credits", "{buffer_blocks: 5, chunk_blocks: 2, events: []}",
		  "the last 1 blocks" },
	};
	char out[4096];
	struct file f;
	int status;

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		write_file(&f, odd[i].text);
		run(out, sizeof(out), &status, "./dateline %s %s 2>&1 >/dev/null", odd[i].command,
		    f.path);
		unlink(f.path);
		assert_int_equal(status, 0);
		assert_non_null(strstr(out, odd[i].says));
	}
}

/* The tables for people, with the numbers of the book. */
static void test_tables(void **state)
{
	char out[8192];
	int status;

	(void)state;
	run(out, sizeof(out), &status,
	    "./dateline arbitrate "
	    "'%s/conf/examples/arbitrate-figure-25-10.yaml'",
	    source_dir());
	assert_int_equal(status, 0);
	assert_non_null(strstr(out, "     5  data   7  high       2   4096     "
				    "126    -1024  counter below 0\n"));
	assert_non_null(strstr(out, "VL 6: 4 left\n"));
	run(out, sizeof(out), &status,
	    "./dateline credits "
	    "'%s/conf/examples/credits-full.yaml'",
	    source_dir());
	assert_int_equal(status, 0);
	assert_non_null(strstr(out, "send 1: refused            3072  3073  "
				    "3072     -1  3072       0  3072"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_25_10), cmocka_unit_test(test_low_turn),
		cmocka_unit_test(test_priorities),   cmocka_unit_test(test_receiver),
		cmocka_unit_test(test_full),	     cmocka_unit_test(test_rollover),
		cmocka_unit_test(test_chunks),	     cmocka_unit_test(test_loss),
		cmocka_unit_test(test_due),	     cmocka_unit_test(test_chain),
		cmocka_unit_test(test_defaults),     cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_queue_events), cmocka_unit_test(test_options),
		cmocka_unit_test(test_change),	     cmocka_unit_test(test_credits_format),
		cmocka_unit_test(test_bad_files),    cmocka_unit_test(test_usage),
		cmocka_unit_test(test_warnings),     cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests_name("arbitrate and credits", tests, NULL, NULL);
}

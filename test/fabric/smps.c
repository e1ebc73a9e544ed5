/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Between OpenSM and the simulator: counts SMPs, and makes parts of the fabric
 * sick.  Preloaded before libumad2sim; the environment says what to do:
 *
 * SMPS_LOG=FILE	append "method attribute modifier time" of each SMP sent, in
 *			hexadecimal, and the time in seconds.
 * SMPS_RECORD=FILE	append "set TRANSACTION GUID attribute modifier data" when a
 *			forwarding table, a multicast table, an SL-to-VL map or a
 *			port's state is set, and "done TRANSACTION" when the answer
 *			comes.
 * SMPS_ALL=FILE	append "method GUID attribute modifier data" of each SMP sent,
 *			as test/sim writes it with --record: the node that it is for,
 *			but for NodeInfo, and data that are set.
 * SMPS_SICK=FILE	node GUIDs, in hexadecimal, of switches that answer for
 *			themselves and for port 0, but not PortInfo of their
 *			other ports.  The file may change at any time.
 * SMPS_SILENT=FILE	node GUIDs of nodes that do not answer NodeInfo.
 * SMPS_PLAIN=FILE	node GUIDs of switches that say that they have no SL to
 *			VL maps.
 * SMPS_SPEED=N		LinkSpeedExtActive of all ports, such as 8 for NDR.
 * SMPS_LOSS=FILE	the per cent of the answers that get lost, by SMPS_SEED.
 *			The file may change at any time.
 * SMPS_MUTE=RANGE	"ATTRIBUTE FROM TO": answers of this attribute get lost, from
 *			the number FROM (0) up to, not including, TO.
 * SMPS_LIES=FILE	lines "GUID ATTRIBUTE MODIFIER OFFSET BYTES [FROM [TO]]", all
 *			in hexadecimal: what the node with that GUID answers for
 *			this attribute and modifier ("-": any), in its data from
 *			this offset on; its answers FROM (0) up to, not
 *			including, TO.  The file may change at any time.
 * SMPS_CC=DIR		nodes answer for congestion control (IBA annex A10), which the
 *			simulator does not know: what is set is kept in files
 *			DIR/LID.ATTRIBUTE.MODIFIER, in hexadecimal, which may be
 *			changed at any time.  DIR/LID.status has a status to be
 *			answered, or -1: silence.  DIR/key has the CC_Key, without
 *			which nobody answers.
 * SMPS_STUCK=DIR	while there is a file DIR/stuck, no file in DIR gets to disk.
 *
 * What gets lost comes back with the status of a timeout, as the kernel
 * reports it after its retries.
 */
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/umad.h>

#define DR_CLASS 0x81 /* directed route */
#define LID_CLASS 0x01
#define SET 0x02
#define GET_RESP 0x81
#define SLVL 0x17
#define LFT 0x19
#define MFT 0x1B
#define DATA 64 /* offset of the data in an SMP, and their length */
#define NODE_INFO 0x11
#define PORT_INFO 0x15
#define PATH 128 /* offset of the initial path in a directed-route SMP */
#define MAX_PATHS 65536

/* Which node is at the end of which path: from answers to NodeInfo. */
struct place {
	uint8_t path[65]; /* hop count, then hops from the first on */
	uint64_t guid;
};

static struct place places[MAX_PATHS];
static unsigned int nplaces;

static uint16_t attribute(const uint8_t *mad)
{
	return mad[16] << 8 | mad[17];
}

static uint32_t modifier(const uint8_t *mad)
{
	uint32_t v;

	memcpy(&v, mad + 20, sizeof(v));
	return be32toh(v);
}

static bool is_smp(const uint8_t *mad)
{
	return mad[1] == DR_CLASS || mad[1] == LID_CLASS;
}

static void path_of(const uint8_t *mad, uint8_t path[65])
{
	memset(path, 0, 65);
	path[0] = mad[7];
	memcpy(path + 1, mad + PATH + 1, mad[7] < 64 ? mad[7] : 63);
}

static struct place *find_place(const uint8_t *mad)
{
	uint8_t path[65];
	unsigned int i;

	path_of(mad, path);
	for (i = 0; i < nplaces; i++)
		if (!memcmp(places[i].path, path, sizeof(path)))
			return &places[i];
	return NULL;
}

static void learn(const uint8_t *mad)
{
	struct place *p = find_place(mad);

	if (!p && nplaces < MAX_PATHS) {
		p = &places[nplaces++];
		path_of(mad, p->path);
	}
	if (p) {
		memcpy(&p->guid, mad + 64 + 12, sizeof(p->guid));
		p->guid = be64toh(p->guid);
	}
}

/* Whom a MAD comes from; 0: unknown.  NodeInfo says so itself. */
static uint64_t sender(const uint8_t *mad)
{
	const struct place *p = find_place(mad);
	uint64_t guid = p ? p->guid : 0;

	if (attribute(mad) != NODE_INFO)
		return guid;
	memcpy(&guid, mad + 64 + 12, sizeof(guid));
	return be64toh(guid);
}

/* Is the node that a MAD comes from listed in the file of a variable? */
static bool is_listed(const uint8_t *mad, const char *variable)
{
	const char *path = getenv(variable);
	unsigned long long guid;
	bool listed = false;
	FILE *from = path ? fopen(path, "r") : NULL;

	while (from && fscanf(from, "%llx", &guid) == 1)
		listed |= guid == sender(mad);
	if (from)
		fclose(from);
	return listed;
}

static bool is_lost(void)
{
	static uint64_t state;
	const char *path = getenv("SMPS_LOSS"), *seed = getenv("SMPS_SEED");
	FILE *from = path ? fopen(path, "r") : NULL;
	unsigned int percent = 0;

	if (!from)
		return false;
	if (fscanf(from, "%u", &percent) != 1)
		percent = 0;
	fclose(from);
	if (!state)
		state = 2 * strtoull(seed ? seed : "0", NULL, 10) + 1;
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % 100 < percent;
}

static bool is_muted(const uint8_t *mad)
{
	static unsigned int answers;
	const char *range = getenv("SMPS_MUTE");
	unsigned int attr, from, to, n;

	if (!range || sscanf(range, "%x %u %u", &attr, &from, &to) != 3 || attr != attribute(mad))
		return false;
	n = answers++;
	return n >= from && n < to;
}

static unsigned int digit(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

#define MAX_LIES 64

/* The n-th line of the table, if it is about this answer. */
static void tell_lie(uint8_t *mad, const struct place *p, const char *line, unsigned int n)
{
	static unsigned int told[MAX_LIES];
	unsigned int attr, offset, from = 0, to = ~0u, turn;
	char mod[16], bytes[129];
	unsigned long long guid;
	int fields = sscanf(line, "%llx %x %15s %x %128s %x %x", &guid, &attr, mod, &offset, bytes,
			    &from, &to);

	if (fields < 5 || n >= MAX_LIES || guid != p->guid || attr != attribute(mad) ||
	    (strcmp(mod, "-") && strtoul(mod, NULL, 16) != modifier(mad)))
		return;
	turn = told[n]++;
	for (unsigned int i = 0; bytes[2 * i] && turn >= from && turn < to && offset + i < 64; i++)
		mad[64 + offset + i] = digit(bytes[2 * i]) << 4 | digit(bytes[2 * i + 1]);
}

static void tell_lies(uint8_t *mad)
{
	const char *path = getenv("SMPS_LIES");
	const struct place *p = path ? find_place(mad) : NULL;
	FILE *from = p ? fopen(path, "r") : NULL;
	char line[300];

	for (unsigned int n = 0; from && fgets(line, sizeof(line), from); n++)
		tell_lie(mad, p, line, n);
	if (from)
		fclose(from);
}

/* Is a table or a port set, or was it? */
static bool is_recorded(const uint8_t *mad, unsigned int method)
{
	return mad[1] == DR_CLASS && mad[3] == method &&
	       (attribute(mad) == LFT || attribute(mad) == MFT || attribute(mad) == SLVL ||
		attribute(mad) == PORT_INFO);
}

/* The half of it that the sender has chosen. */
static uint32_t transaction(const uint8_t *mad)
{
	uint32_t v;

	memcpy(&v, mad + 12, sizeof(v));
	return be32toh(v);
}

static void print_data(const uint8_t *mad, char text[2 * DATA + 1])
{
	for (unsigned int i = 0; i < DATA; i++)
		snprintf(text + 2 * i, 3, "%02x", mad[3] == SET ? mad[DATA + i] : 0);
}

static void record_all(FILE *to, const uint8_t *mad)
{
	const struct place *p = attribute(mad) == NODE_INFO ? NULL : find_place(mad);
	char data[2 * DATA + 1];

	print_data(mad, data);
	fprintf(to, "%x %llx %x %x %s\n", mad[3], p ? (unsigned long long)p->guid : 0,
		attribute(mad), modifier(mad), data);
}

/* What a switch is told: the checker of transitions reads it. */
static void record(FILE *to, const uint8_t *mad)
{
	const struct place *p = find_place(mad);
	char data[2 * DATA + 1];

	print_data(mad, data);
	/* One call: answers are written by another thread. */
	fprintf(to, "set %x %llx %x %x %s\n", transaction(mad), p ? (unsigned long long)p->guid : 0,
		attribute(mad), modifier(mad), data);
}

/* ---- congestion control -------------------------------------------------- */

#define CC_CLASS 0x21
#define CC_KEY 24 /* offsets in a datagram */
#define CC_DATA 64
#define CC_SIZE 192
#define SWITCH_SETTING 0x14
#define ADAPTER_SETTING 0x16
#define CARRIER 0xCC /* in the transaction ID of what carries an answer */
#define CARRIED 65536

static int lid_agent; /* for SMPs that are routed by LID */
static struct {
	uint8_t mad[256];
	int agent;
} carried[CARRIED];

int umad_register(int portid, int class, int version, uint8_t rmpp, long mask[16 / sizeof(long)])
{
	int (*next)(int, int, int, uint8_t, long *) =
		(int (*)(int, int, int, uint8_t, long *))dlsym(RTLD_NEXT, "umad_register");
	int agent = next(portid, class, version, rmpp, mask);

	if (class == LID_CLASS)
		lid_agent = agent;
	return agent;
}

static FILE *open_kept(const char *name, const char *mode)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", getenv("SMPS_CC"), name);
	return fopen(path, mode);
}

/* A number in a file; 0: there is none. */
static long long kept_number(const char *name)
{
	FILE *from = open_kept(name, "r");
	long long n = 0;

	if (from && fscanf(from, "%lli", &n) != 1)
		n = 0;
	if (from)
		fclose(from);
	return n;
}

/* Bytes of an attribute are set where a bit of its control map says so. */
static void set_kept(uint8_t *kept, const uint8_t *data, unsigned int attr)
{
	static const uint8_t ends[] = { 4, 36, 68, 70, 74, 76 }; /* of a switch's components */
	unsigned int map = attr == SWITCH_SETTING ? data[3] : data[2] << 8 | data[3];

	if (attr != SWITCH_SETTING && attr != ADAPTER_SETTING)
		memcpy(kept, data, CC_SIZE);
	for (unsigned int i = 0; i < 5 && attr == SWITCH_SETTING; i++)
		if (map >> i & 1)
			memcpy(kept + ends[i], data + ends[i], ends[i + 1] - ends[i]);
	for (unsigned int i = 0; i < 16 && attr == ADAPTER_SETTING; i++)
		if (map >> i & 1)
			memcpy(kept + 4 + 8 * i, data + 4 + 8 * i, 8);
}

/* Answer in place.  False: there is no answer. */
static bool answer_cc(uint8_t *mad, unsigned int lid)
{
	uint8_t kept[CC_SIZE] = { 0 };
	char name[64];
	uint64_t key;
	long status;
	FILE *file;

	memcpy(&key, mad + CC_KEY, sizeof(key));
	snprintf(name, sizeof(name), "%u.status", lid);
	status = kept_number(name);
	if (be64toh(key) != (uint64_t)kept_number("key") || status < 0)
		return false;
	snprintf(name, sizeof(name), "%u.%x.%u", lid, attribute(mad), modifier(mad));
	file = open_kept(name, "r");
	for (unsigned int i = 0; file && i < CC_SIZE; i++)
		if (fscanf(file, "%2hhx", &kept[i]) != 1)
			break;
	if (file)
		fclose(file);
	if (mad[3] == SET && !status) {
		set_kept(kept, mad + CC_DATA, attribute(mad));
		file = open_kept(name, "w");
		for (unsigned int i = 0; file && i < CC_SIZE; i++)
			fprintf(file, "%02x", kept[i]);
		if (file)
			fclose(file);
	}
	memcpy(mad + CC_DATA, kept, CC_SIZE);
	mad[3] = GET_RESP;
	mad[4] = status >> 8;
	mad[5] = status;
	return true;
}

/* The answer travels with that of the node's to an SMP, which the simulator knows. */
static bool carry_answer(struct ib_user_mad *umad, int agent)
{
	static unsigned int count;
	unsigned int n = __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST) % CARRIED;
	uint8_t *mad = umad_get_mad(umad);
	uint32_t id = htobe32((uint32_t)CARRIER << 24 | n);

	memcpy(carried[n].mad, mad, sizeof(carried[n].mad));
	carried[n].agent = agent;
	if (!answer_cc(carried[n].mad, be16toh(umad->addr.lid)))
		return false;
	memset(mad, 0, sizeof(carried[n].mad));
	mad[0] = mad[1] = mad[2] = mad[3] = 1; /* versions, LID_CLASS, Get */
	memcpy(mad + 12, &id, sizeof(id));
	mad[17] = NODE_INFO;
	umad->addr.qpn = umad->addr.qkey = 0;
	return true;
}

/* ---- as libibumad's ------------------------------------------------------ */

/* The file of a variable, for lines; NULL without it. */
static FILE *open_lines(const char *variable)
{
	const char *path = getenv(variable);
	FILE *to = path ? fopen(path, "a") : NULL;

	if (to)
		setvbuf(to, NULL, _IOLBF, 0);
	return to;
}

static FILE *sets; /* SMPS_RECORD */

int fsync(int fd)
{
	const char *dir = getenv("SMPS_STUCK");
	int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
	char link[64], path[4096] = "", stuck[4096];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (!dir || readlink(link, path, sizeof(path) - 1) < 0 || strncmp(path, dir, strlen(dir)))
		return next(fd);
	snprintf(stuck, sizeof(stuck), "%s/stuck", dir);
	while (!access(stuck, F_OK))
		usleep(10000);
	return next(fd);
}

int umad_send(int portid, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	static int (*next)(int, int, void *, int, int, int);
	static FILE *to, *all;
	const uint8_t *mad = umad_get_mad(umad);
	struct timespec now;

	if (!next) {
		next = dlsym(RTLD_NEXT, "umad_send");
		to = open_lines("SMPS_LOG");
		sets = open_lines("SMPS_RECORD");
		all = open_lines("SMPS_ALL");
	}
	if (getenv("SMPS_CC") && mad[1] == CC_CLASS) {
		uint8_t copy[512];

		memcpy(copy, umad, umad_size() + 256);
		if (!carry_answer((struct ib_user_mad *)copy, agentid))
			return 0;
		return next(portid, lid_agent, copy, length, timeout_ms, retries);
	}
	if (to && is_smp(mad)) {
		clock_gettime(CLOCK_REALTIME, &now);
		fprintf(to, "%x %x %x %.6f\n", mad[3], attribute(mad), modifier(mad),
			now.tv_sec + now.tv_nsec / 1e9);
	}
	if (all && is_smp(mad))
		record_all(all, mad);
	if (sets && is_recorded(mad, SET))
		record(sets, mad);
	return next(portid, agentid, umad, length, timeout_ms, retries);
}

int umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
	static int (*next)(int, void *, int *, int);
	const char *speed = getenv("SMPS_SPEED");
	uint8_t *mad;
	int agent;

	if (!next)
		next = dlsym(RTLD_NEXT, "umad_recv");
	agent = next(portid, umad, length, timeout_ms);
	mad = umad_get_mad(umad);
	if (agent >= 0 && mad[1] == LID_CLASS && mad[12] == CARRIER && getenv("SMPS_CC")) {
		unsigned int n = transaction(mad) % CARRIED;

		memcpy(mad, carried[n].mad, sizeof(carried[n].mad));
		((struct ib_user_mad *)umad)->agent_id = carried[n].agent;
		return carried[n].agent;
	}
	if (agent < 0 || umad_status(umad) || mad[1] != DR_CLASS || mad[3] != GET_RESP)
		return agent;
	/* The highest bit may ask for extended speeds. */
	if ((attribute(mad) == PORT_INFO && modifier(mad) & 0xFF && is_listed(mad, "SMPS_SICK")) ||
	    (attribute(mad) == NODE_INFO && is_listed(mad, "SMPS_SILENT")) || is_lost() ||
	    is_muted(mad))
		((struct ib_user_mad *)umad)->status = ETIMEDOUT;
	else if (attribute(mad) == NODE_INFO)
		learn(mad);
	else if (attribute(mad) == PORT_INFO && is_listed(mad, "SMPS_PLAIN"))
		mad[64 + 23] &= ~0x40; /* of the capability mask */
	else if (attribute(mad) == PORT_INFO && speed)
		mad[64 + 62] = (mad[64 + 62] & 0xF) | strtoul(speed, NULL, 0) << 4;
	if (!umad_status(umad)) {
		tell_lies(mad);
		if (sets && is_recorded(mad, GET_RESP))
			fprintf(sets, "done %x\n", transaction(mad));
	}
	return agent;
}

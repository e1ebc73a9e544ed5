/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Clocks, sleeps, signals, logs, and whatever else could differ from one run to
 * the next, as the subnet manager sees them.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "sm.h"

#define LOOK_NS 100 /* that a look at the clock takes */
#define MOST_SIGNALS 64
#define LONGEST_LINE 65536
#define PROCESS 4711

static void (*handlers[MOST_SIGNALS])(int);

/* These come from <bits/...> headers for programs that are compiled with checks. */
int __fprintf_chk(FILE *f, int flag, const char *format, ...);
void __syslog_chk(int priority, int flag, const char *format, ...);

/* ---- clocks ------------------------------------------------------------------- */

static uint64_t look(void)
{
	return sm_share->now += LOOK_NS;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	uint64_t now = look();

	(void)clock;
	t->tv_sec = (time_t)(now / SIM_SECOND);
	t->tv_nsec = (long)(now % SIM_SECOND);
	return 0;
}

int gettimeofday(struct timeval *t, void *zone)
{
	uint64_t now = look();

	(void)zone;
	t->tv_sec = (time_t)(now / SIM_SECOND);
	t->tv_usec = (suseconds_t)(now % SIM_SECOND / SIM_US);
	return 0;
}

time_t time(time_t *t)
{
	time_t now = (time_t)(sm_share->now / SIM_SECOND);

	if (t)
		*t = now;
	return now;
}

static void sleep_for(uint64_t ns)
{
	sm_block(NULL, sm_share->now + ns, "sleep");
}

int usleep(useconds_t us)
{
	sleep_for(us * SIM_US);
	return 0;
}

unsigned int sleep(unsigned int seconds)
{
	sleep_for(seconds * SIM_SECOND);
	return 0;
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)left;
	sleep_for((uint64_t)t->tv_sec * SIM_SECOND + (uint64_t)t->tv_nsec);
	return 0;
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	struct timespec none = { 0, 0 };
	int r = n ? (int)syscall(SYS_ppoll, fds, n, &none, NULL, 0) : 0;

	if (!r && ms)
		sleep_for(ms < 0 ? SIM_SECOND : (uint64_t)ms * SIM_MS);
	return r;
}

/* ---- the machine -------------------------------------------------------------- */

int get_nprocs(void)
{
	return (int)sm_share->processors;
}

pid_t getpid(void)
{
	return PROCESS;
}

ssize_t getrandom(void *to, size_t n, unsigned int flags)
{
	(void)flags;
	for (size_t i = 0; i < n; i++)
		((uint8_t *)to)[i] = (uint8_t)sim_random(&sm_random_state, 256);
	return (ssize_t)n;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	static int (*real)(int, const struct sigaction *, struct sigaction *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sigaction");
	if (action && number < MOST_SIGNALS)
		handlers[number] = action->sa_handler;
	return real(number, action, old);
}

void sm_handle_signal(int number)
{
	if (number < MOST_SIGNALS && handlers[number])
		handlers[number](number);
	sm_interrupt_main();
}

/* ---- logs --------------------------------------------------------------------- */

/* Lines that the simulator reads. */
static bool is_of_interest(const char *line)
{
	return strstr(line, "dateline: ") || strstr(line, "SUBNET UP") ||
	       strstr(line, "ENTERING") || strstr(line, "ERR ");
}

static void show_line(const char *line)
{
	size_t len = strlen(line) + 1;

	if (!is_of_interest(line))
		return;
	if (len > SIM_LOG)
		return;
	if (sm_share->log_used + len > SIM_LOG) {
		sm_share->ready = true;
		sm_pass_turn();
	}
	memcpy(sm_share->log + sm_share->log_used, line, len);
	sm_share->log_used += len;
}

/* OpenSM's log, whether it is compiled with checks or without. */
static int write_log(FILE *f, const char *format, va_list args)
{
	static char line[LONGEST_LINE];
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(line, sizeof(line), format, args);
	/* A line of the log has its thread and its level in front; other files are written, too. */
	if (!strstr(line, "] 0x") || sm_share->keep_log)
		n = vfprintf(f, format, again);
	va_end(again);
	show_line(line);
	return n;
}

int __fprintf_chk(FILE *f, int flag, const char *format, ...)
{
	va_list args;
	int n;

	(void)flag;
	va_start(args, format);
	n = write_log(f, format, args);
	va_end(args);
	return n;
}

int fprintf(FILE *f, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = write_log(f, format, args);
	va_end(args);
	return n;
}

/* The system's log has nothing that OpenSM's lacks. */
void __syslog_chk(int priority, int flag, const char *format, ...)
{
	(void)priority, (void)flag, (void)format;
}

void syslog(int priority, const char *format, ...)
{
	(void)priority, (void)format;
}

void openlog(const char *name, int option, int facility)
{
	(void)name, (void)option, (void)facility;
}

void closelog(void)
{
}

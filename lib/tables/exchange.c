/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From the files of one snapshot to those of the next.
 *
 * Problem.  A dozen files cannot be renamed at once, and whoever is killed between
 * two renames must leave the old snapshot or the new one.  The directory may
 * hold other files, and cannot be exchanged as a whole.
 *
 * Method.  Once all new files are written, each gets a name to wait under, made
 * of its checksum and its own name.  Then one rename puts the new manifest in
 * place, and from there on the snapshot is the new one: for each file that the
 * manifest lists, readers take the one that waits, if there is any, and as long
 * as one waits, no file that is not listed counts.  Last, files of the old
 * snapshot that the new one does not have are removed, and each file that waits
 * gets its own name.
 *
 * Who writes the next snapshot completes that first, if somebody was killed in
 * the middle; files that still wait then are listed by no manifest, and go.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dateline/base.h"
#include "tables/internal.h"

#define WAITS ".dateline-"
#define DIGITS 16

void dl_snapshot_waiting_name(char name[DL_SNAPSHOT_NAME_MAX], const struct dl_snapshot_file *f)
{
	snprintf(name, DL_SNAPSHOT_NAME_MAX, WAITS "%016" PRIx64 "-%s", f->checksum, f->name);
}

static bool is_waiting_name(const char *name)
{
	const char *digits = name + sizeof(WAITS) - 1;

	return !strncmp(name, WAITS, sizeof(WAITS) - 1) &&
	       strspn(digits, "0123456789abcdef") == DIGITS && digits[DIGITS] == '-';
}

/* Path SLs come last, for whoever waits for them. */
const char *dl_snapshot_own_name(unsigned int i)
{
	static const char *const first[] = { DL_SNAPSHOT_NET, DL_SNAPSHOT_SUBNET };

	if (i < 2)
		return first[i];
	i -= 2;
	for (unsigned int n = 0; dl_snapshot_note_names[n]; n++)
		if (i-- == 0)
			return dl_snapshot_note_names[n];
	return i < DL_TABLES_NFILES ? dl_tables_file_names[i] : NULL;
}

bool dl_snapshot_is_own_name(const char *name)
{
	const char *own;

	for (unsigned int i = 0; (own = dl_snapshot_own_name(i)); i++)
		if (!strcmp(own, name))
			return true;
	return false;
}

const struct dl_snapshot_file *dl_snapshot_listed(const struct dl_snapshot_manifest *m,
						  const char *name)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (!strcmp(m->files[i].name, name))
			return &m->files[i];
	return NULL;
}

/* No manifest makes it touch a file that is not a snapshot's by its name. */
int dl_snapshot_complete(int dir, const struct dl_snapshot_manifest *m)
{
	char waiting[DL_SNAPSHOT_NAME_MAX];
	const char *name;
	int err = 0;

	for (unsigned int i = 0; !err && (name = dl_snapshot_own_name(i)); i++)
		if (!dl_snapshot_listed(m, name) && unlinkat(dir, name, 0) && errno != ENOENT)
			err = -errno;
	for (unsigned int i = 0; !err && (name = dl_snapshot_own_name(i)); i++) {
		const struct dl_snapshot_file *f = dl_snapshot_listed(m, name);

		if (!f)
			continue;
		dl_snapshot_waiting_name(waiting, f);
		if (renameat(dir, waiting, dir, name) && errno != ENOENT)
			err = -errno;
	}
	fsync(dir); /* it is complete with or without it */
	return err;
}

bool dl_snapshot_is_incomplete(int dir, const struct dl_snapshot_manifest *m)
{
	char waiting[DL_SNAPSHOT_NAME_MAX];
	bool any = false;

	for (uint32_t i = 0; i < m->n && !any; i++) {
		dl_snapshot_waiting_name(waiting, &m->files[i]);
		any = !faccessat(dir, waiting, F_OK, AT_SYMLINK_NOFOLLOW);
	}
	return any;
}

void dl_snapshot_remove_waiting(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (list && (e = readdir(list)))
		if (is_waiting_name(e->d_name))
			unlinkat(dir, e->d_name, 0);
	if (list)
		closedir(list);
	else if (fd >= 0)
		close(fd);
}

/* A manifest that says nothing, or nothing right, has no files that wait. */
int dl_snapshot_recover(int dir)
{
	struct dl_snapshot_manifest m = { .n = 0 };
	int fd = openat(dir, DL_SNAPSHOT_MANIFEST, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	FILE *from = fd < 0 ? NULL : fdopen(fd, "r");
	int err = 0;

	if (from) {
		err = dl_snapshot_read_manifest(from, DL_SNAPSHOT_MANIFEST, NULL, &m);
		fclose(from);
	} else if (errno != ENOENT && errno != ELOOP && errno != EACCES) {
		err = -errno;
	}
	if (!from && fd >= 0)
		close(fd);
	if (!err && dl_snapshot_is_incomplete(dir, &m))
		err = dl_snapshot_complete(dir, &m);
	free(m.files);
	if (err == -EINVAL)
		err = 0;
	if (!err)
		dl_snapshot_remove_waiting(dir);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The files of the coordinate cache.  Each is an ordinary torus-2QoS.conf that
 * ends in a checksum; beside it, as FILE.previous, are the coordinates that it
 * has replaced, with a note whether they are others.
 */
#ifndef DL_CACHE_FILE_H
#define DL_CACHE_FILE_H

#include "dateline/torus.h"

/*
 * The coordinates that a directory has of this fabric: of the file that names
 * most of its switches.  NULL in *out: none.  What is empty, cut or altered is an
 * error in the log; FILE.previous takes its place if its coordinates are known to
 * be the same.  Returns 0, -ENOMEM, or -EUCLEAN, reported: they may be others,
 * or two files that name as many switches differ.
 */
int dl_cache_file_read(const char *dir, const struct dl_fabric *f, const struct dl_log *log,
		       struct dl_torus_config **out);

/*
 * Write a torus into `file`, which was read before, or (NULL) one that is named
 * by the lowest switch; what was whole there becomes FILE.previous.  `path` has
 * room for PATH_MAX bytes.  At each moment one of the two is whole.  0 or a
 * negative errno.
 */
int dl_cache_file_write(const char *dir, const struct dl_torus_config *file,
			const struct dl_torus *t, char *path);

#endif

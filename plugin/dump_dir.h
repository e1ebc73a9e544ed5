/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Files that the plugin writes for people and for the dateline command. */
#ifndef DL_PLUGIN_DUMP_DIR_H
#define DL_PLUGIN_DUMP_DIR_H

struct dl_engine;
struct dl_sweep;
struct dl_writer;
struct osm_opensm;

/*
 * Have the snapshot in force written to dump_dir, if there is one and it is
 * new; and wait until all are.
 */
void dl_dump_dir_write(struct dl_engine *e);
void dl_dump_dir_end(struct dl_engine *e);

/* Write the switches' coordinates as dateline-torus.dump into a directory. */
void dl_coordinates_write(struct osm_opensm *osm, const struct dl_sweep *sweep, const char *dir);

#endif

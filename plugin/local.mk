# The routing engine that OpenSM loads.  What it calls of OpenSM is there once
# opensm has loaded it, so that it links nothing of its own but the C library.
execlib_PROGRAMS += plugin/libosmdateline.so
plugin_libosmdateline_so_SOURCES = \
	plugin/plugin.c plugin/opensm.h \
	plugin/options.c plugin/options.h \
	plugin/avoid.c plugin/avoid.h \
	plugin/coordinates.c plugin/coordinates.h \
	plugin/drain.c plugin/drain.h \
	plugin/engine.c plugin/engine.h \
	plugin/import.c plugin/import.h \
	plugin/log.c plugin/log.h \
	plugin/recall.c plugin/recall_held.c plugin/recall.h \
	plugin/marks.c plugin/marks.h \
	plugin/rivals.c plugin/rivals.h \
	plugin/mcast.c plugin/mcast.h \
	plugin/metrics.c plugin/metrics.h \
	plugin/metrics_text.c plugin/metrics_text.h \
	plugin/phases.c plugin/phases.h \
	plugin/phases_plan.c plugin/phases_plan.h \
	plugin/phases_look.c plugin/phases_look.h \
	plugin/phases_report.c plugin/phases_report.h \
	plugin/phases_write.c plugin/phases_write.h \
	plugin/states.c plugin/states.h \
	plugin/sweep.c plugin/sweep.h \
	plugin/maps.c plugin/maps.h \
	plugin/qos.c plugin/qos.h \
	plugin/dump_dir.c plugin/dump_dir.h
plugin_libosmdateline_so_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
plugin_libosmdateline_so_CFLAGS = $(AM_CFLAGS) -fPIC
plugin_libosmdateline_so_LDADD = libdlroute.a $(ZSTD_LIBS)
plugin_libosmdateline_so_LDFLAGS = $(AM_LDFLAGS) -shared -Wl,-soname,libosmdateline.so \
	-Wl,--version-script=$(srcdir)/plugin/plugin.map
EXTRA_plugin_libosmdateline_so_DEPENDENCIES = $(srcdir)/plugin/plugin.map
EXTRA_DIST += plugin/plugin.map

# The dateline command.  A subcommand has the file WORD.c, or a directory WORD if it
# takes more than two; common holds what several of them share.
bin_PROGRAMS += dateline
dateline_SOURCES = tools/main.c tools/commands.def \
	tools/credits.c \
	tools/discover.c \
	tools/gen.c \
	tools/snapshot.c \
	tools/transition.c tools/transition.h \
	tools/common/background.c tools/common/background.h \
	tools/common/cabling.c \
	tools/common/campaign.c tools/common/campaign.h \
	tools/common/csv.c \
	tools/common/document.c \
	tools/common/fail.c tools/common/fail.h \
	tools/common/find.c tools/common/find.h \
	tools/common/hosts.c tools/common/hosts.h \
	tools/common/input.c tools/common/input.h \
	tools/common/slow.c \
	tools/common/live.c \
	tools/common/steps.c tools/common/steps.h \
	tools/common/tool.c tools/common/tool.h \
	tools/common/tree_drawing.c \
	tools/arbitrate/arbitrate.c tools/arbitrate/arbitrate.h \
	tools/arbitrate/arbitrate_read.c \
	tools/bench/bench.c tools/bench/bench.h \
	tools/bench/bench_arbitrate.c \
	tools/bench/bench_emulate.c \
	tools/bench/bench_route.c \
	tools/bench/bench_throughput.c \
	tools/bench/bench_verify.c \
	tools/coords/coords.c tools/coords/coords.h \
	tools/coords/coords_order.c \
	tools/coords/coords_print.c \
	tools/coords/coords_slurm.c \
	tools/coords/coords_torus3d.c \
	tools/diff/diff.c tools/diff/diff.h \
	tools/diff/diff_fabric.c \
	tools/diff/diff_print.c \
	tools/diff/diff_tables.c \
	tools/emulate/emulate.c tools/emulate/emulate.h \
	tools/emulate/emulate_counters.c \
	tools/emulate/emulate_json.c \
	tools/emulate/emulate_program.c \
	tools/emulate/emulate_steps.c \
	tools/emulate/emulate_sweep.c \
	tools/emulate/emulate_text.c \
	tools/grow/grow.c tools/grow/grow.h \
	tools/grow/grow_plan.c \
	tools/grow/grow_steps.c \
	tools/hops/compact.c tools/hops/compact.h \
	tools/hops/hops.c \
	tools/path/path.c tools/path/path.h \
	tools/path/path_cables.c \
	tools/path/path_counters.c \
	tools/path/path_propose.c \
	tools/path/path_print.c \
	tools/path/path_walk.c \
	tools/report/report.c tools/report/report.h \
	tools/report/report_change.c \
	tools/report/report_emulation.c \
	tools/report/report_fabric.c \
	tools/report/report_html.c \
	tools/report/report_model.c \
	tools/report/report_moments.c \
	tools/report/report_tables.c \
	tools/route/route.c tools/route/route.h \
	tools/route/route_conf.c \
	tools/route/route_partitions.c \
	tools/verify/verify.c tools/verify/verify.h \
	tools/verify/verify_json.c \
	tools/verify/verify_text.c \
	tools/whatif/whatif.c tools/whatif/whatif.h \
	tools/whatif/whatif_draw.c \
	tools/whatif/whatif_named.c \
	tools/whatif/whatif_print.c \
	tools/whatif/whatif_transition.c \
	tools/whatif/whatif_worst.c
if MPI
dateline_SOURCES += tools/common/campaign_mpi.c
else
dateline_SOURCES += tools/common/campaign_alone.c
endif
dateline_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) \
	$(ZLIB_CFLAGS) $(MPI_CFLAGS)
dateline_LDADD = $(WHOLE_LIBRARY) $(LIVE_LIBS) $(READ_LIBS) $(JANSSON_LIBS) \
	$(ZLIB_LIBS) $(MPI_LIBS) -lm

# For tests: the command as `configure --with-mpi` makes it, where Open MPI is installed.
mpi/dateline: dateline tools/common/campaign_mpi.c
	@$(MKDIR_P) mpi
	$(AM_V_CCLD)! flags=`$(PKG_CONFIG) --cflags --libs ompi-c` || \
		$(CC) $(DEFS) $(AM_CPPFLAGS) $(dateline_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -o $@ \
		$(filter-out %campaign_alone.$(OBJEXT) %campaign_mpi.$(OBJEXT),$(dateline_OBJECTS)) \
		$(srcdir)/tools/common/campaign_mpi.c $(dateline_LDADD) $$flags
CLEANFILES += mpi/dateline

# The OpenSM that the plugin of this build fits.
tools/dateline-main.$(OBJEXT): tools/opensm_version.h
tools/opensm_version.h: Makefile
	$(AM_V_GEN)$(MKDIR_P) tools && { echo '#include <opensm/osm_version.h>'; \
		echo 'version OSM_VERSION'; } | $(CC) $(OPENSM_CFLAGS) -E -P - | \
		sed -n 's/^version /#define TOOL_OPENSM_VERSION /p' >$@
CLEANFILES += tools/opensm_version.h

# The page of `dateline report`: what a browser reads is put into the command
# byte by byte.
PAGE_PROGRAM = \
	tools/report/data.js \
	tools/report/picture.js \
	tools/report/draw.js \
	tools/report/charts.js \
	tools/report/panels.js \
	tools/report/failures.js \
	tools/report/emulation.js \
	tools/report/flows.js \
	tools/report/moments.js \
	tools/report/recording.js \
	tools/report/main.js
PAGE_FILES = tools/report/report.html tools/report/report.css \
	$(PAGE_PROGRAM)
EXTRA_DIST += tools/report/embed.sh $(PAGE_FILES)
nodist_dateline_SOURCES = tools/report/report_page.c
CLEANFILES += tools/report/report_page.c
tools/report/report_page.c: $(PAGE_FILES) tools/report/embed.sh
	$(AM_V_GEN)$(MKDIR_P) tools/report && cd $(srcdir) && \
		sh tools/report/embed.sh tools/report/report.html \
		tools/report/report.css $(PAGE_PROGRAM) \
		>$(abs_builddir)/$@.part && mv $(abs_builddir)/$@.part \
		$(abs_builddir)/$@

EXTRA_DIST += tools/bash-completion/dateline
if BASH_COMPLETION
bashcompletion_DATA = tools/bash-completion/dateline
endif
dist_zshcompletion_DATA = tools/zsh-completion/_dateline
dist_fishcompletion_DATA = tools/fish-completion/dateline.fish

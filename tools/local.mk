# The dateline command: one file a subcommand, listed in commands.def.
bin_PROGRAMS += dateline
dateline_SOURCES = \
	tools/arbitrate.c tools/arbitrate.h \
	tools/arbitrate_read.c \
	tools/beside.c tools/beside.h \
	tools/bench.c tools/bench.h \
	tools/bench_arbitrate.c \
	tools/bench_emulate.c \
	tools/bench_route.c \
	tools/bench_throughput.c \
	tools/bench_verify.c \
	tools/campaign.c tools/campaign.h \
	tools/compact.c tools/compact.h \
	tools/coords.c tools/coords.h \
	tools/coords_order.c \
	tools/coords_print.c \
	tools/coords_ranks.c \
	tools/coords_slurm.c \
	tools/coords_torus3d.c \
	tools/credits.c \
	tools/diff.c tools/diff.h \
	tools/diff_fabric.c \
	tools/diff_print.c \
	tools/diff_tables.c \
	tools/discover.c \
	tools/document.c \
	tools/emulate.c tools/emulate.h \
	tools/emulate_counters.c \
	tools/emulate_json.c \
	tools/emulate_sweep.c \
	tools/emulate_text.c \
	tools/find.c tools/find.h \
	tools/gen.c \
	tools/hops.c \
	tools/hosts.c tools/hosts.h \
	tools/input.c tools/input.h \
	tools/live.c \
	tools/main.c tools/commands.def \
	tools/opensm_conf.c \
	tools/path.c tools/path.h \
	tools/path_cables.c \
	tools/path_counters.c \
	tools/path_print.c \
	tools/path_walk.c \
	tools/report.c tools/report.h \
	tools/report_change.c \
	tools/report_emulation.c \
	tools/report_fabric.c \
	tools/report_html.c \
	tools/report_model.c \
	tools/report_tables.c \
	tools/route.c \
	tools/snapshot.c \
	tools/steps.c tools/steps.h \
	tools/tool.c tools/tool.h \
	tools/transition.c tools/transition.h \
	tools/tree.c \
	tools/verify.c tools/verify.h \
	tools/verify_json.c \
	tools/verify_text.c \
	tools/whatif.c tools/whatif.h \
	tools/whatif_draw.c \
	tools/whatif_print.c \
	tools/whatif_transition.c \
	tools/whatif_worst.c
if MPI
dateline_SOURCES += tools/campaign_mpi.c
else
dateline_SOURCES += tools/campaign_alone.c
endif
dateline_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tools
dateline_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) \
	$(ZLIB_CFLAGS) $(MPI_CFLAGS)
dateline_LDADD = libdateline.la $(JANSSON_LIBS) \
	$(ZLIB_LIBS) $(MPI_LIBS)

# The page of `dateline report`: what a browser reads is put into the command
# byte by byte.
PAGE_PROGRAM = \
	tools/report/data.js \
	tools/report/picture.js \
	tools/report/draw.js \
	tools/report/charts.js \
	tools/report/panels.js \
	tools/report/emulation.js \
	tools/report/flows.js \
	tools/report/main.js
PAGE_FILES = tools/report/report.html tools/report/report.css \
	$(PAGE_PROGRAM)
EXTRA_DIST += tools/report/embed.sh $(PAGE_FILES)
nodist_dateline_SOURCES = tools/report_page.c
CLEANFILES += tools/report_page.c
tools/report_page.c: $(PAGE_FILES) tools/report/embed.sh
	$(AM_V_GEN)$(MKDIR_P) tools && cd $(srcdir) && \
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

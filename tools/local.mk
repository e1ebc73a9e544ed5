# The dateline command: one file a subcommand, listed in commands.def.
bin_PROGRAMS += dateline
dateline_SOURCES = \
	tools/main.c tools/commands.def \
	tools/tool.c tools/tool.h
dateline_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tools
dateline_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
dateline_LDADD = libdlroute.la $(JANSSON_LIBS)
EXTRA_DIST += tools/load.c

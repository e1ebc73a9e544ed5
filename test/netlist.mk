# Fabrics, and the readers and writers of their files.
FABRIC_TEXT = test/unit/fabric_text.c test/unit/fabric_text.h \
	test/unit/random.h
UNIT_TESTS += test/unit/test_fabric test/unit/test_netlist

test_unit_test_fabric_SOURCES = test/unit/test_fabric.c $(FABRIC_TEXT)
test_unit_test_fabric_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_fabric_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

test_unit_test_netlist_SOURCES = test/unit/test_netlist.c $(FABRIC_TEXT)
test_unit_test_netlist_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_netlist_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/test_subnet_lst
test_unit_test_subnet_lst_SOURCES = test/unit/test_subnet_lst.c $(FABRIC_TEXT)
test_unit_test_subnet_lst_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_subnet_lst_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)
